"""Which topics are alive, late or silent, judged by the topic table."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from runtime.topics import TOPICS, Topic

SMOOTHING = 0.05  # weight of the newest interval in the frequency estimate


@dataclass(frozen=True)
class TopicFreshness:
    """State of one topic, silent before its first message; age of the newest [s], rate [Hz]."""

    state: Literal["silent", "alive", "late"] = "silent"
    age_s: float = float("inf")
    frequency_hz: float = 0.0
    received: int = 0


@dataclass
class _Arrivals:
    last: float = 0.0
    interval: float = 0.0
    received: int = 0


class Freshness:
    """Watches arrival times; a topic is late once its newest message is older than its maximum."""

    def __init__(self, topics: Iterable[Topic[Any]] = TOPICS) -> None:
        self._topics = {topic.name: topic for topic in topics}
        self._arrivals = {name: _Arrivals() for name in self._topics}

    def mark(self, topic: Topic[Any], now: float) -> None:
        """A message of `topic` arrived at `now` [s]."""
        arrivals = self._arrivals[topic.name]
        interval = now - arrivals.last
        if arrivals.received == 1:
            arrivals.interval = interval
        elif arrivals.received > 1:
            arrivals.interval += SMOOTHING * (interval - arrivals.interval)
        arrivals.last = now
        arrivals.received += 1

    def of(self, topic: Topic[Any], now: float) -> TopicFreshness:
        """The state of `topic` at `now` [s]."""
        arrivals = self._arrivals[topic.name]
        if arrivals.received == 0:
            return TopicFreshness()
        age = now - arrivals.last
        frequency = 1.0 / arrivals.interval if arrivals.interval > 0.0 else 0.0
        state = "alive" if age <= topic.max_age_s else "late"
        return TopicFreshness(state, age, frequency, arrivals.received)

    def all(self, now: float) -> dict[str, TopicFreshness]:
        """The state of every topic at `now` [s], by name."""
        return {name: self.of(topic, now) for name, topic in self._topics.items()}
