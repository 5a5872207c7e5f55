"""What became of the questions to a rollout server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.histogram import LogHistogram

RESOLUTION_MS = 0.001


@dataclass
class Tally:
    """Counts of calls, and how long answers took.

    Attributes:
        requests: calls; fallbacks: those of them that the local physics answered.
        losses: how often the server was lost; refusals: of the server.
    """

    requests: int = 0
    fallbacks: int = 0
    losses: int = 0
    refusals: int = 0
    _trips: LogHistogram = field(default_factory=lambda: LogHistogram(RESOLUTION_MS))
    _added: LogHistogram = field(default_factory=lambda: LogHistogram(RESOLUTION_MS))

    def answered(self, elapsed_s: float, added_s: float) -> None:
        """Count an answer of the server's: its time, and what of it was not physics [s]."""
        self._trips.add(1e3 * elapsed_s)
        self._added.add(1e3 * added_s)

    def report(self) -> dict[str, Any]:
        """The counts; round_trip_ms, from question to answer, and added_ms: p50 and p99 [ms]."""
        trips, added = self._trips.quantiles(), self._added.quantiles()
        return {
            "requests": self.requests, "fallbacks": self.fallbacks, "losses": self.losses,
            "refusals": self.refusals,
            "round_trip_ms": {"p50": trips.p50, "p99": trips.p99},
            "added_ms": {"p50": added.p50, "p99": added.p99},
        }  # fmt: skip
