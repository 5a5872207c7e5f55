"""The simulation's process: a thin loop around SimulatedRobot."""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from runtime.bus import Bus
from runtime.checked import layout
from runtime.clock import Clock
from runtime.messages import MotorCommand
from runtime.rows import layout_of
from runtime.topics import GROUND_TRUTH, MOTOR_COMMAND, PACE, PUSH, SIMULATED_READING
from sim_bridge.hand_pushes import HandPushes
from sim_bridge.pace import PaceKeeper
from sim_bridge.perturbation_script import TICK
from sim_bridge.simulated_robot import TIME, SimulatedRobot

_SPANS = layout_of(MotorCommand).spans
_MOTORS, _STATUS = slice(_SPANS["q"].start, _SPANS["tau"].stop), _SPANS["status"].start
_STATUSES = dict[float, str](
    enumerate(("none", *dict(layout(MotorCommand).words)["status"]), -1)
)  # fmt: skip
Stop = Callable[[], bool]

LOOK_S = 0.05  # longest time without a look at the stop flag [s]


class SimulationNodeOptions(NamedTuple):
    """Options of the process.

    Attributes:
        truth_every: in real time, ticks from one published truth to the next; paused: every tick.
        reading_subscribers: how many must listen to readings before the robot comes to life.
        truth_subscribers: how many must listen to truths before.
        connect_timeout_s: how long to wait for them [s].
        after_fall_s: how long the run goes on after a fall [s].
        catch_up_ticks: in real time, how many ticks in a row may be made up for when late; a longer
            delay stops the simulated world for that time, because no robot could be controlled
            through it.
        controllable: viewers may push the robot and, paused, stop and slow its time.
    """

    truth_every: int = 5
    reading_subscribers: int = 1
    truth_subscribers: int = 0
    connect_timeout_s: float = 30.0
    after_fall_s: float = 0.5
    catch_up_ticks: int = 20
    controllable: bool = False


class _Loop:
    """The state of one run."""

    def __init__(
        self, simulation: SimulatedRobot, bus: Bus, clock: Clock, duration: float,
        options: SimulationNodeOptions,
    ) -> None:  # fmt: skip
        self._simulation, self._clock, self._options = simulation, clock, options
        self.commands_from = bus.subscriber(MOTOR_COMMAND, lazy=True)
        self._readings = bus.publisher(SIMULATED_READING)
        self._truths = bus.publisher(GROUND_TRUTH)
        self.pushes = HandPushes(bus.subscriber(PUSH)) if options.controllable else None
        self._paces = bus.subscriber(PACE) if options.controllable and clock.paused else None
        self._pace = PaceKeeper()
        self._truth_every = 1 if clock.paused else options.truth_every
        self.commands, self.ticks_caught_up, self.ticks_lost = 0, 0, 0
        self.in_force = Counter[float]()  # ticks by status of the command in force
        self._status = -1.0
        self.fell_at_s: float | None = None
        self._last = round(duration / TICK)

    def connect(self, stop: Stop) -> bool:
        """Wait for the subscribers; False when they do not come."""
        options = self._options
        return self._readings.wait_for_subscribers(
            options.reading_subscribers, options.connect_timeout_s, stop
        ) and self._truths.wait_for_subscribers(
            options.truth_subscribers, options.connect_timeout_s, stop
        )

    def live(self, stop: Stop) -> str:
        """Live to the end, or through the time after a fall; returns the status."""
        simulation, clock = self._simulation, self._clock
        while simulation.tick < self._last and not stop():
            missed = clock.wait_tick() - self.ticks_lost - simulation.tick
            if missed > 0:
                self._catch_up(missed)
            self._publish(clock.due())
            if clock.paused:
                command = clock.collect(self.commands_from, simulation.tick, stop)
                if command is None:
                    return "no_command"
            else:
                command = self.commands_from.newest()
            if command is not None:
                row = command.row
                self.commands += 1
                self._status = row[_STATUS]
                simulation.obey(row[_MOTORS].reshape(5, 12))
            if self.pushes is not None:
                self._hold(stop)
                self.pushes.apply(simulation)
            self._advance()
            if simulation.loss:
                return "lost_physics"
        clock.wait_tick()  # the last state is one tick on, and is stamped so
        self._publish(clock.due())
        return "done" if self.fell_at_s is None else "fell"

    def _catch_up(self, missed: int) -> None:
        """Make up for missed ticks, up to the limit, without commands.

        What the sensors measured then is published: a filter cannot do without.
        """
        most = self._options.catch_up_ticks
        for left in range(missed, max(0, missed - most), -1):
            self._publish(self._clock.due() - left * TICK)
            self._advance()
            self.ticks_caught_up += 1
        self.ticks_lost += max(0, missed - most)
        self._simulation.time_lost = self.ticks_lost * TICK

    def _publish(self, stamp: float) -> None:
        """Send the tick's reading and, when it is its turn, truth, as of when the tick was due."""
        simulation = self._simulation
        simulation.reading_row[TIME] = simulation.truth_row[TIME] = stamp
        if simulation.tick % self._truth_every == 0:
            self._truths.send(simulation.truth_row)
        self._readings.send(simulation.reading_row)

    def _hold(self, stop: Stop) -> None:
        """Wait until the time of the next tick may pass, by the viewer's pace."""
        if self._paces is None:
            return
        tick, paces = self._simulation.tick, self._paces.all()
        while True:
            for pace in paces:
                self._pace.take(pace, tick)
            remaining = self._pace.remaining(tick)
            if remaining <= 0.0 or stop():
                return
            self._paces.poll(min(remaining, LOOK_S))
            paces = self._paces.all()

    def _advance(self) -> None:
        """Simulate one tick, and note a fall."""
        self.in_force[self._status] += 1
        simulation = self._simulation
        simulation.advance()
        if simulation.fell and self.fell_at_s is None:
            self.fell_at_s = simulation.time
            end = simulation.time + self._options.after_fall_s
            self._last = min(self._last, round(end / TICK))


