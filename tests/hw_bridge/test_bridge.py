"""The bridge against the emulated A1, fault by fault: how it ends, and what is said about it."""

import os
import struct

import msgspec
import numpy as np
import pytest

from hw_bridge.operator.operator import Inputs, Operator
from hw_bridge.options import OperatorOptions
from hw_bridge.states import Request, RobotState
from hw_bridge.wire.layout import LOW_LEVEL, POS_STOP, SERVO, Header
from robots.robot import load_robot
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1
from tests.hw_bridge.rig import BRISK, Clock, Rig, stand_command

S = RobotState
IN_ORDER = [S.OFF, S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.SIT_DOWN, S.DAMPING, S.OFF]
STOPPED = [S.OFF, S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.DAMPING, S.OFF]


def height(simulation: SimulatedRobot) -> float:
    return float(simulation.truth().q[2])


def damps(rig: Rig) -> bool:
    """Whether the last command on the wire asks for damping alone."""
    sent = rig.wire.last
    assert sent is not None
    s = sent.setpoints
    return bool((s.q == POS_STOP).all() and not s.kp.any() and not s.tau.any() and s.kd.all())


def limp(rig: Rig) -> bool:
    """Whether the last command on the wire asks for nothing."""
    sent = rig.wire.last
    assert sent is not None
    s = sent.setpoints
    return bool((s.q == POS_STOP).all() and not (s.kp.any() or s.kd.any() or s.tau.any()))


@pytest.mark.parametrize("name", ["a1", "go1", "go2"])
def test_a_run_goes_through_all_states_in_order_and_ends_on_its_belly(name):
    robot = load_robot(name)
    rig = Rig(run_s=0.5, robot=robot).run_until(S.RUNNING)
    assert height(rig.simulation) == pytest.approx(robot.stand_height, abs=0.02)
    rig.step()
    assert len(rig.readings) == 1  # the stack sees the robot from the first tick of running on
    rig.run(12.0)
    assert rig.states == IN_ORDER
    report = rig.bridge.report()
    assert report["ended_well"] and report["cause"] == ""
    assert report["running_s"] > 0.5
    assert height(rig.simulation) < 0.11
    assert rig.firmware.worst.values().torque_demand < robot.torque_limit[0]
    assert {status.state for status in rig.statuses} == {state.value for state in IN_ORDER}


def test_before_it_is_asked_to_stand_up_no_torque_is_sent():
    rig = Rig(operator=Nobody())
    rig.run(0.3)
    assert rig.bridge.machine.state is S.OFF and limp(rig)
    sent = rig.wire.last
    assert sent is not None and sent.setpoints.mode == SERVO
    assert sent.header == rig.firmware._header  # copied from the robot's first frame


@pytest.mark.parametrize("mode", ["dry_run", "read_only"])
def test_without_torque_the_stack_runs_and_the_wire_stays_limp(mode):
    rig = Rig(mode=mode)
    for _ in range(300):
        rig.step()
        assert limp(rig)
    assert len(rig.readings) > 290
    assert rig.bridge.machine.state is S.OFF
    rig.bridge.end()
    assert rig.bridge.is_finished


FAULTS = {  # event 0.5 s into running -> posture's states, words of the cause
    "cut 50 ms": ({"kind": "cut", "for": 0.05}, "protection"),
    "cut 2 s": ({"kind": "cut", "for": 2.0}, "ms old"),
    "power cut": ({"kind": "power_cut"}, "ms old"),
    "remote": ({"kind": "remote", "for": 0.1, "buttons": ["R2"]}, "remote"),
    "driven": ({"kind": "drive_joint", "motor": "FL_hip", "torque": 60.0, "for": 0.5}, "limit"),
    "very hot": ({"kind": "heat", "motor": "RR_calf", "temperature": 66.0}, "RR calf"),
}
AT_S = 2.0  # when the rig's robot has stood for a while


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_ends_in_damping_and_off_with_its_cause(name):
    event, words = FAULTS[name]
    rig = Rig(events=[{"at": AT_S, **event}]).run(1.9)
    assert rig.bridge.machine.state is S.RUNNING, rig.states
    rig.run(6.0)
    assert rig.states == STOPPED
    assert words in rig.bridge.machine.cause
    assert not rig.bridge.report()["ended_well"]
    assert rig.firmware.worst.values().torque_demand <= 1.02 * A1.torque_limit[0]
    assert rig.statuses[-1].cause == rig.bridge.machine.cause


