"""The world that a server lives in moves as physics in one's own process does."""

import numpy as np
import pytest

from runtime.physics_messages import TickRequest, WorldRequest
from sim_bridge.motors import motor_limits
from sim_bridge.options import MotorOptions, SimulationOptions
from sim_bridge.physics.mujoco_physics import MujocoPhysics
from sim_bridge.physics.world import MOST_STEPS, MujocoWorld
from tests.a1 import A1

OPTIONS = SimulationOptions(
    friction=0.5, payload_mass=2.0, mass_scale=1.1, floor_slope=0.1,
    motors=MotorOptions(torque_limit=20.0, no_load_speed=18.0, corner_speed=6.0),
)  # fmt: skip


def world_request(options: SimulationOptions, q: np.ndarray, **changed: float) -> WorldRequest:
    torque, corner, fast = motor_limits(A1, options.motors)
    fields = {
        "timestep": options.timestep, "friction": options.friction,
        "payload_mass": options.payload_mass, "mass_scale": options.mass_scale,
        "floor_slope": options.floor_slope, "torque_limit": torque, "corner_speed": corner,
        "no_load_speed": fast,
    } | changed  # fmt: skip
    return WorldRequest(id=1, q=q, v=np.zeros(18), urdf="", **fields)


def tick_request(steps: int = 2, **changed) -> TickRequest:
    fields = {
        "commands": np.zeros((steps, 5, 12)), "blocked": False, "base_force": np.zeros(3),
        "joint_torque": np.zeros(12), "base_velocity": np.zeros(3),
    } | changed  # fmt: skip
    return TickRequest(id=2, **fields)


def test_every_option_and_action_reaches_the_physics() -> None:
    rng = np.random.default_rng(0)
    start = MujocoPhysics(A1, OPTIONS)
    start.start("stand", np.array([-np.sin(OPTIONS.floor_slope), 0.0, np.cos(OPTIONS.floor_slope)]))
    q = start.motion.q
    here, world = MujocoPhysics(A1, OPTIONS), MujocoWorld(A1)
    here.place(q, np.zeros(18))
    world.begin(world_request(OPTIONS, q))
    for tick in range(100):
        commands = np.zeros((2, 5, 12))
        commands[:, 0] = q[7:] + 0.2 * rng.normal(size=(2, 12))
        commands[:, 2:4] = [[60.0], [1.0]]
        force, torque = rng.normal(size=3) * 30.0, rng.normal(size=12)
        kick = rng.normal(size=3) if tick % 10 == 5 else np.zeros(3)
        blocked = 40 <= tick < 50
        here.push(force)
        here.drive(torque)
        if kick.any():
            here.kick(kick)
        here.live(commands, blocked)
        reply = world.tick(
            tick_request(
                commands=commands, blocked=blocked, base_force=force, joint_torque=torque,
                base_velocity=kick,
            )
        )  # fmt: skip
        motion = here.motion
        np.testing.assert_array_equal(reply.q, motion.q)
        np.testing.assert_array_equal(reply.v, motion.v)
        np.testing.assert_array_equal(reply.torque, motion.torque)
        np.testing.assert_array_equal(reply.foot_force, motion.foot_force)
        assert reply.trunk_contact == motion.trunk_contact
    assert np.abs(motion.q[:3] - q[:3]).max() > 0.01  # it was no standstill


def test_ticks_need_a_world_and_take_only_so_many_steps() -> None:
    world = MujocoWorld(A1)
    with pytest.raises(ValueError, match="no world"):
        world.tick(tick_request())
    with pytest.raises(ValueError, match=f"accepted: 0 to {MOST_STEPS}"):
        world.tick(tick_request(MOST_STEPS + 1))
