"""`rollout` in a launch file: which physics it chooses, and the one line where it cannot be had."""

import socket
import sys

import numpy as np
import pytest
from msgspec.structs import replace

from robots.terrain import make_ground
from saltus.common.errors import BadRequest
from saltus.configuration.launch import ROLLOUTS, load_launch
from saltus.launch import assembly, planners
from sim_bridge import physics_client
from tests.refusals import refusal
from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.backends import KNOTS, SINGLE
from tests.sim_bridge.rollouts.motions import STAND, policies


@pytest.fixture(autouse=True)
def little_patience(monkeypatch):
    """Nobody answers below: a short wait shows it."""
    monkeypatch.setattr(physics_client, "LOCAL_PATIENCE_S", 0.2)


@pytest.fixture
def nobody():
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return f"tcp://127.0.0.1:{port}"


def config(*assignments):
    return load_launch("sim", assignments)


def test_every_name_can_be_made_and_is_looked_for():
    assert {row.backend for row in planners.availability(config())} == set(ROLLOUTS)


@pytest.mark.parametrize("name", ["remote", "isaacgym"])
def test_no_server_is_one_line_with_the_remedy_and_what_is_here(name, nobody, refused):
    line = refused("launch", "sim", "--set", f"rollout={name}", "--set", f"{name}.address={nobody}")
    assert nobody in line and "available here: mujoco" in line
    assert ("saltus serve`" if name == "remote" else "saltus serve isaacgym`") in line


@pytest.mark.parametrize("address", ["remote", "isaacgym", "simulation.server"])
def test_what_is_no_address_is_refused_and_only_an_engine_has_a_usual_one(address):
    assert f"{address}.address" in refusal(BadRequest, config, f"{address}.address=foo")
    if address == "simulation.server":
        assert config(f'{address}.address=""').simulation.server.address == ""
    else:
        assert f"{address}.address" in refusal(BadRequest, config, f'{address}.address=""')


@pytest.mark.parametrize("package", ["warp", "mujoco_warp"])
def test_a_missing_package_is_named_with_its_install(package, nobody, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as an import finds one that is not installed
    no_servers = f"isaacgym.address={nobody}", f"remote.address={nobody}"
    assert "saltus[gpu]" in refusal(
        BadRequest, planners.make_rollout, config("rollout=warp", *no_servers)
    )


def test_a_launch_looks_before_it_starts_and_planners_without_rollouts_do_not(nobody):
    lost = config("rollout=remote", f"remote.address={nobody}")
    assert nobody in refusal(BadRequest, assembly.check, lost)
    assembly.check(replace(lost, planner="convex_mpc"))


def test_no_server_for_the_robot_is_one_line_in_launches_and_sweeps(nobody, refused):
    engine = ["--set", "simulation.engine=remote", "--set", f"simulation.server.address={nobody}"]
    for command in (["launch", "stand"], ["perturb", "push-stand", "--jobs", "1"]):
        line = refused(*command, *engine)
        assert nobody in line and "saltus serve" in line and "simulation.engine remote" in line


def test_warp_rolls_out_on_the_ground_that_it_is_given():
    pytest.importorskip("mujoco_warp")
    chosen, candidates = config("rollout=warp", "warp.device=cpu"), policies(KNOTS)
    options, ground = planners.planning(chosen), make_ground()._replace(floor=-0.02)
    found = planners.make_rollout(chosen, ground).roll_out(STAND, candidates).states
    wanted = plain.roll_out(STAND, candidates, options.period, options.search.substeps, ground)
    assert np.abs(found - wanted.states)[..., :3].max() < SINGLE.position