def test_a_hot_motor_sits_the_robot_down_in_order():
    event = {"kind": "heat", "motor": "FL_thigh", "temperature": 61.0, "at": AT_S}
    rig = Rig(events=[event]).run(12.0)
    assert rig.states == IN_ORDER
    assert "FL thigh at 60 degC" in rig.bridge.machine.cause
    assert height(rig.simulation) < 0.1


@pytest.mark.parametrize(
    ("kind", "words"),
    [("stuck_encoder", "the encoder is stuck"), ("stuck_velocity", "the speed is stuck at 0.00")],
)
def test_a_stuck_sensor_of_a_leg_that_moves_is_found(kind, words):
    rig = Rig(events=[{"kind": kind, "motor": "FR_thigh", "at": AT_S}])

    def bounce(tick, now):
        q = stand_command(0, 0.0).q + 0.15 * np.sin(6.0 * now) * np.tile([0.0, 1.0, -2.0], 4)
        return stand_command(tick, now, q=q)

    rig.command = bounce
    rig.run(8.0)
    assert rig.bridge.machine.cause.startswith(f"FR thigh: {words}")
    assert rig.states == STOPPED


def test_a_jammed_joint_is_found_once_its_motor_pushes():
    rig = Rig(events=[{"kind": "jam", "motor": "FR_calf", "at": AT_S}]).run(2.2)
    assert rig.bridge.machine.state is S.RUNNING
    rig.command = lambda tick, now: stand_command(
        tick, now, q=stand_command(0, 0.0).q + 0.35 * np.tile([0.0, 0.0, 1.0], 4)
    )
    rig.run(6.0)
    assert rig.bridge.machine.cause.startswith("FR calf is jammed: ")
    assert rig.states == STOPPED


def test_a_gap_in_our_own_sending_is_damped():
    rig = Rig().run_until(S.RUNNING).run(0.2)
    rig.clock.time += 0.04
    rig.step()
    assert damps(rig)
    assert rig.bridge.machine.cause == "no command was sent for 41 ms (limit 30)"


@pytest.mark.parametrize("field", ["q", "dq", "kp", "kd", "tau"])
def test_a_command_that_is_not_finite_is_damped_at_once(field):
    rig = Rig().run_until(S.RUNNING).run(0.2)
    value = getattr(stand_command(0, 0.0), field).copy()
    value[5] = np.nan
    rig.command = lambda tick, now: stand_command(tick, now, **{field: value})
    rig.step()
    assert damps(rig)
    rig.command = stand_command  # latched: a command that is finite again changes nothing
    rig.step()
    assert damps(rig) and rig.bridge.machine.state is S.DAMPING
    assert "not finite" in rig.bridge.machine.cause


def test_an_old_command_is_damped():
    rig = Rig().run_until(S.RUNNING).run(0.2)
    rig.command = lambda tick, now: stand_command(tick, now - 0.05)
    rig.step()
    assert damps(rig) and "50 ms old" in rig.bridge.machine.cause


def test_a_tracker_that_gives_up_is_damped_and_one_without_a_plan_sits_down():
    rig = Rig().run_until(S.RUNNING).run(0.2)
    rig.command = lambda tick, now: stand_command(tick, now, status="damp")
    rig.step()
    assert damps(rig)
    rig = Rig().run_until(S.RUNNING).run(0.2)
    since = rig.tick
    rig.command = lambda tick, now: stand_command(
        tick, now, status="stand_down",
        reason="plan_stale" if tick < since + 500 else "plan_ended",
    )  # fmt: skip
    rig.run(0.9)
    assert rig.bridge.machine.state is S.RUNNING
    rig.run(10.0)
    cause = "the tracker has no plan or no estimate to follow (plan stale)"
    assert rig.states == IN_ORDER and rig.bridge.machine.cause == cause


@pytest.mark.parametrize(("motions", "tilt", "damped"), [(True, 0.4, False), (False, 0.4, True),
                                                         (True, 0.3, True), (True, 0.0, True)])
def test_the_trunk_tilts_as_far_as_the_tracker_says_where_motions_may_be(motions, tilt, damped):
    rig = Rig(motions=motions).run_until(S.RUNNING).run(0.2)
    rig.command = lambda tick, now: stand_command(tick, now, tilt=tilt)
    for _ in range(15):
        place_rolled(rig.simulation, 1.4)
        rig.step()
    assert damps(rig) is damped
    assert ("tilted by 80 deg" in rig.bridge.machine.cause) is damped


