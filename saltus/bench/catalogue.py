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
        "saltus.bench.planner.bench", "one HiLQR iteration beside one of Crocoddyl's FDDP"
    ),
    "tick": Bench("saltus.bench.tick", "a tick of the tracker with its bridge, by stage"),
    "tracker": Bench(
        "saltus.bench.one_khz", "a command of the tracker beside 1 ms", "run_tracker"
    ),
    "estimator": Bench(
        "saltus.bench.one_khz", "an update of the estimator beside 1 ms", "run_estimator"
    ),
    "estimators": Bench(
        "saltus.bench.estimators.bench", "every filter on the same sensor readings: errors, times"
    ),
    "convex_mpc": Bench(
        "saltus.bench.convex_mpc.bench", "force problems of Convex MPC and Instant QP, by solver"
    ),
    "hybrid": Bench(
        "saltus.bench.hybrid.bench", "a bouncing ball simulated, beside other tools"
    ),
    "view": Bench("saltus.bench.view", "real time with a page open beside real time without"),
    "view_memory": Bench(
        "saltus.bench.view", "memory of a view in half an hour", "run_memory"
    ),
    "drive": Bench("saltus.bench.drive", "from a key to the first plan that obeys it"),
    "a1": Bench("saltus.bench.a1", "how soon a state of the emulated A1 is answered"),
    "wire": Bench("saltus.bench.wire.bench", "a frame to and from the A1, and damaged ones"),
    "skf": Bench("saltus.bench.skf.bench", "a step of the salted Kalman filter"),
    "impacts": Bench("saltus.bench.impacts", "how fast sets of outcomes are sampled"),
    "recording": Bench(
        "saltus.bench.recording", "bytes of a recorded run, and the share of a core they take"
    ),
    "rollouts": Bench(
        "saltus.bench.rollouts.bench", "a line search on every rollout backend that is here"
    ),
}
