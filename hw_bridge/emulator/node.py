"""The emulator's process: a thin loop that carries frames between a socket and the firmware."""

from collections.abc import Callable
from typing import Any

import msgspec

from hw_bridge.dds.link import DdsRobot
from hw_bridge.emulator.firmware import TICK_S, Firmware, Plant, is_still, posture_of
from hw_bridge.emulator.network import Address, LossyNetwork
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.link import UdpLink
from hw_bridge.wire.layout import wire_of
from robots.robot import Robot
from runtime.bus import Publisher
from runtime.clock import Clock
from runtime.messages import GroundTruth

Stop = Callable[[], bool]

CATCH_UP_TICKS = 5  # made up for in a row when late; a longer delay stops the emulated world
TRUTH_EVERY = 5  # ticks from one published truth to the next
LINGER_S = 4.0  # for which the robot goes on when asked to stop, until it is damped and still
STILL_TICKS = 200  # in a row: a fall too begins with no speed


class EmulatorLoop:
    """The state of one run."""

    def __init__(
        self,
        options: EmulatorOptions,
        robot: Robot,
        plant: Plant,
        socket: UdpLink | DdsRobot,
        truths: Publisher[GroundTruth] | None,
    ) -> None:
        """See `run`."""
        self.firmware = Firmware(options, robot, plant)
        self.inbound = LossyNetwork(options.network, "in")
        self.outbound = LossyNetwork(options.network, "out")
        self.ticks = self.ticks_caught_up = self.ticks_lost = 0
        self._socket, self._truths, self._plant = socket, truths, plant
        self._stand_height = robot.stand_height
        self._command_size = wire_of(robot).command.itemsize
        self._client: Address | None = None
        self._still = 0
        posture_of(plant.truth(), self._stand_height)  # compiles what the report needs

    @property
    def over(self) -> bool:
        """Whether the robot is damped and has been still for a while."""
        return self.firmware.passive and self._still >= STILL_TICKS

    def catch_up(self, due: int, now: float) -> None:
        """Run the ticks missed before clock tick `due`, up to the limit, without commands."""
        missed = due - self.ticks_lost - self.ticks
        for _ in range(min(missed, CATCH_UP_TICKS)):
            self._run_tick([], now)
            self.ticks_caught_up += 1
        lost = max(0, missed - CATCH_UP_TICKS)
        self.ticks_lost += lost
        # A clock that stood still would make every later state look old.
        self.firmware.clock_ms += lost

    def tick(self, now: float) -> None:
        """Take pending frames at `now` [s], answer, simulate 1 ms."""
        for each in self._socket.receive():
            self.inbound.push(each.data, each.sender, now)
        frames = []
        for frame, sender in self.inbound.pop(now):
            frames.append(frame)
            if len(frame) == self._command_size:
                self._client = sender
        self._run_tick(frames, now)

    def publish(self, now: float) -> None:
        """Send the truth when it is its turn, and watch whether the robot rests."""
        if self.ticks % TRUTH_EVERY:
            return
        truth = msgspec.structs.replace(self._plant.truth(now), tick=self.firmware.clock_ms)
        self._still = self._still + TRUTH_EVERY if is_still(truth) else 0
        if self._truths is not None:
            self._truths.send(truth)

    def _run_tick(self, frames: list[bytes], now: float) -> None:
        """One tick; answers leave before the physics takes its time."""
        client, replies = self._client, self.firmware.receive(frames, now)
        self.inbound.is_cut = self.outbound.is_cut = self.firmware.is_cut
        for reply in replies:
            if client is not None:
                self.outbound.push(reply, client, now)
        for frame, receiver in self.outbound.pop(now):
            self._socket.send(frame, receiver)
        self.firmware.advance()
        self.ticks += 1

    def report(self, clock: Clock) -> dict[str, Any]:
        """See `run`."""
        firmware, statistics = self.firmware, clock.statistics()
        return {
            "ticks": self.ticks,
            "emulated_s": self.ticks * TICK_S,
            "commands": firmware.commands,
            "refused": dict(firmware.refused),
            "notes": {note: count for note, count in firmware.notes.items() if count},
            "state": firmware.state,
            "history": [list(change) for change in firmware.history],
            "posture": posture_of(self._plant.truth(), self._stand_height),
            "passive": firmware.passive,
            "worst": dict(firmware.worst),
            "first_damping_at": firmware.first_damping_at,
            "button_pressed_at": firmware.button_pressed_at,
            "network": {"in": dict(self.inbound.counts), "out": dict(self.outbound.counts)},
            "send_errors": self._socket.send_errors,
            "missed": statistics.missed,
            "caught_up": self.ticks_caught_up,
            "lost": self.ticks_lost,
            "lateness_us": msgspec.to_builtins(statistics.lateness_us),
        }


def run(
    options: EmulatorOptions,
    robot: Robot,
    plant: Plant,
    socket: UdpLink | DdsRobot,
    clock: Clock,
    stop: Stop,
    truths: Publisher[GroundTruth] | None = None,
) -> dict[str, Any]:
    """Emulate a robot until `stop`, then until it is damped and still, at most 4 s more.

    Args:
        options: of the emulator.
        robot: that is emulated.
        plant: its body, at its start.
        socket: see `robot_end`; closing it stays the caller's.
        clock: real time, ticking every 1 ms.
        stop: true when the process shall end.
        truths: where the true state goes, every 5 ms.

    Returns:
        The report, plain values only: `ticks`, `emulated_s`, `commands` (believed), `refused` (by
        reason), `notes`, `state` and its `history` (time since the first command [s], state,
        cause), `posture` (standing, lying, fallen, moving), `passive` (no motor is asked for a
        position or a torque),
        `worst` (see `Firmware`), `first_damping_at` and `button_pressed_at` (monotonic [s] or
        None, resolved to a tick),
        `network` (frames by fate, each way), `send_errors`, `missed`, `caught_up`, `lost`,
        `lateness_us`.
    """
    loop = EmulatorLoop(options, robot, plant, socket, truths)
    deadline: float | None = None
    while True:
        due, now = clock.wait_tick(), clock.now()
        loop.catch_up(due, now)
        if stop():
            deadline = now + LINGER_S if deadline is None else deadline
            if loop.over or now > deadline:
                return loop.report(clock)
        loop.tick(now)
        loop.publish(now)
