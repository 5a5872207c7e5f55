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
        "saltus.benchmarks.planner", "one HiLQR iteration beside one of Crocoddyl's FDDP"
    ),
    "tick": Bench("saltus.benchmarks.tick", "a tick of the tracker with its bridge, by stage"),
    "tracker": Bench(
        "saltus.benchmarks.one_khz", "a command of the tracker beside 1 ms", "run_tracker"
    ),
    "estimator": Bench(
        "saltus.benchmarks.one_khz", "an update of the estimator beside 1 ms", "run_estimator"
    ),
    "estimators": Bench(
        "saltus.benchmarks.estimators", "every filter on the same sensor readings: errors, times"
    ),
    "convex_mpc": Bench(
        "saltus.benchmarks.force_qps", "force problems of Convex MPC and Instant QP, by solver"
    ),
    "hybrid": Bench(
        "saltus.benchmarks.hybrid_simulation", "a bouncing ball simulated, beside other tools"
    ),
    "view": Bench("saltus.benchmarks.view", "real time with a page open beside real time without"),
    "view_memory": Bench(
        "saltus.benchmarks.view", "memory of a view in half an hour", "run_memory"
    ),
    "drive": Bench("saltus.benchmarks.drive", "from a key to the first plan that obeys it"),
    "a1": Bench("saltus.benchmarks.a1", "how soon a state of the emulated A1 is answered"),
    "wire": Bench("saltus.benchmarks.wire", "a frame to and from the A1, and damaged ones"),
    "skf": Bench("saltus.benchmarks.salted_filters", "a step of the salted Kalman filter"),
    "impacts": Bench("saltus.benchmarks.impacts", "how fast sets of outcomes are sampled"),
    "recording": Bench(
        "saltus.benchmarks.recording", "bytes of a recorded run, and the share of a core they take"
    ),
    "rollouts": Bench(
        "saltus.benchmarks.rollouts", "a line search on every rollout backend that is here"
    ),
}