def test_a_tilt_is_nobodys_while_the_tracker_does_not_run():
    nobody = Nobody()
    rig = Rig(motions=True, operator=nobody)
    rig.command = lambda tick, now: stand_command(tick, now, tilt=0.4)
    nobody.asks = [(Request.STAND_UP, "")]
    rig.run_until(S.READY)
    for _ in range(15):
        place_rolled(rig.simulation, 1.4)
        rig.step()
    assert damps(rig) and "limit 60" in rig.bridge.machine.cause


def place_rolled(simulation: SimulatedRobot, angle: float) -> None:
    """Hold the robot in the air, rolled [rad]."""
    q = simulation.truth().q.copy()
    q[2], q[3:7] = 0.6, [np.sin(0.5 * angle), 0.0, 0.0, np.cos(0.5 * angle)]
    q[7:] = A1.stand
    simulation.place(q, np.zeros(18))


def test_a_planner_that_never_says_a_word_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr("hw_bridge.decision.FIRST_PLAN_S", 1.5)
    rig = Rig().run_until(S.RUNNING)
    rig.command = lambda tick, now: stand_command(tick, now, status="waiting")
    rig.run(1.4)
    assert rig.bridge.machine.state is S.RUNNING
    rig.run(10.0)
    assert rig.states == IN_ORDER and "no plan" in rig.bridge.machine.cause


def test_an_error_on_the_way_to_the_wire_is_a_damping_frame(monkeypatch):
    rig = Rig().run_until(S.RUNNING).run(0.2)
    for way in ("allowance", "apply"):
        monkeypatch.setattr(rig.bridge.decision.limiter, way, raises)
    monkeypatch.setattr("hw_bridge.bridge.MOST_ERRORS", 100)
    rig.step()
    assert damps(rig) and rig.bridge.errors == 1
    assert rig.bridge.machine.state is S.DAMPING
    rig.run(0.2)  # the robot cannot even be damped in order: the run ends all the same
    assert damps(rig) and rig.bridge.is_finished and not rig.bridge.report()["ended_well"]


def test_a_stop_reaches_the_wire_in_the_tick_that_hears_of_it(monkeypatch):
    rig = Rig().run_until(S.RUNNING).run(0.2)
    monkeypatch.setattr(rig.bridge._operator, "poll", lambda *_: [(Request.STOP, "enough")])
    rig.step()
    assert damps(rig) and rig.bridge.machine.cause == "enough"


def raises(*_):
    raise RuntimeError("broken")


@pytest.mark.parametrize("mode", ["dry_run", "read_only"])
def test_an_error_sends_no_torque_where_none_is_ever_sent(mode, monkeypatch):
    rig = Rig(mode=mode).run(0.1)
    monkeypatch.setattr(rig.bridge.decision.limiter, "apply", raises)
    rig.step()
    assert rig.bridge.errors == 1 and limp(rig)
    assert rig.bridge.is_finished and not rig.bridge.report()["ended_well"]


@pytest.mark.parametrize("state", [S.STAND_UP, S.RUNNING])
def test_an_error_on_the_way_from_the_wire_damps(state, monkeypatch):
    rig = Rig().run_until(state).run(0.05)
    monkeypatch.setattr(rig.bridge._operator, "poll", raises)  # nobody could stop the robot
    rig.step()
    assert damps(rig) and rig.bridge.machine.state is S.DAMPING


@pytest.mark.parametrize("motion", ["recover", "sit_down"])
def test_an_error_on_the_way_to_the_ground_damps(motion, monkeypatch):
    rig = Rig().run_until(S.RUNNING).run(0.05)
    monkeypatch.setattr(f"hw_bridge.motion.PostureMotions.{motion}", raises)
    rig.bridge.end("the planner died")
    rig.run_until(S.DAMPING).step()
    assert rig.bridge.errors == 1
    assert damps(rig) and rig.bridge.machine.cause == "the planner died"


@pytest.mark.parametrize("state", [S.STAND_UP, S.RUNNING])
def test_closed_before_its_end_the_last_word_is_damping(state):
    rig = Rig().run_until(state).run(0.05)
    rig.bridge.close()
    assert damps(rig) and rig.wire.closed


def test_commands_are_low_level_whatever_level_the_robot_speaks_of():
    rig = Rig()
    rig.bridge.intake.header = Header(level_flag=0, robot_id=7)
    rig.run(0.01)
    sent = rig.wire.last
    assert sent is not None and sent.header == Header(LOW_LEVEL, robot_id=7)


