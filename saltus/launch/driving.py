"""Carries what a keyboard or a gamepad drives to the topic of commands."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.options import DriveOptions
from hw_bridge.operator.driving import (
    CommandBounds,
    Device,
    KeyDriver,
    Pacer,
    Publish,
    RemoteDriver,
    Steering,
)
from runtime.bus import Bus
from runtime.messages import Command
from runtime.topics import COMMAND
from saltus.configuration.launch import LaunchConfig

if TYPE_CHECKING:
    from robots.robot import Robot


LAST_WORDS_S = 0.1  # in which the last command may leave


def drive(
    device: Device, publish: Publish, over: Callable[[], bool],
    show: Callable[[Command | None], None] = lambda command: None,
) -> Pacer:  # fmt: skip
    """Publish the device's commands until it is over, or nothing can come any more.

    A key or a stick is waited for, so that its command leaves at once. At the end of a device that
    still works the robot is asked to stand; one that is lost falls silent.

    Args:
        device: is polled.
        publish: takes each command.
        over: ends it.
        show: takes the last command after each look.
    """
    pacer = Pacer(device.driver, publish)
    waiting = select.poll()
    waiting.register(device.fileno(), select.POLLIN)
    while not over():
        waiting.poll(1e3 * pacer.wait(time.monotonic()))
        device.poll()
        if device.loss:
            return pacer
        pacer.tick(time.monotonic())
        show(pacer.last)
    pacer.end(time.monotonic())
    return pacer


def bounds_of(options: DriveOptions, robot: Robot) -> CommandBounds:
    """The fastest that any gait may go, which keys reach."""
    gaits = (options.walk, options.trot, options.bound)
    forward, left, yaw_rate = (
        max(getattr(gait, name) for gait in gaits) for name in ("forward", "left", "yaw_rate")
    )
    return CommandBounds(forward, left, yaw_rate, options.height, robot.stand_height)


def make_steering(config: LaunchConfig, bus: Bus) -> Steering | None:
    """The driver in the tracker's process: the robot's remote, or the operator's keyboard."""
    if config.drive.source == "remote":
        driver = RemoteDriver(config.sources.sticks)
    elif config.drive.source == "keyboard":
        driver = KeyDriver(config.sources.keys, bounds_of(config.drive, config.robot_model))
    else:
        return None
    return Steering(driver, bus.publisher(COMMAND).send)


def words_of(command: Command) -> str:
    """A command for people: gait, forward and left, turn, and the height where one is asked for."""
    height = "" if command.height is None else f" {command.height:.2f} m"
    velocity = f"{command.forward:+.2f} {command.left:+.2f} m/s {command.yaw_rate:+.2f} rad/s"
    return f"{command.gait:5} {velocity}{height}"
