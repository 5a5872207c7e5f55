"""Every saltation matrix of every example system against simulated neighbours."""

import pkgutil

import numpy as np
import pytest

import hybrid.examples
import studies.kong.systems
from hybrid.compiled.system import native_tables
from hybrid.derivatives import jacobian
from hybrid.examples.bouncing_ball import bouncing_ball
from hybrid.examples.hopper import hopper
from hybrid.saltations import saltation
from studies.kong.saltations.finite_differences import saltation_errors
from studies.kong.saltations.guard_states import (
    GuardState,
    random_guard_states,
)
from studies.kong.systems.aslip import FLIGHT, AslipParameters, aslip, at_rest
from studies.kong.systems.constant_flow import constant_flow
from studies.kong.systems.driven_hopper import driven_hopper
from studies.kong.systems.pendulum import pendulum
from studies.kong.systems.quadcopter import quadcopter
from studies.kong.systems.quadcopter_contact import LEFT, RIGHT, RIGHT_RELEASED, Body
from studies.kong.systems.rimless_wheel import rimless_wheel
from studies.kong.systems.slope_ball import slope_ball
from studies.kong.systems.spring_damper_ball import spring_damper_ball
from studies.kong.systems.tube_ball import CONSTRAINED, LEAVING, RADIUS, tube_ball
from studies.kong.systems.vibrating_table import vibrating_table

STATES = 40  # per transition
REQUIRED = 1e-5  # relative
PARTS = {"quadcopter_contact"}  # modules without a system
# With tests of their own: the arm's transitions, event-selected systems, and impacts.
OTHERS = set(
    "three_link_arm affine_corner impacts spring_bed spring_hopper block_zeno compliant_block"
    " block_zeno_closed_form block_zeno_trajectory compliant_contact rhex".split()
)


def anywhere(scale=2.0, time=0.0):
    """States in a cube about zero, with inputs, at a random time within ``time`` [s]."""

    def draw(rng, edge, dims):
        x, u = scale * rng.normal(size=dims[0]), 5.0 * rng.normal(size=dims[1])
        return GuardState(time * rng.uniform(), x, u)

    return draw


def leg(rng, edge, dims):
    """ASLIP at touchdown with its springs at rest, or at liftoff with its toe on the ground."""
    if edge.source == FLIGHT:
        x = at_rest(np.array([*rng.normal(size=2), rng.uniform(0.4, 2.2), *rng.normal(size=3)]))
        x[[1, 4]] -= x[4]
        return GuardState(0.0, x, np.zeros(0))
    hip = AslipParameters().hip_rest + 0.2 * rng.normal()
    shape = [rng.uniform(0.6, 2.4), hip, 1.0, rng.normal(), 0.0]
    return GuardState(0.0, np.array([*shape, *rng.normal(size=3)]), np.zeros(0))


def in_tube(rng, edge, dims):
    """A ball that slides on the tube, has left it and is inside, or flies anywhere."""
    angle, u = rng.uniform(0.0, 2.0 * np.pi), 10.0 * rng.normal(size=2)
    out = np.array([np.cos(angle), np.sin(angle)])
    velocity = 3.0 * rng.normal(size=2)
    if edge.source == CONSTRAINED:
        velocity -= (velocity @ out) * out
    distance = RADIUS * (rng.uniform(0.8, 1.0) if edge.source == LEAVING else 1.0)
    return GuardState(0.0, np.concatenate((distance * out, velocity)), u)


def on_wall(rng, edge, dims):
    """A quadcopter with the edge that slides, is released, or strikes on the wall."""
    arm = 0.5 * Body().width * (1.0 if {edge.source, edge.target} & {RIGHT, RIGHT_RELEASED} else -1)
    angle = rng.uniform(-np.pi, np.pi)
    lean = angle + rng.uniform(-1.2, 1.2) + (0.0 if arm > 0.0 else np.pi)
    middle = Body().radius * np.array([np.cos(angle), np.sin(angle)])
    middle -= arm * np.array([np.cos(lean), np.sin(lean)])
    x = np.array([*middle, lean, *(3.0 * rng.normal(size=3))])
    return GuardState(0.0, x, 10.0 * rng.normal(size=2))


def sliding_edge(t, x, u, arm):
    """Gap of an edge and its rate, which vanish while it slides."""
    c, s = np.cos(x[2]), np.sin(x[2])
    p = np.array([x[0] + arm * c, x[1] + arm * s])
    v = np.array([x[3] - arm * s * x[5], x[4] + arm * c * x[5]])
    return np.array([p @ p - Body().radius ** 2, p @ v])


