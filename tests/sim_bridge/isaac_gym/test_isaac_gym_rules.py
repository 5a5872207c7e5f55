"""The stand-in catches every rule of Isaac Gym's tensor API being broken, by breaking each."""

import numpy as np
import pytest

from sim_bridge.isaac_gym import server
from tests.sim_bridge.isaac_gym.stand_in import make_api, make_options
from tests.sim_bridge.isaac_gym.stand_in_api import RuleBroken

OPTIONS = {
    "cpu": make_options("--envs", "2"),
    "gpu": make_options("--envs", "2", "--device", "cuda:0", "--pipeline", "gpu"),
}


def setup(**changes):
    urdf = server.changed_urdf(OPTIONS["cpu"].urdf_text, feet_only=True)
    fields = {"timestep": 0.005, "envs": 2, "urdf": urdf, "friction": 0.8, "slope": 0.0}
    fields["ground"] = None
    return server.Setup(**dict(fields, **changes))


def live(driver=server.Simulation, pipeline="cpu", steps=3, torque=1.0):
    """Two robots in the air under a torque on every joint; the simulation and where they are."""
    simulation = driver(make_api(), setup(), OPTIONS[pipeline])
    simulation.stage(np.tile(server._standing(height=2.0), (2, 1)))
    x = np.zeros((2, 37))
    for _ in range(steps):
        simulation.step(np.full((2, 12), torque))
        x, _contacts = simulation.read()
    return simulation, x


@pytest.mark.parametrize("pipeline", ["cpu", "gpu"])
def test_the_server_keeps_the_rules(pipeline):
    simulation, x = live(pipeline=pipeline)
    calls, steps = simulation._gym.calls, 3
    assert calls.count("simulate") == calls.count("set_effort") == steps
    assert calls.count("set_root") == calls.count("set_dof") == 1
    assert calls.count("fetch_results") == (steps if pipeline == "cpu" else 0)
    assert calls.index("prepare_sim") < min(i for i, call in enumerate(calls) if "acquire" in call)
    assert (x[:, 25:] > 0.0).all()


class SetsTwice(server.Simulation):
    def step(self, torque, trunk_force=None):
        self._gym.set_actor_root_state_tensor(self._sim, self._root.descriptor)
        super().step(torque, trunk_force)


class RefreshesAfterSetting(server.Simulation):
    def step(self, torque, trunk_force=None):
        self._gym.set_dof_actuation_force_tensor(self._sim, self._effort.descriptor)
        self.read()


class RefreshesTwice(server.Simulation):
    def read(self):
        super().read()
        return super().read()


class NeverPrepares(server.Simulation):
    def _share_tensors(self):
        self._gym._prepared = False
        super()._share_tensors()


class AcquiresTwice(server.Simulation):
    def _share_tensors(self):
        super()._share_tensors()
        super()._share_tensors()


class DropsItsTensor(server.Simulation):
    def step(self, torque, trunk_force=None):
        torch, gymtorch = self._api.torch, self._api.gymtorch
        efforts = torch.from_numpy(torque.astype(np.float32).ravel())
        self._gym.set_dof_actuation_force_tensor(self._sim, gymtorch.unwrap_tensor(efforts))
        del efforts
        self._gym.simulate(self._sim)


class HandsOverDoubles(server.Simulation):
    def step(self, torque, trunk_force=None):
        kept = self._api.torch.from_numpy(torque)
        self._gym.set_dof_actuation_force_tensor(self._sim, self._api.gymtorch.unwrap_tensor(kept))


class NeverFetches(server.Simulation):
    def step(self, torque, trunk_force=None):
        self._gpu_pipeline = True
        super().step(torque, trunk_force)


class HandsOverFromTheHost(server.Simulation):
    def _share_tensors(self):
        super()._share_tensors()
        self._effort = server.SharedTensor.zeros(self._api, (24,), "cpu")


class TooFewNumbers(server.Simulation):
    def _share_tensors(self):
        super()._share_tensors()
        self._force = server.SharedTensor.zeros(self._api, (2, 3), "cpu")

    def step(self, torque, trunk_force=None):
        self._gym.apply_rigid_body_force_tensors(self._sim, self._force.descriptor)
        super().step(torque)


