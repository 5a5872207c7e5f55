"""An estimator as its process makes it, on a robot that hops, is pushed, and loses its sensors."""

import sys

import numpy as np
from msgspec.structs import replace

from saltus.common.compiled_code import signature_counts
from saltus.configuration.launch import load_launch
from saltus.launch import assembly, warmup
from tests.saltus.launch.warm_processes.trial import on_wire, tell

SENSORS = """
    quaternion_imu_in_world angular_velocity_imu linear_acceleration_imu joint_position
    joint_velocity joint_torque foot_force
""".split()
KICKS = {  # [m/s] of the base, by tick
    150: (0.0, 0.0, 1.2), 500: (0.0, 1.0, 0.0), 700: (0.3, 0.0, 0.8), 950: (0.0, -0.6, 0.9),
}  # fmt: skip
FAULT_S, REST_S = 0.03, 0.15
TICK = 1e-3


def lively_readings(config):
    """Readings of a robot that stands, is thrown up, lands on several feet, and is pushed."""
    here = replace(config.simulation, engine="mujoco")
    robot = assembly.make_simulation(replace(config, simulation=here))
    readings = []
    for tick in range(1300):
        if tick in KICKS:
            robot.add_base_velocity(np.array(KICKS[tick]))
        robot.advance(None)
        readings.append(on_wire(robot.reading()))
    return readings


def faulty(readings):
    """The readings, in which one sensor after another is silent, frozen, or far off."""
    ways = (np.full_like, lambda values, _: values, lambda values, _: values + 50.0)
    each = round((FAULT_S + REST_S) / TICK)
    for number, reading in enumerate(readings):
        turn, phase = divmod(number, each)
        sensor, way = SENSORS[turn % len(SENSORS)], ways[turn // len(SENSORS) % len(ways)]
        if phase * TICK < FAULT_S:
            values = getattr(readings[turn * each], sensor)
            reading = replace(reading, **{sensor: way(values, np.nan)})
        yield on_wire(reading)


def timed(readings):
    """The readings, with gaps, a step back, the same time twice, and no time at all."""
    time = 0.0
    for number, reading in enumerate(readings):
        time += {50: 0.002, 60: 0.003, 70: 0.05, 80: 0.5, 90: -0.01, 100: 0.0}.get(number, TICK)
        yield on_wire(replace(reading, time=np.nan if number == 110 else time))


def main():
    [name] = sys.argv[1:]
    config = load_launch("stand", [f"estimator={name}"], mode="realtime")
    core = assembly.make_estimator(config)
    warmup.warm_estimator(config)
    readings = lively_readings(config)
    still = [replace(readings[k % 100], tick=k, time=TICK * k) for k in range(4000)]
    before, seen = signature_counts(), set[str]()
    for stream in (iter(readings), faulty(still), timed(still[:200])):
        estimates = [core.update(reading) for reading in stream]
        seen |= {estimate.status for estimate in estimates}
        seen |= {"in the air" for estimate in estimates if (estimate.contact < 0.5).all()}
        core.reset()
    core.update(replace(readings[0], joint_position=np.full(12, np.nan)))  # sensors begin badly
    for reading in readings[1:20]:
        seen.add(core.update(reading).status)
    tell(before, seen)


if __name__ == "__main__":
    main()
