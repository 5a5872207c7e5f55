"""A bridge to ROS 2: publishes the state of a launch, and drives its robot by ``cmd_vel``.

Axes and frames are those of REP 103 and REP 105 (`odom`, `base_link`), the IMU's those of REP 145.
`rclpy` and the types of messages are those of the user's own installation of ROS.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from robots.conventions import JOINT_NAMES
from runtime.bus import Bus, EndpointInUse
from runtime.messages import Command, SensorReading, StateEstimate
from runtime.topics import COMMAND, SENSOR_READING, STATE_ESTIMATE
from saltus.common.console import say
from saltus.common.errors import refusing
from saltus.launch.announcement import RunningLaunch

ALIVE_S = 0.1  # longest time between two looks whether the launch lives
QUEUE = 10  # messages that ROS keeps for a slow subscriber
TYPES = {
    "JointState": "sensor_msgs", "Imu": "sensor_msgs", "Odometry": "nav_msgs",
    "TFMessage": "tf2_msgs", "TransformStamped": "geometry_msgs", "Twist": "geometry_msgs",
    "Float64MultiArray": "std_msgs",
}  # fmt: skip
TOPICS = {
    "joint_states": "JointState", "imu": "Imu", "odom": "Odometry", "/tf": "TFMessage",
    "foot_contacts": "Float64MultiArray", "foot_forces": "Float64MultiArray",
}  # fmt: skip


def load_ros() -> tuple[Any, dict[str, Any]]:
    """`rclpy`, and the types of messages by their names.

    Raises:
        BadRequest: this Python does not find them.
    """
    remedy = (
        "source your installation of ROS 2 first, such as /opt/ros/jazzy/setup.bash, and run "
        "Saltus in the Python that it is made for"
    )
    with refusing("the bridge needs ROS 2", ImportError, remedy=remedy):
        types = {name: getattr(import_module(f"{package}.msg"), name)
                 for name, package in TYPES.items()}  # fmt: skip
        return import_module("rclpy"), types


class RosBridge:
    """Publishes the newest reading and estimate of a launch, and sends on commands.

    Attributes:
        published: number of messages by topic of ROS.
        commands: number of commands that were sent on.
    """

    def __init__(self, node: Any, types: dict[str, Any], launch: RunningLaunch, bus: Bus) -> None:
        """Make the topics of the `node`, and bind the launch's commands where clients drive it.

        The launch must move: before, its processes take a subscriber for one of their own.
        """
        self._types, self._clock = types, node.get_clock()
        self._publishers = {topic: node.create_publisher(types[kind], topic, QUEUE)
                            for topic, kind in TOPICS.items()}  # fmt: skip
        self.published, self.commands = dict.fromkeys(TOPICS, 0), 0
        self._readings = bus.subscriber(SENSOR_READING)
        self._estimates = bus.subscriber(STATE_ESTIMATE)
        if launch.config.drive.source != "client":
            say("cmd_vel is not followed: the launch is not driven by a client (--drive client)")
            return
        try:
            self._send = bus.publisher(COMMAND).send
        except EndpointInUse:
            say("cmd_vel is not followed: the launch has a driver already")
            return
        node.create_subscription(types["Twist"], "cmd_vel", self.drive, QUEUE)

    def drive(self, twist: Any) -> None:
        """Send a Twist on: x forward, y to the left, z turns to the left."""
        self.commands += 1
        self._send(Command(
            sequence=self.commands, time=time.monotonic(), forward=twist.linear.x,
            left=twist.linear.y, yaw_rate=twist.angular.z,
        ))  # fmt: skip

    def publish(self) -> None:
        """Publish what is new since the last call; never blocks."""
        if (reading := self._readings.newest()) is not None:
            self._publish_reading(reading)
        estimate = self._estimates.newest()
        if estimate is not None and estimate.status in ("ok", "degraded"):
            self._publish_estimate(estimate)

    def _publish_reading(self, reading: SensorReading) -> None:
        joints = self._stamped("JointState")
        joints.name = list(JOINT_NAMES)
        joints.position = reading.joint_position.tolist()
        joints.velocity = reading.joint_velocity.tolist()
        joints.effort = reading.joint_torque.tolist()
        imu = self._stamped("Imu", "imu_link")  # covariances of zeros are unknown ones
        _set(imu.orientation, reading.quaternion_imu_in_world)
        _set(imu.angular_velocity, reading.angular_velocity_imu)
        _set(imu.linear_acceleration, reading.linear_acceleration_imu)
        self._send_out(joint_states=joints, imu=imu, foot_forces=self._array(reading.foot_force))

    def _publish_estimate(self, estimate: StateEstimate) -> None:
        odometry, transform = (
            self._stamped("Odometry", "odom"),
            self._stamped("TransformStamped", "odom"),
        )
        pose, twist = odometry.pose.pose, odometry.twist.twist
        for position, rotation in (
            (pose.position, pose.orientation),
            (transform.transform.translation, transform.transform.rotation),
        ):
            _set(position, estimate.q[:3])
            _set(rotation, estimate.q[3:7])
        _set(twist.linear, estimate.v[:3])  # in base axes, as REP 105 has it
        _set(twist.angular, estimate.v[3:6])
        odometry.child_frame_id = transform.child_frame_id = "base_link"
        frames = self._types["TFMessage"](transforms=[transform])
        contacts = self._array(estimate.contact)
        self._send_out(**{"odom": odometry, "/tf": frames, "foot_contacts": contacts})

    def _stamped(self, kind: str, frame: str = "") -> Any:
        """An empty message of the present, by the clock of ROS."""
        message = self._types[kind]()
        message.header.stamp, message.header.frame_id = self._clock.now().to_msg(), frame
        return message

    def _array(self, values: Any) -> Any:
        """Four numbers in the order FR, FL, RR, RL."""
        return self._types["Float64MultiArray"](data=values.tolist())

    def _send_out(self, **messages: Any) -> None:
        for topic, message in messages.items():
            self._publishers[topic].publish(message)
            self.published[topic] += 1


def _set(target: Any, values: Any) -> None:
    """Write x, y, z and, of a quaternion, w."""
    for name, value in zip("xyzw", values.tolist(), strict=False):
        setattr(target, name, value)


def bridge(launch: RunningLaunch, rate: float, stop: Callable[[], bool]) -> dict[str, Any]:
    """Run the bridge until the launch ends, or `stop()`.

    Args:
        launch: that is bridged, once it moves.
        rate: of each topic, at most [Hz].
        stop: ends it.

    Returns:
        `published` by topic, and `commands`.

    Raises:
        BadRequest: there is no ROS.
    """
    ros, types = load_ros()
    while not (stop() or launch.is_moving) and launch.alive:
        time.sleep(ALIVE_S)
    ros.init(args=[], signal_handler_options=ros.signals.SignalHandlerOptions.NO)
    try:
        node = ros.create_node("saltus")
        with Bus(launch.endpoints) as bus:
            made = RosBridge(node, types, launch, bus)
            node.create_timer(1.0 / rate, made.publish)
            while not stop() and launch.alive:
                ros.spin_once(node, timeout_sec=ALIVE_S)
        node.destroy_node()
    finally:
        ros.shutdown()
    return {"published": made.published, "commands": made.commands}