class HandsOverNan(server.Simulation):
    def step(self, torque, trunk_force=None):
        super().step(np.full((2, 12), np.nan), trunk_force)


class OneGroup(server.Simulation):
    def _fill(self):
        create = self._gym.create_actor
        self._gym.create_actor = lambda env, asset, pose, name, group, mask, number: create(
            env, asset, pose, name, 0, mask, number
        )
        super()._fill()


class OnePlace(server.Simulation):
    def stage(self, x):
        self.places = 0.0 * self.places
        super().stage(x)


class NeverFetchesBetween(server.Simulation):
    """Two steps, read only after the second."""

    def step(self, torque, trunk_force=None):
        self._gpu_pipeline = True
        super().step(torque, trunk_force)
        super().step(torque, trunk_force)


class BuildsLate(server.Simulation):
    def _share_tensors(self):
        self._add_floor()


class SetsJointsLate(server.Simulation):
    def _share_tensors(self):
        self._set_joints(*self._robots[0])


class Rubs(server.Simulation):
    def _set_joints(self, env, actor):
        super()._set_joints(env, actor)
        joints = self._gym.get_actor_dof_properties(env, actor)
        joints["friction"].fill(0.1)
        self._gym.set_actor_dof_properties(env, actor, joints)


class TwoSimulations(server.Simulation):
    def _create_sim(self):
        super()._create_sim()
        return super()._create_sim()


@pytest.mark.parametrize(
    ("driver", "pipeline", "why"),
    [
        (SetsTwice, "cpu", "set twice"),
        (RefreshesAfterSetting, "cpu", "stale"),
        (RefreshesTwice, "gpu", "refreshed twice"),
        (NeverPrepares, "cpu", "before prepare_sim"),
        (AcquiresTwice, "cpu", "acquired twice"),
        (DropsItsTensor, "cpu", "not kept"),
        (HandsOverDoubles, "cpu", "float32"),
        (NeverFetches, "cpu", "fetch_results"),
        (HandsOverFromTheHost, "gpu", "device"),
        (TooFewNumbers, "cpu", "numbers"),
        (HandsOverNan, "cpu", "no number"),
        (OneGroup, "cpu", "collision group"),
        (OnePlace, "cpu", "overlap"),
        (NeverFetchesBetween, "cpu", "between two simulates"),
        (BuildsLate, "cpu", "a floor after"),
        (SetsJointsLate, "cpu", "properties after"),
        (Rubs, "cpu", "friction"),
        (TwoSimulations, "cpu", "second simulation"),
    ],
)
def test_a_driver_that_breaks_a_rule_is_caught(driver, pipeline, why):
    with pytest.raises(RuleBroken, match=why):
        live(driver, pipeline)


@pytest.mark.parametrize("setter", ["set_actor_root_state_tensor", "set_dof_state_tensor"])
def test_actor_indices_are_32_bit_and_the_whole_simulation_s(setter):
    simulation, _ = live()
    torch, unwrap = simulation._api.torch, simulation._api.gymtorch.unwrap_tensor
    state = simulation._root if "root" in setter else simulation._dof
    call = getattr(simulation._gym, setter + "_indexed")
    for indices in (np.array([0]), np.array([2], dtype=np.int32)):
        kept = torch.from_numpy(indices)
        with pytest.raises(RuleBroken, match="ind"):
            call(simulation._sim, state.descriptor, unwrap(kept), 1)
    kept = torch.from_numpy(np.array([1], dtype=np.int32))
    call(simulation._sim, state.descriptor, unwrap(kept), 1)


class ForgetsEfforts(server.Simulation):
    """Sets them before the first simulate alone."""

    def step(self, torque, trunk_force=None):
        if self._gym.calls.count("simulate"):
            self._gym.simulate(self._sim)
            self._gym.fetch_results(self._sim, True)
        else:
            super().step(torque, trunk_force)


