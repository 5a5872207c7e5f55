"""The whole stack over UDP to the emulated A1, in real time: how soon a state is answered."""

from saltus.bench.catalogue import BenchResult
from saltus.configuration.launch import load_launch
from saltus.launch.launcher import launch

LATENCY_AIM_US = 1500.0  # 99 % of states are to be answered sooner


def run() -> BenchResult:
    """Launch `a1-emulated` once: stand up, walk, a push of 1.0 m/s, sit down.

    One row. `answer_us` is from a state's arrival at the kernel to the command that answers it; the
    ratio is its 99 % quantile to the aim.
    """
    outcome = launch(load_launch("a1-emulated"))
    summary = outcome.summary
    robot, tracker, emulator = summary["robot"], summary["tracker"], outcome.reports["emulator"]
    answer = robot["state_to_command_us"]
    row = {
        "ended_well": robot["ended_well"], "cause": robot["cause"], "fell": summary["fell"],
        "walked_s": robot["running_s"], "distance_m": summary["distance_m"],
        "max_lateral_deviation_m": summary["max_lateral_deviation_m"],
        "posture": emulator["posture"], "ticks": tracker["ticks"], "missed": tracker["missed"],
        "lateness_us_p99": tracker["lateness_us"]["p99"],
        **{f"answer_us_{name}": answer[name] for name in ("p50", "p99", "p999")},
        "emulator_missed": emulator["missed"],
        "solve_ms_p50": summary["planner"]["solve_ms"]["p50"],
    }  # fmt: skip
    return BenchResult([row], answer["p99"] / LATENCY_AIM_US)
