"""The bridge against the emulated robot, fault by fault: how it ends, and what it names."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose
from pytest import approx

from hw_bridge.states import Request, RobotState
from hw_bridge.wire.layout import POS_STOP
from robots.robot import load_robot
from tests.a1 import A1
from tests.hw_bridge.rig import Rig, stand_command
from tests.hw_bridge.test_motion import SPRAWLED

S = RobotState
IN_ORDER = [S.OFF, S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.SIT_DOWN, S.DAMPING, S.OFF]
STOPPED = [S.OFF, S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.DAMPING, S.OFF]
AT_S = 2.0  # when the rig's robot has stood for a while


def damps(rig, kd=True):
    """Whether the last command on the wire asks for damping alone, or, without kd, for nothing."""
    s = rig.wire.last.setpoints
    passive = (s.q == POS_STOP).all() and not s.kp.any() and not s.tau.any()
    return bool(passive and (s.kd.all() if kd else not s.kd.any()))


def running(**options):
    return Rig(**options).run_until(S.RUNNING).run(0.2)


def says(**changes):
    """A tracker that stands but for these fields of its command."""
    return lambda tick, now: stand_command(tick, now, **changes)


def roll(rig, angle):
    """Hold the robot in the air, rolled [rad]."""
    q = rig.simulation.truth().q.copy()
    q[2], q[3:7] = 0.6, [np.sin(0.5 * angle), 0.0, 0.0, np.cos(0.5 * angle)]
    q[7:] = A1.stand
    rig.simulation.place(q, np.zeros(18))


class Nobody:
    """An operator who asks for what is put into `asks`."""

    def __init__(self, raises=False):
        self.asks, self.raises = [], raises

    def begin(self):
        pass

    def poll(self, state, remote):
        if self.raises:
            raise RuntimeError("broken")
        asked, self.asks = self.asks, []
        return asked


@pytest.mark.parametrize("name", ["a1", "go1", "go2"])
def test_a_run_goes_through_all_states_in_order_and_ends_on_its_belly(name):
    robot = load_robot(name)
    rig = Rig(run_s=0.5, robot=robot).run_until(S.RUNNING)
    assert rig.simulation.truth().q[2] == approx(robot.stand_height, abs=0.02)
    rig.step()
    assert len(rig.readings) == 1  # the stack sees the robot from the first tick of running on
    rig.run(12.0)
    report = rig.bridge.report()
    assert rig.states == IN_ORDER and report["ended_well"] and report["cause"] == ""
    assert report["running_s"] > 0.5 and rig.simulation.truth().q[2] < 0.11
    assert rig.firmware.worst["torque_demand"] < robot.torque_limit[0]
    assert {status.state for status in rig.statuses} == {state.value for state in IN_ORDER}


@pytest.mark.parametrize("options", [{"mode": "dry_run"}, {"mode": "read_only"},
                                     {"operator": Nobody()}])  # fmt: skip
def test_without_torque_the_wire_stays_limp(options):
    rig = Rig(**options)
    for _ in range(300):
        rig.step()
        assert damps(rig, kd=False)
    assert rig.bridge.machine.state is S.OFF
    assert len(rig.readings) > 290 or "operator" in options


def bounces(joints, size, rate):
    """A tracker that swings these joints of each leg, or moves them for good at a rate of 0."""
    way = size * np.tile(joints, 4)
    return lambda tick, now: stand_command(
        tick, now, q=A1.stand + (np.sin(rate * now) if rate else 1.0) * way
    )


def test_a_gap_in_our_own_sending_damps():
    rig = running()
    for _ in range(35):
        rig.robot_lives()
    rig.step()
    assert rig.bridge.machine.cause == "no command was sent for 36 ms (limit 30)"
    assert damps(rig)


STANDS = says()
KNEES = bounces([0.0, 1.0, -2.0], 0.15, 6.0)
FAULTS = {  # an event 0.5 s into running; the tracker then; states, and what the cause names
    "cut 50 ms": ({"kind": "cut", "for": 0.05}, STANDS, STOPPED, "protection"),
    "cut 2 s": ({"kind": "cut", "for": 2.0}, STANDS, STOPPED, "ms old"),
    "power cut": ({"kind": "power_cut"}, STANDS, STOPPED, "ms old"),
    "remote": ({"kind": "remote", "for": 0.1, "buttons": ["R2"]}, STANDS, STOPPED, "remote"),
    "driven": ({"kind": "drive_joint", "motor": "FL_hip", "torque": 60.0, "for": 0.5}, STANDS,
               STOPPED, "limit"),
    "very hot": ({"kind": "heat", "motor": "RR_calf", "temperature": 66.0}, STANDS, STOPPED,
                 "RR calf"),
    "hot": ({"kind": "heat", "motor": "FL_thigh", "temperature": 61.0}, STANDS, IN_ORDER,
            "FL thigh at 6"),
    "stuck encoder": ({"kind": "stuck_encoder", "motor": "FR_thigh"}, KNEES, STOPPED,
                      "FR thigh: the encoder"),
    "stuck speed": ({"kind": "stuck_velocity", "motor": "FR_thigh"}, KNEES, STOPPED,
                    "FR thigh: the speed"),
    "jam": ({"kind": "jam", "motor": "FR_calf"}, bounces([0.0, 0.0, 1.0], 0.35, 0.0), STOPPED,
            "FR calf is jammed"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_ends_the_run_with_its_cause(name):
    event, tracker, states, words = FAULTS[name]
    rig = Rig(events=[{"at": AT_S, **event}]).run(1.9)
    assert rig.bridge.machine.state is S.RUNNING, rig.states
    rig.run(0.3).command = tracker
    rig.run(10.0)
    assert rig.states == states
    assert words in rig.bridge.machine.cause == rig.statuses[-1].cause
    assert not rig.bridge.report()["ended_well"]
    assert rig.firmware.worst["torque_demand"] <= 1.02 * A1.torque_limit[0]


def not_finite(field):
    return says(**{field: np.where(np.arange(12) == 5, np.nan, 1.0)})


TRACKERS = {
    **{f"{name} is NaN": (not_finite(name), "finite") for name in ("q", "dq", "kp", "kd", "tau")},
    "old": (lambda tick, now: stand_command(tick, now - 0.05), "50 ms"),
    "damp": (says(status="damp"), ""),
    "late": (STANDS, "41 ms"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACKERS)
def test_what_a_tracker_may_not_send_is_damped_at_once_and_for_good(name):
    command, words = TRACKERS[name]
    rig = running()
    rig.clock.time += 0.04 * (name == "late")
    rig.command = command
    rig.step()
    assert damps(rig)
    rig.command = STANDS
    rig.step()
    assert damps(rig) and rig.bridge.machine.state is S.DAMPING
    assert words in rig.bridge.machine.cause


@pytest.mark.parametrize("status, after", [("stand_down", 1.0), ("waiting", 1.5)])
def test_a_tracker_without_a_plan_sits_down(monkeypatch, status, after):
    monkeypatch.setattr("hw_bridge.decision.FIRST_PLAN_S", 1.5)  # of 10 s
    rig = running()
    rig.command = says(status=status, reason="plan_stale")
    rig.run(after - 0.3)
    assert rig.bridge.machine.state is S.RUNNING
    rig.run(12.0)
    assert rig.states == IN_ORDER and "no plan" in rig.bridge.machine.cause


@pytest.mark.parametrize(
    "motions, tilt, damped",
    [(True, 0.4, False), (False, 0.4, True), (True, 0.3, True), (True, 0.0, True)],
)
def test_the_trunk_tilts_as_far_as_the_tracker_says_where_motions_may_be(motions, tilt, damped):
    rig = running(motions=motions)
    rig.command = says(tilt=tilt)
    for _ in range(15):
        roll(rig, 1.4)
        rig.step()
    assert damps(rig) is damped
    assert ("80 deg" in rig.bridge.machine.cause) is damped


@pytest.mark.parametrize("state", [S.STAND_UP, S.RUNNING])
def test_an_error_inside_damps(state):
    nobody = Nobody()
    rig = Rig(operator=nobody)
    drive_to(rig, nobody, state)
    nobody.raises = True  # nobody could stop the robot
    rig.step()
    assert damps(rig) and rig.bridge.errors == 1 and rig.bridge.machine.state is S.DAMPING


def test_an_error_sends_no_torque_where_none_is_ever_sent():
    nobody = Nobody()
    rig = Rig(operator=nobody, mode="dry_run").run(0.1)
    nobody.raises = True
    rig.step()
    assert rig.bridge.errors == 1 and damps(rig, kd=False)
    assert rig.bridge.is_finished and not rig.bridge.report()["ended_well"]


@pytest.mark.parametrize("status", ["ok", "stand_down"])
def test_told_to_end_it_follows_the_tracker_only_while_that_follows_a_plan(status):
    rig = running()
    rig.command = says(status=status)
    rig.bridge.end("the planner died")
    rig.step()
    assert rig.bridge.machine.state is (S.RUNNING if status == "ok" else S.SIT_DOWN)
    rig.run(10.0)
    assert rig.states == IN_ORDER and rig.bridge.machine.cause == "the planner died"


def test_joints_older_than_20_ms_are_damped_until_a_newer_state_comes():
    rig = running()
    rig.cut = True
    for _ in range(19):
        rig.step()
        assert not damps(rig)
    rig.run(0.004)
    assert damps(rig) and rig.bridge.machine.state is S.RUNNING
    rig.cut = False
    rig.run(0.01)
    assert not damps(rig) and rig.bridge.machine.state is S.RUNNING


class Guard:
    """A watchdog that latches when the test wants it to."""

    def __init__(self):
        self.latched, self.frame, self.beats, self.ended = False, b"", [], []
        self.set_frame = lambda frame: setattr(self, "frame", frame)
        self.beat, self.close = self.beats.append, self.ended.append


def test_the_watchdog_is_beaten_while_the_motors_are_on():
    guard = Guard()
    rig = Rig(watchdog=guard, run_s=0.3).run(14.0)
    assert rig.states == IN_ORDER and guard.frame
    on = [k for k, beat in enumerate(guard.beats) if beat]
    assert guard.beats == [on[0] <= k <= on[-1] for k in range(len(guard.beats))]
    rig.bridge.close()
    assert guard.ended == [True]


def test_the_watchdog_is_beaten_before_what_may_be_slow():
    guard, published = Guard(), []
    rig = Rig(watchdog=guard)
    guard.beat = lambda on: published.append((len(rig.commands_sent), len(rig.statuses)))
    rig.run(1.0)  # its last tick publishes command and status
    assert published[-1] == (len(rig.commands_sent) - 1, len(rig.statuses) - 1)


def test_while_the_watchdog_damps_nothing_else_is_sent_and_the_run_ends():
    guard = Guard()
    rig = running(watchdog=guard)
    guard.latched = True
    for _ in range(3):
        rig.step()
        assert damps(rig)
    rig.run(6.0)
    assert rig.states == STOPPED and "watchdog" in rig.bridge.machine.cause
    assert damps(rig)  # where only off would follow


@pytest.mark.parametrize("state", [S.STAND_UP, S.RUNNING])
def test_closed_before_its_end_it_damps_and_leaves_the_robot_to_the_watchdog(state):
    guard = Guard()
    rig = Rig(watchdog=guard).run_until(state).run(0.05)
    rig.bridge.close()
    rig.bridge.close()
    assert damps(rig) and rig.wire.closed and guard.ended[0] is False


def drive_to(rig, nobody, state):
    """Let the operator ask for each step until the machine is in `state`."""
    steps = {S.OFF: Request.STAND_UP, S.READY: Request.RUN, S.RUNNING: Request.SIT_DOWN}
    while rig.bridge.machine.state is not state:
        request = steps.get(rig.bridge.machine.state)
        nobody.asks = [] if request is None else [(request, "")]
        rig.step()
        assert rig.tick < 10_000


@pytest.mark.parametrize("state", [S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.SIT_DOWN])
def test_a_stop_reaches_the_wire_in_the_tick_it_is_seen(state):
    nobody = Nobody()
    rig = Rig(operator=nobody)
    drive_to(rig, nobody, state)
    nobody.asks = [(Request.STOP, "the button")]
    rig.step()
    assert damps(rig) and rig.bridge.machine.cause == "the button"


def test_a_robot_that_leans_is_not_stood_up():
    nobody = Nobody()
    rig = Rig(operator=nobody)
    roll(rig, 0.8)
    rig.run(0.02)
    nobody.asks = [(Request.STAND_UP, "")]
    rig.run(0.1)
    assert rig.bridge.is_finished and "belly" in rig.bridge.machine.cause
    assert S.STAND_UP not in rig.states


@pytest.mark.parametrize("sensor, factor, name", [
    ("linear_acceleration_imu", 1.0 / 9.81, "accelerometer"),
    ("angular_velocity_imu", np.degrees(1.0), "gyroscope"),
])  # fmt: skip
def test_a_robot_whose_imu_has_other_units_does_not_run(monkeypatch, sensor, factor, name):
    rig = Rig()
    read = rig.simulation.reading

    def other_units():
        reading = read()
        return replace(reading, **{sensor: factor * getattr(reading, sensor)})

    monkeypatch.setattr(rig.simulation, "reading", other_units)
    rig.run(20.0)
    assert rig.bridge.is_finished and name in rig.bridge.machine.cause
    assert S.RUNNING not in rig.states and rig.states[-1] is S.OFF


def test_what_cannot_be_sent_is_counted_and_stops_nothing(monkeypatch):
    rig = running()
    monkeypatch.setattr(rig.wire, "send", lambda frame: False)
    rig.run(0.01)
    assert rig.bridge.machine.state is S.RUNNING and rig.bridge.report()["unsent"] == 10


def test_it_rises_however_its_legs_lie():
    nobody = Nobody()
    rig = Rig(operator=nobody)
    rig.simulation.place(np.array([0, 0, 0.2, 0, 0, 0, 1, *SPRAWLED]), np.zeros(18))
    rig.run(1.0)
    drive_to(rig, nobody, S.READY)
    rig.run(0.2)
    q = rig.simulation.truth().q
    assert_allclose(q[7:], A1.stand, atol=0.03)
    assert q[2] == approx(A1.stand_height, abs=0.01) and abs(q[3:5]).max() < 0.015
    assert rig.firmware.worst["torque_demand"] < 20.0
