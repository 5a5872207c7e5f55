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
    "limits": Bench("saltus.bench.limits", "time of a solve of HiLQR MPC with limits and without"),
    "tick": Bench("saltus.bench.tick", "time of one tick of tracker and bridge, by stage"),
    "jitter": Bench(
        "saltus.bench.jitter.bench",
        "wake-ups and ticks of the tracker, beside a loop in C with the same system calls",
    ),
    "tracker": Bench(
        "saltus.bench.one_khz", "time of one tracker command, compared with 1 ms", "run_tracker"
    ),
    "estimator": Bench(
        "saltus.bench.one_khz", "time of one estimator update, compared with 1 ms", "run_estimator"
    ),
    "estimators": Bench(
        "saltus.bench.estimators.bench",
        "errors and times of every filter on the same sensor readings",
    ),
    "hybrid": Bench(
        "saltus.bench.hybrid.bench", "simulation of a bouncing ball, compared with other tools"
    ),
    "view": Bench("saltus.bench.view", "real-time ticks with the page open and without"),
    "view_memory": Bench("saltus.bench.view", "memory of the view over half an hour", "run_memory"),
    "drive": Bench("saltus.bench.drive", "latency from a key to the first plan that follows it"),
    "watchdog": Bench(
        "saltus.bench.watchdog.bench",
        "time from a tracker that hangs, dies or is stopped to damping on the wire",
    ),
    "a1": Bench("saltus.bench.a1", "latency from a state of the emulated A1 to its command"),
    "skf": Bench("saltus.bench.skf.bench", "time of one step of the salted Kalman filter"),
    "impacts": Bench("saltus.bench.impacts", "rate at which sets of impact outcomes are sampled"),
    "recording": Bench(
        "saltus.bench.recording", "size of a recorded run, and processor time of the recorder"
    ),
    "rollouts": Bench(
        "saltus.bench.rollouts.bench", "time of a line search on every available rollout backend"
    ),
    "terrain": Bench(
        "saltus.bench.terrain", "time of a rollout on rough ground, compared with the flat floor"
    ),
}