def run(
    simulation: SimulatedRobot,
    bus: Bus,
    clock: Clock,
    duration: float,
    stop: Stop,
    options: SimulationNodeOptions | None = None,
) -> dict[str, Any]:
    """Simulate for `duration` simulated seconds, or less: after a fall, stopped, alone, or lost.

    Each tick publishes reading and truth, collects a command and simulates 1 ms. Paused, every
    tick waits for the command of that tick, and then for the viewer's pace; in real time the
    newest command holds until the next.

    Args:
        simulation: at its start.
        bus: of this process; publishes SIMULATED_READING and GROUND_TRUTH. PUSH and PACE come from
            viewers, where the options let it.
        clock: ticking every 1 ms.
        duration: [simulated s].
        stop: true when the process shall end.
        options: of the loop.

    Returns:
        The report, plain values only: `status` (done, fell, stopped, no_command, no_subscriber,
        lost_physics), `loss` (why the physics was lost, in one line; empty where it was not),
        `ticks`, `simulated_s`, `fell`, `fell_at_s`, `final_position` [m], `final_quaternion` (x, y,
        z, w), `commands`, `in_force` (ticks by status of the newest command, "none" before the
        first), `undecodable`, `missed`, `caught_up`, `lost` (ticks), `lateness_us`; and `pushes`
        (by hand, applied and refused) where some came.
    """
    loop = _Loop(simulation, bus, clock, duration, options or SimulationNodeOptions())
    status = loop.live(stop) if loop.connect(stop) else "no_subscriber"
    q, statistics = simulation.truth().q, clock.statistics()
    pushes = loop.pushes.counts if loop.pushes else None
    return {
        "status": "stopped" if stop() else status,
        "loss": simulation.loss,
        "ticks": simulation.tick,
        "simulated_s": simulation.time,
        "fell": simulation.fell,
        "fell_at_s": loop.fell_at_s,
        "final_position": q[:3].tolist(),
        "final_quaternion": q[3:7].tolist(),
        "commands": loop.commands,
        "in_force": {_STATUSES.get(code, "unknown"): n for code, n in loop.in_force.items()},
        "undecodable": loop.commands_from.undecodable,
        "missed": statistics.missed,
        "caught_up": loop.ticks_caught_up,
        "lost": loop.ticks_lost,
        "lateness_us": msgspec.to_builtins(statistics.lateness_us),
        **({"pushes": dict(pushes)} if pushes else {}),
    }
