"""The emulator over real UDP, with the simulated A1 as its body and a clock of its own."""

import socket

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose
from pytest import approx

from hw_bridge.emulator import node
from hw_bridge.emulator.firmware import posture_of
from hw_bridge.emulator.network import robot_end
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.wire.frame import read_low_state
from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints, damping
from sim_bridge.options import SimulationOptions
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1, WIRE
from tests.runtime.jumping_clock import JumpingClock

STAND = Setpoints(A1.stand, np.zeros(12), np.full(12, 100.0), np.full(12, 3.0), np.zeros(12))
ENCODER = LowCommandEncoder(WIRE)


class Client:
    """Speaks to the emulator once a tick, from within its `stop`; ends after some ticks."""

    def __init__(self, address, ticks, damp_from):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.states, self.asked = [], 0
        self._address, self._ticks = address, ticks
        self._frame, self._damp = ENCODER.encode(STAND), ENCODER.encode(damping(3.0))
        self._damp_from = damp_from

    def __call__(self):
        try:
            while True:
                self.states.append(read_low_state(WIRE, self.socket.recv(2048)))
        except BlockingIOError:
            pass
        self.asked += 1
        frame = self._damp if self.asked > self._damp_from else self._frame
        self.socket.sendto(frame, self._address)
        return self.asked > self._ticks


def run(plant=None, ticks=300, skips=None, damp_from=10**9, client=True, truths=None, **options):
    """A run on a free port of loopback: the report and the client."""
    chosen = EmulatorOptions(port=0, **options)
    plant = plant or SimulatedRobot(A1, SimulationOptions(timestep=0.001))
    end = robot_end(chosen)
    try:
        stop = Client(end.local, ticks, damp_from=damp_from)
        counted = iter(range(10**9))
        silent = lambda: next(counted) > ticks  # noqa: E731
        clock = JumpingClock(skips)
        report = node.run(chosen, A1, plant, end, clock, stop if client else silent, truths)
        stop.socket.close()
        return report, stop
    finally:
        end.close()


def test_it_answers_every_command_and_stands():
    report, client = run(ticks=300)
    assert report["commands"] >= 300 and not report["refused"]
    ticks = [state.tick for state in client.states]
    assert len(ticks) >= 295 and (np.diff(ticks) == 1).all()
    assert_allclose(client.states[-1].q[:12], A1.stand, atol=0.1)
    assert client.states[-1].accelerometer[2] == approx(9.81, abs=1.0)
    assert (client.states[-1].foot_force > 10).all()


def test_without_a_command_it_is_silent_and_ends_at_once_when_asked_to():
    report, client = run(ticks=250, client=False)
    assert client.states == [] and report["state"] == "waiting"
    assert report["ticks"] < 300 and report["posture"] == "standing"


def test_on_stop_it_lives_on_until_it_is_damped_and_still():
    report, _ = run(ticks=300, damp_from=250)
    assert 500 < report["ticks"] < 4301
    assert report["posture"] == "lying"
    assert report["first_damping_at"] == approx(0.250, abs=0.002)


def test_a_late_emulator_makes_up_for_a_few_ticks_and_loses_the_rest():
    report, _ = run(ticks=250, client=False, skips={50: 3, 100: 40})
    assert report["caught_up"] == 3 + 5
    assert report["lost"] == 35


@pytest.mark.parametrize(
    "change, posture",
    [({}, "standing"), ({"v": np.full(18, 0.2)}, "moving"), ({"trunk_contact": True}, "lying"),
     ({"contact": np.array([1.0, 0, 0, 0])}, "lying"), ({"q": np.full(19, np.nan)}, "fallen"),
     ({"q": np.array([0, 0, 0.3, np.sin(0.6), 0, 0, np.cos(0.6), *A1.stand])}, "fallen")],
)  # fmt: skip
def test_postures(change, posture):
    truth = replace(SimulatedRobot(A1).truth(), **change)
    assert posture_of(truth, A1.stand_height) == posture