@pytest.mark.parametrize("status", ["ok", "hold", "stand_down", "waiting"])
def test_told_to_end_it_follows_the_tracker_only_while_that_follows_a_plan(status):
    rig = Rig().run_until(S.RUNNING).run(0.3)
    rig.command = lambda tick, now: stand_command(tick, now, status=status)
    rig.bridge.end()
    rig.step()
    follows = status in ("ok", "hold")
    assert rig.bridge.machine.state is (S.RUNNING if follows else S.SIT_DOWN)
    rig.run(10.0)
    assert rig.states == IN_ORDER and rig.bridge.machine.ended_well


def test_told_to_end_it_sits_down_first(caplog):
    rig = Rig().run_until(S.RUNNING).run(0.3)
    rig.bridge.end("the planner died")
    rig.run(10.0)
    assert rig.states == IN_ORDER and rig.bridge.is_finished
    assert rig.bridge.machine.cause == "the planner died"
    assert "not level" not in caplog.text  # the IMU's word has reached the machine


class Nobody:
    """An operator who asks for what is put into `asks`."""

    def __init__(self):
        self.asks = []
        self.closed = False
        self.begun = 0

    def begin(self):
        self.begun += 1

    def poll(self, state, remote):
        asked, self.asks = self.asks, []
        return asked


def test_the_operator_is_told_once_that_the_robot_is_there():
    nobody = Nobody()
    rig = Rig(operator=nobody)
    assert nobody.begun == 1
    rig.bridge.intake.last = None
    assert not rig.bridge.connect(rig.clock, lambda: True, lambda _: None)
    assert nobody.begun == 1


@pytest.mark.parametrize("typed, states", [(b"ur", [S.OFF]), (b"u r", [S.OFF, S.DAMPING, S.OFF])])
def test_keys_typed_before_the_robot_is_there_do_not_move_it_but_stop_it(typed, states):
    reading, writing = os.pipe()
    os.write(writing, typed)
    options = OperatorOptions()
    operator = Operator(options, Inputs(msgspec.to_builtins(options), reading))
    rig = Rig(operator=operator).run(3.0)
    assert rig.states == states
    os.close(writing)
    os.close(reading)


def test_a_gamepad_that_falls_silent_sits_the_robot_down(tmp_path):
    path, clock = tmp_path / "js0", Clock()
    os.mkfifo(path)
    pad = os.open(path, os.O_RDWR)
    options = OperatorOptions(keyboard=False, script=True, gamepad=str(path))
    operator = Operator(options, Inputs(msgspec.to_builtins(options), 0), lambda: clock.time)
    rig = Rig(operator=operator)
    while rig.tick < 3000:
        clock.time = rig.clock.time
        if rig.tick % 500 == 0:
            os.write(pad, struct.pack("<IhBB", 0, rig.tick, 2, 0))
        rig.step()
    assert rig.bridge.machine.state is S.RUNNING
    while not rig.bridge.is_finished and rig.tick < 20_000:
        clock.time = rig.clock.time
        rig.step()
    assert rig.states == IN_ORDER
    assert rig.bridge.machine.cause == "the gamepad has been silent for 1 s"
    os.close(pad)


def test_joints_older_than_20_ms_are_unknown_and_damped_until_a_newer_state_comes():
    rig = Rig().run_until(S.RUNNING).run(0.2)
    rig.cut = True
    for _ in range(19):
        rig.step()
        assert not damps(rig)
    for _ in range(4):
        rig.step()
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


def test_the_watchdog_is_beaten_while_the_motors_are_on_and_has_the_frame_that_damps():
    guard = Guard()
    rig = Rig(watchdog=guard, run_s=0.3)
    rig.run(14.0)
    assert rig.states == IN_ORDER
    on = [k for k, beat in enumerate(guard.beats) if beat]
    assert guard.beats == [on[0] <= k <= on[-1] for k in range(len(guard.beats))]
    assert guard.frame == rig.bridge._stop_frame
    rig.bridge.close()
    assert guard.ended == [True]


def test_while_the_watchdog_damps_nothing_else_is_sent_and_the_run_ends():
    guard = Guard()
    rig = Rig(watchdog=guard).run_until(S.RUNNING).run(0.2)
    guard.latched = True
    for _ in range(3):
        rig.step()
        assert damps(rig)
    rig.run(6.0)
    assert rig.states == STOPPED and "watchdog" in rig.bridge.machine.cause
    assert damps(rig)  # where only off would follow