def contact_of(system, edge):
    """What vanishes at a transition besides its guard, or None."""
    if system.name == "ball in a tube" and edge.source == CONSTRAINED:
        return lambda t, x, u: np.array([x[0] ** 2 + x[1] ** 2 - RADIUS**2, x[:2] @ x[2:]])
    if system.name == "quadcopter" and edge.source in (LEFT, RIGHT):
        arm = 0.5 * Body().width * (1.0 if edge.source == RIGHT else -1.0)
        return lambda t, x, u: sliding_edge(t, x, u, arm)
    return None


SYSTEMS = {
    "constant_flow": (constant_flow(), anywhere()),
    "bouncing_ball": (bouncing_ball(), anywhere()),
    "pendulum": (pendulum(), anywhere()),
    "aslip": (aslip(), leg),
    "spring_damper_ball": (spring_damper_ball(), anywhere()),
    "tube_ball": (tube_ball(), in_tube),
    "quadcopter": (quadcopter(), on_wall),
    "slope_ball": (slope_ball(), anywhere()),
    "slope_ball sticking": (slope_ball(sticks=True), anywhere()),
    "rimless_wheel": (rimless_wheel(), anywhere()),
    "hopper": (hopper(), anywhere()),
    "driven_hopper": (driven_hopper(), anywhere()),
    "vibrating_table": (vibrating_table(), anywhere(0.5, time=2.0)),
}
EVENTS = [(name, i) for name in SYSTEMS for i in range(len(SYSTEMS[name][0].transitions))]
NOT_TRANSVERSE = [event for event in EVENTS if event[0].startswith("slope") and event[1] == 1]


def label(event):
    name, i = event
    return f"{name}: {SYSTEMS[name][0].transitions[i].label}"


@pytest.mark.parametrize("name", SYSTEMS)
def test_it_compiles_and_derivatives_are_those_of_differences(name):
    system, rng = SYSTEMS[name][0], np.random.default_rng(0)
    assert native_tables(system).system is not None
    for _ in range(10):
        for number, mode in system.modes.items():
            x = 2.0 * rng.normal(size=mode.state_dim)
            u, t = 10.0 * rng.normal(size=mode.input_dim), rng.uniform()
            check(mode.flow_state, lambda f, y: f(t, y, u), mode.flow, x)  # noqa: B023
            check(mode.flow_input, lambda f, v: f(t, x, v), mode.flow, u)  # noqa: B023
            for edge in system.outgoing(number):
                check(edge.guard_state, lambda f, y: f(t, y, u), edge.guard, x)  # noqa: B023
                check(edge.reset_state, lambda f, y: f(t, y, u), edge.reset, x)  # noqa: B023


def check(derivative, call, function, at):
    """In Python: to be called from there, each would be compiled once more."""
    if derivative is not None:
        derivative, function = (getattr(f, "py_func", f) for f in (derivative, function))
        wanted = jacobian(lambda y: call(function, y), at)
        np.testing.assert_allclose(call(derivative, at), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("event", [e for e in EVENTS if e not in NOT_TRANSVERSE], ids=label)
def test_saltation_matrix(event):
    name, i = event
    system, draw = SYSTEMS[name]
    edge = system.transitions[i]
    mode, rng = system.modes[edge.source], np.random.default_rng(i)
    dims = mode.state_dim, mode.input_dim
    points = random_guard_states(
        system, edge, lambda: draw(rng, edge, dims), STATES, constraints=contact_of(system, edge),
        minimum_rate=0.1,
    )  # fmt: skip
    assert len(points) == STATES
    assert np.max(saltation_errors(system, edge, points)) < REQUIRED


@pytest.mark.parametrize("event", NOT_TRANSVERSE, ids=label)
def test_an_event_of_the_input_alone(event):
    """A ball on a slope lifts off when a force jumps: the guard's rate is zero, and Xi = D_x R."""
    system, _ = SYSTEMS[event[0]]
    liftoff, rng = system.transitions[event[1]], np.random.default_rng(5)
    assert liftoff.name == "liftoff"
    for _ in range(STATES):
        x, u = rng.normal(size=4), 30.0 * rng.normal(size=2)
        assert system.guard_rate(liftoff, 0.0, x, u) == 0.0
        found = saltation(system, liftoff, 0.0, x, u)
        assert found.status == "not_transverse"
        np.testing.assert_array_equal(found.matrix, np.eye(4))


def test_no_example_is_left_out():
    paths = [*hybrid.examples.__path__, *studies.kong.systems.__path__]
    modules = {module.name for module in pkgutil.iter_modules(paths)}
    assert modules - PARTS - OTHERS == {name.split()[0] for name in SYSTEMS}
