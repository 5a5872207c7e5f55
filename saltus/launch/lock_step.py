"""The whole stack in one process and in lock step: the same cores, no sockets, the same numbers."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from controller.planner_node import SolveGuard, solve_in_lock_step
from runtime.messages import (
    GroundTruth,
    LineSearch,
    MotorCommand,
    Plan,
    SensorReading,
    StateEstimate,
)
from runtime.rows import message_of
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly, references
from saltus.metrics.run import RunMetrics, run_metrics
from sim_bridge.node import SimulationNodeOptions

AFTER_FALL_S = SimulationNodeOptions().after_fall_s  # as the simulation's process does


class Answer(NamedTuple):
    """Answer of the stack to a reading; `plan` and `search` are None between planning ticks.

    `search` is also None where the planner searched no line.
    """

    estimate: StateEstimate
    plan: Plan | None
    command: MotorCommand
    search: LineSearch | None = None


class Tick(NamedTuple):
    """Events of one tick: the true state, the sensors' reading, and then as `Answer`."""

    truth: GroundTruth
    reading: SensorReading
    estimate: StateEstimate
    plan: Plan | None
    command: MotorCommand
    search: LineSearch | None = None


class Stack:
    """Estimator, planner and tracker of a launch, in the order of the processes' paused clocks.

    reading, estimate, [a plan that arrives], command: bit for bit what the processes of a paused
    launch compute. A plan is solved when it arrives, from what was known when its solve began.

    Attributes:
        solve_ms: duration of every solve [ms], wall clock.
        processor_ms: processor time of every solve on all threads [ms].
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Build the cores.

        Raises:
            BadRequest: the configuration names what there is not.
        """
        self.config = config
        self.estimator = assembly.make_estimator(config)
        self.planner = assembly.make_planner(config)
        self.tracker = assembly.make_tracker(config)
        self.solve_ms: list[float] = []
        self.processor_ms: list[float] = []
        self._guard = SolveGuard()
        schedule = assembly.solve_schedule(config)
        self._solves = iter(schedule)
        self._solve = next(self._solves)
        # The newest ones, of which the first is as old as the latency model says.
        self._estimates = deque[StateEstimate](maxlen=schedule.estimate_age + 1)
        self._basis: StateEstimate | None = None  # of the solve that is under way

    def answer(self, reading: SensorReading) -> Answer:
        """Take in the reading of the next tick, from tick 0 without a gap."""
        estimate = self.estimator.update(reading)
        self._estimates.append(estimate)
        full = len(self._estimates) == self._estimates.maxlen
        known = self._estimates[0] if full else None
        plan = self._plan(reading.tick, known)
        search = None if plan is None else self.planner.line_search
        command = self.tracker.command(known, plan, reading.time, reading)
        return Answer(estimate, plan, message_of(command), search)

    def _plan(self, tick: int, estimate: StateEstimate | None) -> Plan | None:
        """The plan that arrives in this tick; a solve may begin, from the estimate known now."""
        solve = self._solve
        if tick == solve.start:
            self._basis = estimate
        if tick < solve.arrival or self._basis is None:
            return None
        begin, worked = time.perf_counter(), time.process_time()
        basis = self._basis
        plan = self._guard.plan(basis, lambda: solve_in_lock_step(self.planner, basis, solve))
        self.solve_ms.append(1e3 * (time.perf_counter() - begin))
        self.processor_ms.append(1e3 * (time.process_time() - worked))
        self._solve = next(self._solves)
        if tick == self._solve.start:
            self._basis = estimate
        return plan


class LockStep(Stack):
    """Runs the cores of a launch tick by tick: the stack, and the simulated robot.

    Attributes:
        metrics: of the run so far.
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Build the cores.

        Raises:
            BadRequest: the configuration names what there is not.
        """
        self.simulation = assembly.make_simulation(config)
        super().__init__(config)
        self.metrics = run_metrics(config, references.tilt_allowance(config))

    def step(self) -> Tick:
        """Live through one tick of 1 ms."""
        simulation = self.simulation
        truth, reading = simulation.truth(), simulation.reading()
        tick = Tick(truth, reading, *self.answer(reading))
        simulation.advance(tick.command)
        self.metrics.add_truth(truth)
        self.metrics.add_estimate(tick.estimate)
        return tick

    def run(self, on_tick: Callable[[Tick], Any] | None = None) -> RunMetrics:
        """Run for the configured duration, or until half a second after a fall.

        Raises:
            RuntimeError: a server had the robot's physics and is lost.
        """
        last = self.config.ticks
        while self.simulation.tick < last:
            tick = self.step()
            if on_tick is not None:
                on_tick(tick)
            if self.simulation.loss:
                raise RuntimeError(self.simulation.loss)
            if self.simulation.fell:
                last = min(last, self.simulation.tick + round(AFTER_FALL_S * 1e3))
                self.metrics.fell = True
        self.metrics.add_truth(self.simulation.truth())
        self.metrics.add_estimate(self.estimator.update(self.simulation.reading()))
        return self.metrics