def test_a_bridge_that_ends_while_the_motors_are_on_leaves_the_robot_to_the_watchdog():
    guard = Guard()
    rig = Rig(watchdog=guard).run_until(S.RUNNING)
    rig.bridge.close()
    assert guard.ended == [False]


@pytest.mark.parametrize("state", [S.DAMPING, S.STAND_UP, S.READY, S.RUNNING, S.SIT_DOWN])
def test_a_stop_reaches_the_wire_in_the_tick_it_is_seen(state):
    nobody = Nobody()
    rig = Rig(operator=nobody)
    steps = {S.OFF: Request.STAND_UP, S.READY: Request.RUN, S.RUNNING: Request.SIT_DOWN}
    while rig.bridge.machine.state is not state:
        request = steps.get(rig.bridge.machine.state)
        nobody.asks = [] if request is None else [(request, "")]
        rig.step()
        assert rig.tick < 10_000
    nobody.asks = [(Request.STOP, "the button")]
    rig.step()
    assert damps(rig)
    assert rig.bridge.machine.cause == "the button"


def test_a_robot_that_leans_is_not_stood_up():
    nobody = Nobody()
    rig = Rig(operator=nobody)
    q, v = rig.simulation.truth().q.copy(), np.zeros(18)
    q[2], q[3:7] = 0.4, [np.sin(0.4), 0.0, 0.0, np.cos(0.4)]  # rolled by 0.8 rad, in the air
    rig.simulation.place(q, v)
    rig.run(0.02)
    nobody.asks = [(Request.STAND_UP, "")]
    rig.run(0.1)
    assert rig.bridge.is_finished and "on its belly" in rig.bridge.machine.cause
    assert S.STAND_UP not in rig.states


@pytest.mark.parametrize(("sensor", "factor", "words"), [
    ("linear_acceleration_imu", 1.0 / 9.81, "accelerometer reads 1."),
    ("angular_velocity_imu", np.degrees(1.0), "gyroscope reads"),
])  # fmt: skip
def test_a_robot_whose_imu_has_other_units_does_not_run(monkeypatch, sensor, factor, words):
    rig = Rig()
    read = rig.simulation.reading

    def other_units():
        reading = read()
        return msgspec.structs.replace(reading, **{sensor: factor * getattr(reading, sensor)})

    monkeypatch.setattr(rig.simulation, "reading", other_units)
    rig.run(20.0)
    assert rig.bridge.is_finished and rig.bridge.machine.cause.startswith(words)
    assert S.RUNNING not in rig.states and rig.states[-1] is S.OFF


def test_the_key_for_standing_up_means_nothing_to_a_robot_that_walks_and_leans():
    nobody = Nobody()
    rig = Rig(motion=msgspec.structs.replace(BRISK, lean_max=1e-9), operator=nobody)
    rig.bridge.machine.request(Request.STAND_UP, "")
    rig.run_until(S.READY)
    nobody.asks = [(Request.STAND_UP, "")]
    rig.run(0.1)
    assert rig.bridge.machine.state is S.READY and rig.bridge.machine.refused == 1


def test_what_cannot_be_told_or_sent_is_counted_and_stops_nothing(monkeypatch):
    rig = Rig().run_until(S.RUNNING)
    monkeypatch.setattr(rig.bridge._notifications, "_sent", raises)
    rig.run(0.01)
    assert rig.bridge.machine.state is S.RUNNING and rig.bridge.errors == 0
    assert rig.bridge.report()["untold"] == 10
    monkeypatch.setattr(rig.wire, "send", lambda frame: False)
    rig.run(0.01)
    assert rig.bridge.report()["unsent"] == 10


def test_strangers_and_replays_change_nothing():
    rig = Rig().run_until(S.RUNNING)
    old = rig.wire.inbox[-1].data
    for k in range(300):
        rig.wire.deliver(old)  # a replay
        rig.wire.deliver(old, ("192.168.123.99", 8007))
        rig.wire.deliver(b"noise %d" % k)
        rig.step()
    assert rig.bridge.machine.state is S.RUNNING
    counts = rig.bridge.intake.counts
    assert counts["wrong_sender"] == counts["length"] == 300
    assert counts["old"] + counts["duplicate"] >= 299


def test_closing_lets_go_of_the_link():
    rig = Rig()
    rig.bridge.close()
    rig.bridge.close()
    assert rig.wire.closed
