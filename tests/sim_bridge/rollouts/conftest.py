"""The backend under test: each of `BACKENDS` in turn."""

from contextlib import ExitStack

import numpy as np
import pytest

from sim_bridge.rollouts.unavailable import Unavailable
from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.backends import BACKENDS

PERIOD, SUBSTEPS = 0.01, 2  # the planner's


class Subject:
    """A backend, one instance for each period and number of physics steps."""

    def __init__(self, name, entry, make):
        self.name, self.close, self.same, self.digits = name, entry.close, entry.same, entry.digits
        self.vertical = entry.vertical
        self._make = make
        self._made = {}
        self._on_grounds = []

    def at(self, period=PERIOD, substeps=SUBSTEPS):
        key = period, substeps
        if key not in self._made:
            self._made[key] = self._make(period, substeps)
        return self._made[key]

    def on(self, ground, moves=False):
        """One on a ground; the test is skipped where the backend refuses it."""
        try:
            made = self._make(PERIOD, SUBSTEPS, ground, moves)
        except Unavailable as missing:
            pytest.skip(str(missing))
        self._on_grounds.append(made)
        return made

    def roll_out(self, x0, policies, period=PERIOD, substeps=SUBSTEPS):
        return self.at(period, substeps).roll_out(x0, policies)  # type: ignore[return-value]

    def assert_close(self, found, wanted):
        """Check that states and forces stray no further from those of plain MuJoCo."""
        states = np.abs(found.states - wanted.states).max(axis=(0, 1))
        forces = np.abs(found.normal_forces - wanted.normal_forces).max()
        strayed = states[:3].max(), states[3:19].max(), states[19:].max(), forces
        assert all(far <= near for far, near in zip(strayed, self.close, strict=True)), strayed

    def fallbacks(self):
        """How often another backend answered in this one's place."""
        every = [*self._made.values(), *self._on_grounds]
        return sum(made.statistics().get("fallbacks", 0) for made in every)


@pytest.fixture(scope="session", params=list(BACKENDS))
def opened(request):
    entry = BACKENDS[request.param]
    with ExitStack() as stack:
        try:
            yield Subject(request.param, entry, entry.open(stack))
        except Unavailable as missing:
            pytest.skip(str(missing))


@pytest.fixture(scope="session")
def momentum():
    return plain.Momentum()


@pytest.fixture
def backend(opened):
    before = opened.fallbacks()
    yield opened
    assert opened.fallbacks() == before  # a law is no law of a backend that did not answer itself
