"""A robot of Saltus in ROS 2, driven by cmd_vel: ``ros2 launch FILE launch:=sim``."""

from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """A launch that clients drive, and its bridge; all ends when the launch does."""
    name, mode = LaunchConfiguration("launch"), LaunchConfiguration("mode")
    stack = ["saltus", "launch", name, "--drive", "client", "--mode", mode]
    return LaunchDescription([
        DeclareLaunchArgument("launch", default_value="sim", description="as of saltus launch"),
        DeclareLaunchArgument("mode", default_value="realtime", description="or paused"),
        ExecuteProcess(cmd=stack, output="screen", on_exit=Shutdown()),
        ExecuteProcess(cmd=["saltus", "bridge", "ros2"], output="screen"),
    ])  # fmt: skip
