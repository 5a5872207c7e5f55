"""The tracker's short way in one compiled call against its way step by step."""

import msgspec
import numpy as np
import pytest

from controller.tracker import Tracker, TrackerOptions
from runtime.messages import Plan, SensorReading, StateEstimate
from tests.a1 import A1
from tests.controller.tracker_messages import TICK, Array, estimate, near_standing, plan, reading

TICKS = 400


def trackers(**options: float) -> tuple[Tracker, Tracker]:
    """One that may take the short way, and one that never does."""
    short, long = Tracker(TrackerOptions(**options), A1), Tracker(TrackerOptions(**options), A1)
    long._is_well = lambda *_: False  # type: ignore[method-assign]
    return short, long


def spoil(rng: np.random.Generator, values: Array) -> Array:
    """A copy with one number that is none, infinite, or far too large."""
    out = values.copy()
    out.flat[rng.integers(out.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e200, 30.0])
    return out


def inputs(
    rng: np.random.Generator, tick: int
) -> tuple[StateEstimate | None, Plan | None, SensorReading | None]:
    """What arrives in a tick, much of it odd."""
    q, v = near_standing(rng, 0.05)
    e, r = estimate(tick, q, v), reading(tick, q, v)
    p = plan(tick, tick, rng, gain=float(rng.choice([3.0, 300.0]))) if tick % 10 == 0 else None
    estimates = [
        {"q": spoil(rng, q)}, {"v": spoil(rng, v)}, {"q": off(q, 2, -0.25)},
        {"status": rng.choice(["degraded", "diverged", "starting"])}, {"q": off(q, 0, 1.7e308)},
        {"time": e.time - rng.choice([0.005, 0.5, np.nan])},
        {"q": np.repeat(q, 2)[::2]},  # not contiguous
        {"q": off(q, 7 + rng.integers(12), rng.choice([-0.29, 0.29, 0.35]))},
        {"v": off(v, rng.integers(6), rng.choice([3.5, 5.0, -9.0])),
         "time": e.time - rng.choice([0.0, 0.003])},
    ]  # fmt: skip
    readings = [
        {"joint_position": spoil(rng, r.joint_position)},
        {"joint_velocity": spoil(rng, r.joint_velocity)},
        {"quaternion_imu_in_world": np.array([0.9, 0.0, 0.0, 0.43])},
    ]
    odd = rng.integers(60)
    if odd < 9:
        e = msgspec.structs.replace(e, **estimates[odd])
    elif odd < 12:
        r = msgspec.structs.replace(r, **readings[odd - 9])
    return (None if odd == 12 else e), p, (None if odd == 13 else r)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_the_short_way_changes_no_command_and_no_count(seed: int, delay: float) -> None:
    short, long = trackers(command_delay=delay)
    rng, ok = np.random.default_rng(seed), 0
    with np.errstate(all="ignore"):
        for tick in range(TICKS):
            arrived = inputs(rng, tick)
            if rng.random() < 0.01:  # an operator has put the robot on its feet
                short.reset()
                long.reset()
            a, b = (each.command(*arrived[:2], tick * TICK, arrived[2]) for each in (short, long))
            assert a == b, tick
            ok += a.status == "ok"
            assert short.gate.counts == long.gate.counts
            np.testing.assert_array_equal(short._torque, long._torque)
    assert ok > 20


def off(values: Array, slot: int, by: float) -> Array:
    out = values.copy()
    out[slot] += by
    return out
