"""The benchmarks of ``saltus bench``: where each is, and what it measures."""

from typing import NamedTuple


class Bench(NamedTuple):
    """A benchmark of the command line.

    Attributes:
        module: where it is.
        description: what it measures, in a few words.
        function: of the module; takes nothing and returns a `BenchResult`.
    """

    module: str
    description: str
    function: str = "run"


BENCHMARKS = {
    "planner": Bench(
        "saltus.bench.planner.bench",
        "time of one HiLQR iteration and of one iteration of Crocoddyl's FDDP",
    ),
    "tick": Bench("saltus.bench.tick", "time of one tick of tracker and bridge, by stage"),
    "estimators": Bench(
        "saltus.bench.estimators.bench",
        "errors and times of every filter on the same sensor readings",
    ),
    "hybrid": Bench(
        "saltus.bench.hybrid.bench", "simulation of a bouncing ball, compared with other tools"
    ),
    "watchdog": Bench(
        "saltus.bench.watchdog.bench",
        "time from a tracker that hangs, dies or is stopped to damping on the wire",
    ),
    "a1": Bench("saltus.bench.a1", "latency from a state of the emulated A1 to its command"),
    "recording": Bench(
        "saltus.bench.recording", "size of a recorded run, and processor time of the recorder"
    ),
    "rollouts": Bench(
        "saltus.bench.rollouts.bench", "time of a line search on every available rollout backend"
    ),
}
