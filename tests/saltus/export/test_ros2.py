"""The bridge to ROS 2, with a stand-in for rclpy and for the fields of its messages."""

import runpy
import sys
from contextlib import ExitStack
from operator import attrgetter
from threading import Timer
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
import yaml
from pytest import approx

from robots.conventions import JOINT_NAMES
from runtime.bus import Bus
from runtime.messages import SensorReading
from runtime.topics import COMMAND, SENSOR_READING, STATE_ESTIMATE
from saltus.cli.main import run
from saltus.common.files import data_folder
from saltus.export.ros2 import TYPES
from saltus.launch.announcement import running_launches
from tests.a1 import estimate
from tests.saltus.announced import announced


def kind(names="", default=float, **fields):
    """A type of message that has these fields alone."""
    fields |= dict.fromkeys(names.split(), default)

    def begin(self, **given):
        for name, default in fields.items():
            setattr(self, name, given.pop(name, None) or default())
        assert not given

    return type("Message", (), {"__slots__": tuple(fields), "__init__": begin})


VECTOR, QUATERNION = kind("x y z"), kind("x y z w")
HEADER, TWIST = kind("stamp", frame_id=str), kind("linear angular", VECTOR)
MESSAGES = {
    "JointState": kind("name position velocity effort", list, header=HEADER),
    "Imu": kind(
        "angular_velocity linear_acceleration", VECTOR, header=HEADER, orientation=QUATERNION
    ),
    "Odometry": kind(
        header=HEADER, child_frame_id=str, twist=kind(twist=TWIST),
        pose=kind(pose=kind(position=VECTOR, orientation=QUATERNION)),
    ),
    "TransformStamped": kind(
        header=HEADER, child_frame_id=str,
        transform=kind(translation=VECTOR, rotation=QUATERNION),
    ),
    "TFMessage": kind(transforms=list), "Float64MultiArray": kind(data=list), "Twist": TWIST,
}  # fmt: skip
# Topics, and what their messages say of the reading and the estimate below.
HEARD = """
imu: {header.frame_id: imu_link, header.stamp: 7, orientation.w: 4, angular_velocity.x: 5,
    linear_acceleration.z: 10}
odom: {header.frame_id: odom, child_frame_id: base_link, pose.pose.position.z: 3,
    pose.pose.orientation.x: 4, pose.pose.orientation.w: 7, twist.twist.linear.x: -1,
    twist.twist.angular.z: -6}
tf: {header.frame_id: odom, child_frame_id: base_link, transform.translation.x: 1,
    transform.rotation.w: 7}
"""


class Node:
    """A node whose published messages are kept."""

    def __init__(self):
        self.heard = {}
        self.drive = None

    def create_publisher(self, kind, topic, depth):
        def publish(message):
            assert isinstance(message, kind)
            self.heard[topic] = message

        return SimpleNamespace(publish=publish)

    def create_subscription(self, kind, topic, callback, depth):
        assert kind is TWIST and topic == "cmd_vel"
        self.drive = callback

    def create_timer(self, period, callback):
        assert period == approx(0.01)
        self.tick = callback

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: 7.0))

    def destroy_node(self):
        pass


@pytest.fixture
def launch(temporary):
    """A launch that clients drive announces itself; nothing else does."""
    with announced(temporary, "a", "client") as announcer:
        announcer.update(is_moving=True)
        yield announcer


def test_states_go_to_ros_and_cmd_vel_to_the_launch(launch, monkeypatch, printed):
    node, numbers = Node(), np.arange(1.0, 20.0)
    reading = SensorReading(
        tick=1, time=0.0, quaternion_imu_in_world=numbers[:4], angular_velocity_imu=numbers[4:7],
        linear_acceleration_imu=numbers[7:10], joint_position=numbers[:12],
        joint_velocity=numbers[1:13], joint_torque=numbers[2:14], foot_force=numbers[:4],
    )  # fmt: skip
    state = estimate(1, q=numbers, v=-numbers[:18], contact=numbers[:4] / 4.0)
    for name, package in TYPES.items():
        module = sys.modules.get(f"{package}.msg") or ModuleType(package)
        monkeypatch.setitem(sys.modules, package, module)
        monkeypatch.setitem(sys.modules, f"{package}.msg", module)
        setattr(module, name, MESSAGES[name])
    with Bus(running_launches()[0].endpoints) as bus:
        readings, estimates = bus.publisher(SENSOR_READING), bus.publisher(STATE_ESTIMATE)
        commands = bus.subscriber(COMMAND)
        obeyed = []

        def spin_once(_, timeout_sec):
            readings.send(reading)
            estimates.send(state)
            node.tick()
            node.drive(TWIST(linear=VECTOR(x=0.3, y=-0.1), angular=VECTOR(z=0.5)))
            if (command := commands.wait(0.01)) is not None:
                obeyed.append(command)
            if obeyed and len(node.heard) == 6:
                launch.__exit__()

        rclpy = SimpleNamespace(
            init=lambda **_: None, create_node=lambda name: node, spin_once=spin_once,
            shutdown=lambda: None,
            signals=SimpleNamespace(SignalHandlerOptions=SimpleNamespace(NO=0)),
        )  # fmt: skip
        monkeypatch.setitem(sys.modules, "rclpy", rclpy)
        counts = printed("bridge", "ros2", "--rate", "100")
    command = obeyed[0]
    assert (command.forward, command.left, command.yaw_rate) == (0.3, -0.1, 0.5)
    assert [each.sequence for each in obeyed] == sorted({each.sequence for each in obeyed})
    heard = node.heard
    (heard["tf"],) = heard["/tf"].transforms
    for topic, fields in yaml.safe_load(HEARD).items():
        assert {field: attrgetter(field)(heard[topic]) for field in fields} == fields
    joints = heard["joint_states"]
    assert joints.name == list(JOINT_NAMES) and joints.effort == numbers[2:14].tolist()
    assert heard["foot_contacts"].data[3] == 1.0 and heard["foot_forces"].data[3] == 4.0
    assert min(counts["published"].values()) >= 1 and counts["commands"] >= len(obeyed)


def test_the_bridge_waits_for_a_launch(temporary, monkeypatch, capsys):
    """With a launch it goes on, here to where ROS is missing."""
    monkeypatch.setitem(sys.modules, "sensor_msgs.msg", None)
    with ExitStack() as stack:
        begin = Timer(0.5, lambda: stack.enter_context(announced(temporary, "a", "client")))
        begin.start()
        assert run(["bridge", "ros2"]) == 2 and not begin.is_alive()
    waiting, refusal = capsys.readouterr().err.strip().splitlines()
    assert "saltus launch" in waiting and "setup.bash" in refusal


def test_the_launch_file_starts_commands_that_exist(monkeypatch):
    ros, commands = MagicMock(), []
    ros.actions.ExecuteProcess = lambda cmd, **_: commands.append(cmd)
    ros.substitutions.LaunchConfiguration = {"launch": "sim", "mode": "realtime"}.__getitem__
    for name, module in {"launch": ros, "launch.actions": ros.actions,
                         "launch.substitutions": ros.substitutions}.items():  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    runpy.run_path(str(data_folder("launch") / "ros2.launch.py"))["generate_launch_description"]()
    assert [(name, run([*words, "--help"])) for name, *words in commands] == [("saltus", 0)] * 2
