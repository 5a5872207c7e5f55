"""Pairs replayed messages with those recorded, whichever comes first, and counts differences."""

from __future__ import annotations

from typing import Any, NamedTuple

from runtime.checked import Message
from runtime.messages import Plan
from runtime.topics import MOTOR_COMMAND, PLAN, STATE_ESTIMATE, Topic
from saltus.configuration.recording import RecordingOptions
from saltus.recording.plans import PlanThinner, Share
from saltus.replay.difference import Difference, Tally

COMPARED: tuple[Topic[Any], ...] = (STATE_ESTIMATE, PLAN, MOTOR_COMMAND)  # as a tick makes them
# A plan's number counts all plans of a solve, of which fewer may have been sent in real time.
COUNTED = {PLAN.name: ("id",)}
Key = tuple[int, ...]  # which message of its topic


class _Recorded(NamedTuple):
    message: Any
    share: Share  # of a plan that was recorded


class Comparison:
    """What was recorded beside what is replayed.

    Attributes:
        tallies: by name of the topic.
    """

    def __init__(self, options: RecordingOptions, lock_step: bool) -> None:
        """`options` say what was recorded of plans; in `lock_step` every message is expected."""
        self._thinner, self._lock_step = PlanThinner(options), lock_step
        ignored = {} if lock_step else COUNTED
        self.tallies = {t.name: Tally(t, ignored.get(t.name, ())) for t in COMPARED}
        self._recorded: dict[str, dict[Key, _Recorded]] = {t.name: {} for t in COMPARED}
        self._replayed: dict[str, dict[Key, Message]] = {t.name: {} for t in COMPARED}

    def take_recorded(
        self, topic: Topic[Any], key: Key, message: Message, log_time_ns: int
    ) -> None:
        """Take the next recorded message of a topic; plans in order, for few are whole."""
        share = self._thinner.share(log_time_ns) if topic is PLAN else "gains"
        recorded = _Recorded(message, share)
        replayed = self._replayed[topic.name].pop(key, None)
        if replayed is None:
            self._recorded[topic.name][key] = recorded
        else:
            self._compare(topic, recorded, replayed)

    def take_replayed(self, topic: Topic[Any], key: Key, message: Message) -> None:
        """Take the next replayed message of a topic."""
        recorded = self._recorded[topic.name].pop(key, None)
        if recorded is None:
            self._replayed[topic.name][key] = message
        else:
            self._compare(topic, recorded, message)

    def close(self, before: int | None = None) -> None:
        """Count what has no counterpart; nothing from tick `before` on, where it is given."""
        for name, tally in self.tallies.items():
            for recorded in self._recorded[name].values():
                if before is None or recorded.message.tick < before:
                    tally.miss(recorded.message, self._lock_step)
            tally.only_replayed = len(self._replayed[name])

    @property
    def identical(self) -> bool:
        """Whether all that was recorded came out again, to the last bit."""
        return all(tally.identical for tally in self.tallies.values())

    @property
    def first(self) -> Difference | None:
        """The first difference by tick, and within a tick in the order of the data flow."""
        found = [tally.first for tally in self.tallies.values() if tally.first is not None]
        return min(found, key=lambda difference: difference.tick, default=None)

    def _compare(self, topic: Topic[Any], recorded: _Recorded, replayed: Message) -> None:
        if isinstance(replayed, Plan):
            replayed = self._thinner.keep(replayed, recorded.share)
        self.tallies[topic.name].add(recorded.message, replayed)
