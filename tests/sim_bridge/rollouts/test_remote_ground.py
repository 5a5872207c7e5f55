"""A ground travels to a server when it changes; one that lacks it never acts as if it had it."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_array_equal

from robots.terrain import Box, Grid, make_ground
from runtime.physics_messages import GroundRequest, Refusal, ServerInfo
from sim_bridge import ground_exchange
from sim_bridge.ground_exchange import MOST_BOXES, MOST_CELLS, name_of, name_of_solids, to_request
from sim_bridge.options import RolloutServerOptions
from sim_bridge.physics_service import PhysicsService
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1
from tests.sim_bridge.physics.served_world import served
from tests.sim_bridge.rollouts.motions import policies, standing

KNOTS, PERIOD, SUBSTEPS = 4, 0.01, 2
GRID = Grid(np.array([[0.0, 0.1, 0.0], [0.0, 0.2, 0.1]]), (1.0, -1.0), 0.5)
GROUND = make_ground((Box((0.0, 0.0, -0.5), (3.0, 3.0, 0.5), 0.3, 0.2),), GRID)
TURNED = GROUND._replace(rotation=make_ground((Box((0, 0, 0), (1, 1, 1), 0.2, 0.1),)).rotation)


class Service:
    """What answers now, and all that it was asked."""

    def __init__(self):
        self.asked, self.changes = [], {}
        self.restart()

    def restart(self):
        """A service that knows no ground."""
        self.made = 0
        self._service = PhysicsService("mujoco", "here", 99, self._make)

    def _make(self, knots, period, substeps, ground):
        self.made += 1
        return ThreadedRollout(A1, knots, period, substeps, 2, ground)

    def answer(self, request, client):
        self.asked.append(request)
        reply = self._service.answer(request, client)
        return replace(reply, **self.changes) if isinstance(reply, ServerInfo) else reply

    def grounds(self):
        """How many it was sent."""
        return sum(isinstance(request, GroundRequest) for request in self.asked)


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def address(service):
    with served(service) as address:
        yield address


def connect(address, moves=True):
    local = ThreadedRollout(A1, KNOTS, PERIOD, SUBSTEPS, ground=GROUND)
    server = RolloutServerOptions(address=address, patience=20.0)
    return RemoteRollout(A1, server, local, PERIOD, SUBSTEPS, 20.0, ground=GROUND, moves=moves)


def states(rollout):
    return rollout.roll_out(standing(), policies(KNOTS)).states


def on(ground):
    return states(ThreadedRollout(A1, KNOTS, PERIOD, SUBSTEPS, ground=ground))


def test_a_ground_travels_once_until_it_moves(service, address):
    remote = connect(address)
    for ground, sent in ((GROUND, 1), (TURNED, 2), (GROUND, 3)):
        if sent > 1:
            remote.move_ground(ground)
        for _ in range(3):
            assert_array_equal(states(remote), on(ground))
        assert service.grounds() == sent
    assert not np.array_equal(on(GROUND), on(TURNED))
    assert service.made == 1  # a ground that moves is no new model
    assert remote.statistics()["fallbacks"] == 0


def test_a_server_that_does_not_know_the_ground_refuses_and_is_told(service, address):
    """The rollout that it refuses is the local one, on the same ground."""
    remote = connect(address)
    remote.move_ground(TURNED)
    states(remote)
    service.restart()
    for fallbacks in (1, 1):
        assert_array_equal(states(remote), on(TURNED))
        assert remote.statistics()["fallbacks"] == remote.statistics()["refusals"] == fallbacks


def test_a_ground_that_moves_needs_a_server_that_moves_it(service, address):
    service.changes = {"moves_ground": False}
    with pytest.raises(Unavailable):
        connect(address)
    assert_array_equal(states(connect(address, moves=False)), on(GROUND))


@pytest.mark.parametrize("field", ground_exchange.SOLIDS + ground_exchange.POSES)
def test_a_name_is_that_of_every_number(field):
    value = np.array(getattr(GROUND, field))
    value.flat[-1] = np.nextafter(value.flat[-1], 10.0)
    other = GROUND._replace(**{field: value})
    assert name_of(other) != name_of(GROUND)
    moved = field in ground_exchange.POSES
    assert (name_of_solids(other) == name_of_solids(GROUND)) == moved


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"floor": np.nan}, "none"), ({"half": np.full((1, 3), 1e5)}, "farther"),
        ({"half": np.array([[1.0, 0.0, 1.0]])}, "size"),
        ({"grid": np.zeros((2, MOST_CELLS))}, str(MOST_CELLS)),
        ({"grid_spacing": 0.0}, "size"),
        ({name: np.repeat(getattr(GROUND, name), MOST_BOXES + 1, axis=0)
          for name in ("centre", "half", "rotation")}, str(MOST_BOXES)),
    ],
    ids=str,
)  # fmt: skip
def test_a_ground_that_cannot_be_is_refused(changes, words):
    request = replace(to_request(7, GROUND), **changes)
    service = PhysicsService("mujoco", "here", 99, lambda *_: pytest.fail("made"))
    reply = service.answer(request)
    assert isinstance(reply, Refusal) and reply.id == 7 and words in reply.reason
