"""The summary of a launch, with exactly the keys that scripts rely on."""

from typing import Any

from saltus.metrics import RunMetrics

NO_LATENESS = {"p50": 0.0, "p99": 0.0, "p999": 0.0}


def launch_summary(
    metrics: RunMetrics, plans: int, planner: dict[str, Any], tracker: dict[str, Any]
) -> dict[str, Any]:
    """Put a run's metrics and its processes' reports together.

    Args:
        metrics: from truth and estimates.
        plans: number of plans that were seen, for a planner that died without a report.
        planner, tracker: reports of the two processes, possibly empty.
    """
    simulated = metrics.summary()
    solves = int(planner.get("solves", plans))
    seconds = simulated["simulated_s"]
    return {
        **simulated,
        "planner": {
            "solves": solves,
            "solve_ms": _quantiles(planner.get("solve_ms"), ("p50", "p99")),
            "rate_hz": solves / seconds if seconds else 0.0,  # per second of the robot's time
        },
        "tracker": {
            "ticks": int(tracker.get("ticks", 0)),
            "missed": int(tracker.get("missed", 0)),
            "lateness_us": _quantiles(tracker.get("lateness_us"), tuple(NO_LATENESS)),
        },
        "estimator": metrics.estimator(),
    }


def _quantiles(values: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    values = values if isinstance(values, dict) else {}
    return {name: values.get(name) for name in names}
