"""The processes of a launch on a robot, real or emulated: tracker with its bridge, and emulator."""

import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from controller.tracker_node import TrackerLoop
from hw_bridge.black_box.pipe import PipeWriter
from hw_bridge.bridge import Bridge
from hw_bridge.emulator import node as emulator_node
from hw_bridge.link import RecordedLink
from hw_bridge.operator.operator import Operator
from hw_bridge.options import HardwareOptions
from hw_bridge.watchdog.link import WatchdogLink
from hw_bridge.wire.layout import Header, wire_of
from runtime.background_log import log_in_background
from runtime.bus import Bus
from runtime.clock import ArrivalClock, Clock
from runtime.topics import (
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PLAN,
    ROBOT_STATUS,
    SENSOR_READING,
    STATE_ESTIMATE,
)
from saltus.common.compiled_code import watch
from saltus.common.processes import PEER_GONE
from saltus.configuration.launch import TICK_S, LaunchConfig
from saltus.launch import assembly, warmup
from saltus.launch.cores import serve_ticks, watchdog_priority
from saltus.launch.driving import make_steering
from saltus.launch.hardware import (
    REMEDY,
    hardware_options,
    has_pass,
    needs_pass,
    open_link,
    open_robot_socket,
)
from saltus.launch.supervisor import black_box_pipe, watchdog_socket
from saltus.launch.warmup import RECORDER, NotReady, await_listeners

LOG = logging.getLogger(__name__)
Stop = Callable[[], bool]
LAUNCHER_GONE = "the launcher has gone"


class EndsSeated:
    """The stop of the tracker's loop: asked to stop, the robot sits down before the loop ends.

    A peer that died, of which the supervisor tells, ends the run in the same way. Its signal only
    leaves a note: a handler that changed the robot's state would do so in the middle of a tick.
    """

    def __init__(self, stop: Stop, bridge: Bridge) -> None:
        """Listen to the supervisor."""
        self._stop, self._bridge = stop, bridge
        self._ending = self._peer_gone = False
        self._parent = os.getppid()
        signal.signal(PEER_GONE, lambda *_: setattr(self, "_peer_gone", True))

    def __call__(self) -> bool:
        """Whether the robot is off and the loop may end."""
        if self._stop() and not self._ending:
            self._ending = True
            self._bridge.end()
        if self._ending and self._parent and os.getppid() != self._parent:
            # Linux sends the signal before it gives the process another parent.
            self._parent = 0
            LOG.warning("%s", LAUNCHER_GONE)
            self._bridge.end(LAUNCHER_GONE)
        if self._peer_gone:
            self._peer_gone = False
            self._bridge.end("the planner or the estimator died")
        return self._bridge.is_finished


def tracker(
    config: LaunchConfig, open_bus: Callable[[], Bus], stop: Stop, sockets: Path
) -> dict[str, Any]:
    """Motor commands from plans and estimates, over UDP; sits the robot down at its end.

    Its ticks wait for the robot's frames. Watchdog and black box are found in the folder `sockets`.
    """
    core, options = assembly.make_tracker(config), hardware_options(config)
    if config.kind.emulated:  # it starts beside, on a busy computer as the last
        options = msgspec.structs.replace(options, connect_timeout_s=warmup.READY_S)
    serve_ticks(config, "tracker")
    link = open_link(config)
    clock = ArrivalClock(TICK_S, link.wait)
    with log_in_background(), open_bus() as bus:
        plans, estimates = bus.subscriber(PLAN), bus.subscriber(STATE_ESTIMATE, lazy=True)
        readings, commands = bus.publisher(SENSOR_READING), bus.publisher(MOTOR_COMMAND)
        statuses = bus.publisher(ROBOT_STATUS)
        await_listeners(readings, RECORDER + 1, stop)
        await_listeners(statuses, RECORDER, stop)
        steering = make_steering(config, bus)
        try:
            watchdog = WatchdogLink(  # it has the robot's socket and the operator's hands
                watchdog_socket(sockets), link, wire_of(config.robot_model), options.operator,
                watchdog_priority(config), None if steering is None else steering.press,
                black_box_pipe(sockets),
            )  # fmt: skip
        except ValueError as error:
            raise NotReady(str(error)) from error
        operator, pipe = Operator(options.operator, watchdog), PipeWriter(black_box_pipe(sockets))
        bridge = Bridge(
            options, config.robot_model, RecordedLink(link, options.link.robot, pipe), operator,
            config.duration, statuses.send, commands.send, steering, watchdog,
        )  # fmt: skip
        try:
            _connect(bridge, options, clock, stop)
            if not stop():
                require_pass(config, bridge.intake.header)
            schedule, ends = assembly.solve_schedule(config), EndsSeated(stop, bridge)
            report = watch(TrackerLoop(
                core, bridge, readings, estimates, plans, clock, schedule, ends
            ).run)  # fmt: skip
        finally:
            bridge.close()
    return report | {"robot": bridge.report() | {"black_box_lost": pipe.lost}}


def _connect(bridge: Bridge, options: HardwareOptions, clock: Clock, stop: Stop) -> None:
    if not bridge.connect(clock, stop, time.sleep) and not stop():
        link, heard = options.link, sum(bridge.intake.counts.values())
        refused = f"; {heard} frames came that were refused: {dict(bridge.intake.counts)}"
        raise NotReady(
            f"no answer from {link.robot_address}:{link.robot_port} within "
            f"{options.connect_timeout_s:g} s{refused if heard else ''}: is the robot on, the "
            "cable in, this machine's address in its network? `saltus doctor a1` looks closer"
        )


def require_pass(config: LaunchConfig, header: Header | None) -> None:
    """Refuse to move a real robot that has no doctor's pass of today; nothing has moved yet.

    Raises:
        NotReady: the robot with this header has none, and the operator did not go on without.
    """
    if not needs_pass(config) or config.hardware.without_doctor:
        return
    if header is None or not has_pass(header):
        who = "" if header is None else f" (robot_id {header.robot_id}, serial {header.serial})"
        raise NotReady(f"this robot{who} has no pass of today, so it stays limp: {REMEDY}")


def emulator(
    config: LaunchConfig, open_bus: Callable[[], Bus], clock: Clock, stop: Stop
) -> dict[str, Any]:
    """The emulated robot behind UDP."""
    body, robot, options = assembly.make_simulation(config), config.robot_model, config.emulator
    warmup.warm_emulator(config)
    serve_ticks(config, "emulator")
    socket = open_robot_socket(config)  # after: threads of DDS inherit nice level and cores
    with log_in_background(), open_bus() as bus:
        truths = bus.publisher(GROUND_TRUTH)
        await_listeners(truths, RECORDER, stop)
        return watch(lambda: emulator_node.run(options, robot, body, socket, clock, stop, truths))
