"""A tracker as its process makes it, through every state and everything that it falls back to."""

import numpy as np
from msgspec.structs import replace

from saltus.common.compiled_code import signature_counts
from saltus.configuration.launch import load_launch
from saltus.launch import assembly
from tests.controller.tracker_messages import TICK, estimate, plan, reading, standing
from tests.saltus.launch.warm_processes.trial import on_wire, tell

RNG = np.random.default_rng(0)
STATE = standing()[0], 0.02 * RNG.normal(size=18)  # nothing here may call a compiled function
TILTED = np.array([np.sin(0.6), 0.0, 0.0, np.cos(0.6)])
NAN = np.full(12, np.nan)
FAR = np.concatenate(([1.7e308], STATE[0][1:]))


def sound(tick):
    return estimate(tick, *STATE)


def sensed(tick):
    return reading(tick, *STATE)


def planned(tick):
    """A plan that differs from knot to knot, once in ten ticks."""
    if tick % 10:
        return None
    drawn = (RNG.normal(size=shape) for shape in ((21, 18), (20, 12), (20, 12, 36)))
    v, inputs, gains = drawn
    contacts = np.tile([[1.0, 0.0], [0.0, 1.0]], (10, 2))
    return replace(
        plan(1 + tick, tick), states_v=0.02 * v, inputs=inputs, gains=20.0 * gains,
        contacts=contacts,
    )  # fmt: skip


def nothing(tick):
    return None


class Life:
    """A tracker, the tick it lives in, and what it has gone through."""

    def __init__(self, tracker):
        self.tracker, self.tick, self.seen = tracker, 0, set[str]()

    def live(
        self, ticks, plans = planned, estimates = sound,
        readings = sensed,
    ):  # fmt: skip
        """Live through ticks in which these messages arrive."""
        for tick in range(self.tick, self.tick + ticks):
            e, p, r = estimates(tick), plans(tick), readings(tick)
            command = self.tracker.command(
                e and on_wire(e), p and on_wire(p), tick * TICK, r and on_wire(r)
            )
            self.seen.add(command.status)
        self.tick += ticks
        self.seen |= set(self.tracker.gate.counts)


def bad(**changes):
    return lambda tick: replace(sound(tick), **changes)


def misread(**changes):
    return lambda tick: replace(sensed(tick), **changes)


def formed(**changes):
    def form(tick):
        usual = planned(tick)
        return usual and replace(usual, **changes)

    return form


def lead_a_life(tracker):
    """States and reasons of a life in which everything happens."""
    life = Life(tracker)
    life.live(2, nothing, nothing, nothing)
    life.live(5, nothing, nothing)
    life.live(250)
    for ticks, *what in (
        (30, planned, lambda tick: sound(tick - 5)),  # older than the reading
        (20, planned, sound, nothing),
        (30, lambda tick: plan(1 + tick, tick + 15)),  # plans that begin later
        (30, planned, bad(status="diverged")), (130, planned, bad(q=np.full(19, np.nan))),
        (30, planned, lambda tick: sound(tick - 30)), (150, planned, bad(q=FAR)),
        (5, planned, bad(v=np.repeat([9.0, 0.0], (3, 15)))),
        (20, formed(status="failed")), (20, formed(time=1e6)),
        (20, formed(inputs=np.full((20, 12), np.nan))),
        (20, formed(gains=np.full((20, 12, 36), 1e6))),
        (20, lambda tick: plan(1, tick, knots=0)), (20, lambda tick: plan(1, 0)),
        (20, planned, sound, misread(joint_position=NAN)),
        (20, planned, sound, misread(joint_torque=NAN, quaternion_imu_in_world=NAN[:4])),
        (41, lambda tick: plan(1 + tick, tick, knots=2) if life.tick == tick else None),
        (600, nothing),  # stale, stands, and back
        (3500, nothing),  # stands, and lies down
    ):  # fmt: skip
        life.live(ticks, *what)
        life.live(250)
    for q, readings in (
        (np.concatenate((STATE[0][:3], TILTED, STATE[0][7:])), nothing),
        (np.concatenate(([0.0, 0.0, 0.05], STATE[0][3:])), sensed),
    ):
        tracker.reset()
        life.live(50)
        life.live(30, estimates=bad(q=q), readings=readings)
    tracker.damp(life.tick * TICK)
    return life.seen


def main():
    tracker = assembly.make_tracker(load_launch("stand", mode="realtime"))
    before = signature_counts()
    seen = lead_a_life(tracker)
    late = load_launch("stand", ["tracker.command_delay=0.005"], mode="realtime")
    seen &= lead_a_life(assembly.make_tracker(late))
    tell(before, seen)


if __name__ == "__main__":
    main()