class WrongDrive(server.Simulation):
    def _set_joints(self, env, actor):
        joints = self._gym.get_actor_dof_properties(env, actor)
        joints["driveMode"].fill(self._api.gymapi.DOF_MODE_POS)
        self._gym.set_actor_dof_properties(env, actor, joints)


class KeepsTheSpeedLimit(server.Simulation):
    def _set_joints(self, env, actor):
        super()._set_joints(env, actor)
        joints = self._gym.get_actor_dof_properties(env, actor)
        joints["velocity"].fill(0.05)
        self._gym.set_actor_dof_properties(env, actor, joints)


class KeepsTheEffortLimit(server.Simulation):
    def _set_joints(self, env, actor):
        super()._set_joints(env, actor)
        joints = self._gym.get_actor_dof_properties(env, actor)
        joints["effort"].fill(0.5)
        self._gym.set_actor_dof_properties(env, actor, joints)


@pytest.mark.parametrize(
    "driver", [ForgetsEfforts, WrongDrive, KeepsTheSpeedLimit, KeepsTheEffortLimit]
)
def test_efforts_act_as_in_isaac_gym(driver):
    _, good = live()
    _, bad = live(driver)
    assert bad[0, 25:].max() < 0.6 * good[0, 25:].max()


@pytest.mark.parametrize(("mode", "felt"), [("CC_NEVER", False), ("CC_LAST_SUBSTEP", True)])
def test_contacts_that_are_not_collected_are_not_felt(mode, felt):
    api = make_api()
    simulation = server.Simulation(api, setup(), OPTIONS["cpu"])
    simulation._gym._params.physx.contact_collection = getattr(api.gymapi, mode)
    simulation.stage(np.tile(server._standing(height=0.29), (2, 1)))
    simulation.step(np.zeros((2, 12)))
    assert simulation.read()[1].any() == felt


def test_what_no_motion_shows_is_set_all_the_same():
    options = make_options("--envs", "2", "--device", "cuda:1", "--pipeline", "gpu")
    gym = server.Simulation(make_api(), setup(friction=0.7), options)._gym
    plane, asset = gym._plane, gym.asset.options
    assert (gym.device, gym._params.substeps, gym._params.physx.use_gpu) == (1, 1, True)
    assert (plane.static_friction, plane.dynamic_friction, plane.distance) == (0.7, 0.7, 0.0)
    assert [(shape.friction, shape.restitution) for shape in gym.asset.shapes] == 4 * [(0.7, 0.0)]
    assert asset.collapse_fixed_joints and asset.replace_cylinder_with_capsule
    assert asset.armature == 0.0, "it would come on top of the joints' own"
    assert asset.max_linear_velocity == asset.max_angular_velocity == server.FASTEST
    assert all((env.joints["effort"] > 33.5).all() for env in gym._envs)
    cpu = server.Simulation(make_api(), setup(), OPTIONS["cpu"])._gym
    assert (cpu.device, cpu._params.physx.use_gpu) == (0, False)


def test_robots_stand_apart_wherever_they_are_and_however_many():
    places = server.grid(4096)
    assert len({tuple(place) for place in places.tolist()}) == 4096 and places.max() == 63
    np.testing.assert_array_equal(server.grid(9), places[:9])
    assert places[:9].max() == 2 and not places[0].any()


def test_what_isaac_gym_does_not_have_cannot_be_named():
    simulation, _ = live()
    with pytest.raises(AttributeError):
        simulation._gym.set_dof_effort_tensor(simulation._sim, simulation._effort.descriptor)
    with pytest.raises(AttributeError):
        simulation._api.gymapi.SimParams().physx.iterations = 4
    with pytest.raises(TypeError, match="UpAxis"):
        simulation._api.gymapi.SimParams().up_axis = 1
    with pytest.raises(TypeError, match="CoordinateSpace"):
        simulation._gym.apply_rigid_body_force_tensors(simulation._sim, None, None, 0)
    with pytest.raises(TypeError, match="cuda"):
        live(pipeline="gpu")[0]._root._tensor.numpy()
    with pytest.raises(TypeError, match="Tensor is needed"):
        simulation._gym.set_dof_state_tensor(simulation._sim, simulation._dof._tensor)
