"""The processes of a launch, each started by the supervisor.

``python -m saltus.launch.processes NAME CONFIG SOCKETS REPORT PARENT`` is one of them. Each imports
and builds its core alone, warms it up, opens its topics and hands over to its node; when the node
ends it writes the node's report. None begins before all are ready: the simulation waits for
the tracker's subscription, which the tracker makes only when the estimator listens to it, which the
estimator does only when planner and tracker listen to the estimates.
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from runtime.background_log import log_in_background
from runtime.bus import Bus, Subscriber
from runtime.clock import Clock, PausedClock, RealTimeClock
from runtime.exit import exit_at_once
from runtime.messages import Plan
from runtime.realtime import freeze_heap
from runtime.signals import StopFlag
from runtime.topics import (
    COMMAND,
    LINE_SEARCH,
    PLAN,
    PLAN_OUTLINE,
    ROBOT_STATUS,
    SENSOR_READING,
    STATE_COVARIANCE,
    STATE_ESTIMATE,
    TUNING,
)
from saltus.common.compiled_code import watch
from saltus.common.errors import BadRequest
from saltus.common.files import write_file
from saltus.common.processes import PEER_GONE, die_with_parent, refuse_other_code
from saltus.configuration.launch import TICK_S, LaunchConfig, make_config
from saltus.configuration.options import read_mapping
from saltus.launch import assembly, warmup
from saltus.launch.announcement import endpoints_of
from saltus.launch.cores import serve_plans, serve_ticks
from saltus.launch.plugins import load
from saltus.launch.warmup import READY_S, RECORDER, NotReady, await_listeners

Report = dict[str, Any]
Stop = Callable[[], bool]

LAST_WORDS_S = 1.0  # in which the simulation's last messages may leave
ENDED_WELL = ("done", "fell", "stopped")


class OpenBus:
    """Opens the bus, which a process does once all is loaded and warm.

    Attributes:
        sockets: folder of the launch's sockets.
    """

    def __init__(self, config: LaunchConfig, sockets: Path) -> None:
        self.sockets = sockets
        self._endpoints = endpoints_of(config.bus, sockets)

    def __call__(self) -> Bus:
        """The bus; objects that have been loaded are not collected as garbage any more."""
        gc.freeze()
        gc.enable()
        return Bus(self._endpoints)


class PlansUntilGone:
    """The subscription to plans, on which lock step no longer waits once the planner has died."""

    def __init__(self, plans: Subscriber[Plan]) -> None:
        self._plans = plans
        self._gone = False
        signal.signal(PEER_GONE, lambda *_: setattr(self, "_gone", True))

    @property
    def undecodable(self) -> int:
        """Frames that were no plan."""
        return self._plans.undecodable

    def newest(self) -> Plan | None:
        """The newest plan since the last call."""
        return self._plans.newest()

    def wait_for(
        self, predicate: Callable[[Plan], bool], timeout_s: float, stop: Stop | None = None
    ) -> Plan | None:
        """The next plan that fulfils `predicate`; None when stopped, late, or without a planner."""
        if self._gone:
            return None
        return self._plans.wait_for(
            predicate, timeout_s, lambda: self._gone or (stop is not None and stop())
        )


def planner(config: LaunchConfig, open_bus: Callable[[], Bus], clock: Clock, stop: Stop) -> Report:
    """Plans from estimates."""
    from controller.planner_node import Outlines, PlannerLoop
    from controller.tuning import Tuner

    share = serve_plans(config)
    core = assembly.make_planner(config)
    warmup.warm_planner(config)
    if config.mode == "realtime":
        freeze_heap()
    with log_in_background(), open_bus() as bus:
        plans, searches = bus.publisher(PLAN), bus.publisher(LINE_SEARCH)
        estimates = bus.subscriber(STATE_ESTIMATE)
        await_listeners(plans, RECORDER + 1, stop)
        await_listeners(searches, RECORDER, stop)
        schedule = assembly.solve_schedule(config)
        limit = config.planner_options.time_limit
        statuses = bus.subscriber(ROBOT_STATUS) if config.kind.bridged else None
        driver = script = tuner = None
        if config.drive.source != "none":
            driver = bus.subscriber(COMMAND)
        elif config.is_driven:
            script = bus.publisher(COMMAND)
            await_listeners(script, RECORDER, stop)
        outlines = Outlines(bus.publisher(PLAN_OUTLINE))
        if config.controllable and config.solver is not None:
            tuner = Tuner(bus.subscriber(TUNING), cast(Any, core), config.solver, config.mode)
        return watch(PlannerLoop(
            core, estimates, plans, clock, schedule, stop, limit, share, searches=searches,
            driver=driver, script=script, outlines=outlines, tuner=tuner, statuses=statuses,
        ).run)  # fmt: skip


def estimator(
    config: LaunchConfig, open_bus: Callable[[], Bus], clock: Clock, stop: Stop
) -> Report:
    """Estimates from readings."""
    from estimator import node as estimator_node

    core = assembly.make_estimator(config)
    warmup.warm_estimator(config)
    serve_ticks(config, "estimator")
    with log_in_background(), open_bus() as bus:
        estimates = bus.publisher(STATE_ESTIMATE)
        covariances = bus.publisher(STATE_COVARIANCE)
        await_listeners(estimates, RECORDER + 2, stop)
        await_listeners(covariances, RECORDER, stop)
        readings = bus.subscriber(SENSOR_READING)
        return watch(lambda: estimator_node.run(
            core, readings, estimates, clock, stop, covariances=covariances
        ))  # fmt: skip


def tracker(config: LaunchConfig, open_bus: OpenBus, clock: Clock, stop: Stop) -> Report:
    """Motor commands from plans and estimates; owns the robot."""
    if config.kind.bridged:
        from saltus.launch import hardware_processes

        return hardware_processes.tracker(config, open_bus, stop, open_bus.sockets)
    from controller.tracker_node import TrackerLoop
    from sim_bridge.simulated_bridge import SimulatedBridge

    core = assembly.make_tracker(config)
    serve_ticks(config, "tracker")
    with log_in_background(), open_bus() as bus:
        plans = cast(Any, PlansUntilGone(bus.subscriber(PLAN)))
        estimates = bus.subscriber(STATE_ESTIMATE, lazy=True)
        readings = bus.publisher(SENSOR_READING)
        await_listeners(readings, RECORDER + 1, stop)
        bridge = SimulatedBridge(bus, RECORDER + 1, READY_S)
        schedule = assembly.solve_schedule(config)
        try:
            return watch(TrackerLoop(
                core, bridge, readings, estimates, plans, clock, schedule, stop
            ).run)  # fmt: skip
        finally:
            bridge.close()


def simulation(
    config: LaunchConfig, open_bus: Callable[[], Bus], clock: Clock, stop: Stop
) -> Report:
    """The simulated robot."""
    from sim_bridge import node as simulation_node

    core = assembly.make_simulation(config)
    warmup.warm_simulation(config)
    serve_ticks(config, "simulation")
    options = simulation_node.SimulationNodeOptions(
        reading_subscribers=RECORDER + 1, truth_subscribers=RECORDER, connect_timeout_s=READY_S,
        controllable=config.controllable,
    )  # fmt: skip
    with log_in_background(), open_bus() as bus:
        report = watch(
            lambda: simulation_node.run(core, bus, clock, config.duration, stop, options)
        )
        bus.close(LAST_WORDS_S)
    core.close()
    if report["status"] not in ENDED_WELL:
        raise NotReady(report["loss"] or f"simulation ended with {report['status']}")
    return report


PROCESSES = {
    "planner": planner, "estimator": estimator, "tracker": tracker, "simulation": simulation,
}  # fmt: skip
ELSEWHERE = {"emulator": "saltus.launch.hardware_processes:emulator"}


def main(arguments: list[str]) -> int:
    """Run one process; the exit status is 0 when its node ended as asked."""
    name, configuration, sockets, report_path, parent = arguments
    die_with_parent(int(parent))
    refuse_other_code()
    gc.disable()  # it would look through all that is being loaded, again and again
    os.environ["MUJOCO_GL"] = "disable"  # nothing is drawn here; looking for a screen takes time
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    stop = StopFlag()
    config = make_config(read_mapping(Path(configuration)), configuration)
    clock = PausedClock(TICK_S) if config.mode == "paused" else RealTimeClock(TICK_S)
    try:
        run = PROCESSES.get(name) or load(ELSEWHERE[name])
        report = run(config, OpenBus(config, Path(sockets)), clock, stop)
    except (NotReady, BadRequest) as error:
        print(error, file=sys.stderr)
        return 1
    text = msgspec.json.encode(report, enc_hook=lambda x: x.tolist())
    try:
        write_file(Path(report_path), text)
    except OSError as error:  # it did its work all the same
        logging.getLogger("saltus").error("no report of the %s: %s", name, error)
    return 0


if __name__ == "__main__":
    exit_at_once(main(sys.argv[1:]))
