"""The robot of most tests, its wire, and messages of one that stands, a tick a millisecond."""

import numpy as np

from hw_bridge.wire.frame import record_in, seal
from hw_bridge.wire.layout import SERVO, Header, wire_of
from robots.legs import foot_positions_in_base
from robots.robot import load_robot
from robots.rotations import rotation_from_quaternion
from runtime.messages import (
    GroundTruth,
    MotorCommand,
    Plan,
    RobotStatus,
    SensorReading,
    StateEstimate,
)

A1 = load_robot("a1")
WIRE = wire_of(A1)
STAND = np.concatenate(([0.0, 0.0, A1.stand_height, 0.0, 0.0, 0.0, 1.0], A1.stand))  # q (19)
STAND.setflags(write=False)  # what writes to it must not spoil the next test


def stand_command(tick, now, **changes):
    ones = np.ones(12)
    fields = {
        "tick": tick, "time": now, "q": A1.stand.copy(), "dq": 0.0 * ones, "kp": 80.0 * ones,
        "kd": 3.0 * ones, "tau": 0.0 * ones, "plan_id": 0, "status": "ok",
    }  # fmt: skip
    return MotorCommand(**(fields | changes))


def estimate(tick=0, **changes):
    fields = {"q": STAND, "v": np.zeros(18), "contact": np.ones(4), "status": "ok"}
    return StateEstimate(**({"tick": tick, "time": 1e-3 * tick} | fields | changes))


def reading(tick=0, **changes):
    fields = {
        "tick": tick, "time": 1e-3 * tick, "quaternion_imu_in_world": STAND[3:7],
        "angular_velocity_imu": np.zeros(3), "linear_acceleration_imu": np.array([0.0, 0.0, 9.81]),
        "joint_position": A1.stand, "joint_velocity": np.zeros(12), "joint_torque": np.zeros(12),
        "foot_force": np.full(4, 30.0),
    }  # fmt: skip
    return SensorReading(**(fields | changes))


def ground_truth(tick=0, **changes):
    fields = {"foot_force": np.zeros((4, 3)), "contact": np.ones(4), "trunk_contact": False}
    stamp = {"tick": tick, "time": 1e-3 * tick, "q": STAND, "v": np.zeros(18)}
    return GroundTruth(**(stamp | fields | changes))


def robot_status(state, tick=0, **changes):
    fields = {"cause": "", "temperature": np.full(12, 30.0), "power": 0.0, "state_age": 0.0,
              "frames": 1, "refused": 0}  # fmt: skip
    return RobotStatus(**({"tick": tick, "time": 1e-3 * tick, "state": state} | fields | changes))


def plan(tick=0, knots=20, **changes):
    """It stands still."""
    fields = {
        "id": 1, "tick": tick, "time": 1e-3 * tick, "period": 0.01,
        "states_q": np.tile(STAND, (knots + 1, 1)), "states_v": np.zeros((knots + 1, 18)),
        "inputs": np.zeros((knots, 12)), "gains": np.zeros((knots, 12, 36)),
        "contacts": np.ones((knots, 4)), "cost": 0.0, "iterations": 1, "solve_s": 0.001,
        "status": "ok",
    }  # fmt: skip
    return Plan(**(fields | changes))


def state_frame(wire, **fields):
    """A sealed LowState with `fields`, as `LowState` has them; upright, and else zero."""
    frame = bytearray(wire.state.itemsize)
    record = record_in(frame, wire.state)
    record["quaternion_wxyz"][0] = 1.0
    wire.write_header(record, fields.pop("header", Header()))
    for name, value in fields.items():
        if name == "mode":
            value = np.where(np.asarray(value) == SERVO, wire.servo, value)
        value = np.frombuffer(value, np.uint8) if name == "remote" else np.asarray(value)
        value = value * (wire.torque_scale or 1) if name == "tau_est" else value
        (record if name in (wire.state.names or ()) else record["motors"])[name] = value
    return seal(frame)


def feet_in_world(q):
    """Centres of the feet (4, 3) [m]."""
    return q[:3] + foot_positions_in_base(A1.legs, q[7:]) @ rotation_from_quaternion(q[3:7]).T
