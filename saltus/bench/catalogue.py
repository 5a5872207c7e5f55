"""The benchmarks of ``saltus bench``, and what one returns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# What each measures. The module of its name here has a `run` that returns a `BenchResult`.
BENCHMARKS = {
    "planner": "time of one HiLQR iteration and of one iteration of Crocoddyl's FDDP",
    "tick": "time of one tick of tracker and bridge, by stage",
    "estimators": "errors and times of every filter on the same sensor readings",
    "hybrid": "simulation of a bouncing ball, compared with other tools",
    "rollouts": "time of a line search on every available rollout backend",
}


class BenchResult(NamedTuple):
    """Rows with one measurement each, and the ratio that the benchmark is about.

    Attributes:
        rows: plain mappings with the same keys.
        ratio: ours over the peer's (or over the bound's); None where there is no peer.
        note: for people, such as how to install a missing peer.
        table: the rows as a person reads them; as they are where empty.
        extra: further keys of the JSON object.
    """

    rows: list[dict[str, Any]]
    ratio: float | None
    note: str = ""
    table: Sequence[dict[str, Any]] = ()
    extra: Mapping[str, Any] = {}
