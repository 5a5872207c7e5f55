"""Who waits for whom when a launch stands still."""

from collections.abc import Mapping

from runtime.topics import (
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PLAN,
    SENSOR_READING,
    STATE_ESTIMATE,
)
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly

START_S = 200.0  # until the first tick: longer than the processes wait for each other
STALL_S = 10.0  # between two ticks
HANG_S = 2.0  # between two ticks of a robot that the watchdog damps


def describe_stall(config: LaunchConfig, ticks: Mapping[str, int]) -> str:
    """Who waits for whom, in words.

    In lock step the messages of a tick come one after the other: truth and reading of the robot,
    the reading passed on, the estimate, a plan where one is due, the command. Who sends the first
    one that is missing is waited for.

    Args:
        config: of the launch.
        ticks: newest tick by name of topic, -1 before the first.
    """
    tick = ticks[GROUND_TRUTH.name]
    if config.kind.bridged:
        return "the tracker is silent"
    if tick < 0:
        return "nobody has sent anything"
    if config.mode == "realtime":
        return "the simulation is silent"
    if ticks[SENSOR_READING.name] < tick:
        return f"the simulation waits for the tracker at tick {tick}"
    if ticks[STATE_ESTIMATE.name] < tick:
        return f"the tracker waits for the estimator's estimate of tick {tick}"
    if ticks[MOTOR_COMMAND.name] >= tick:
        return f"the tracker waits for the simulation after tick {tick}"
    due = next((solve for solve in assembly.solve_schedule(config) if solve.arrival >= tick), None)
    if due is not None and due.arrival == tick and ticks[PLAN.name] < due.estimate:
        return f"the tracker waits for the planner's plan of tick {due.estimate}"
    return f"the simulation waits for the tracker's command of tick {tick}"
