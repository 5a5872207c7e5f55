"""What a launch follows on the bus, and shows, by the robot that it is on."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hw_bridge.operator.drivers import HELP as KEYS
from hw_bridge.operator.keyboard import raw_keys
from runtime.topics import GROUND_TRUTH, ROBOT_STATUS, Topic
from saltus.configuration.launch import LaunchConfig
from saltus.launch.drive_line import words_of
from saltus.launch.listener import Listener


def beat_of(config: LaunchConfig) -> Topic[Any]:
    """The topic whose ticks say that the launch lives."""
    return ROBOT_STATUS if config.kind.bridged else GROUND_TRUTH


def unit_of(config: LaunchConfig) -> str:
    """What the seconds of the progress are."""
    return "s run" if config.kind.bridged else "s simulated"


def progress_of(config: LaunchConfig, listener: Listener, tick: int) -> tuple[float, str]:
    """How far the run is [s], and what a person wants to know meanwhile."""
    metrics, command = listener.metrics, listener.command
    if tick < 0:
        return 0.0, f"waits at {config.emulator.address}:{config.emulator.port}" if (
            not config.kind.planned
        ) else "starting"
    way = f"{metrics.distance:.2f} m" if command is None else words_of(command)
    if listener.status is not None:
        hottest = listener.status.temperature.max()
        what = f"{listener.status.state}, {way}, motors to {hottest:.0f} degC"
        return metrics.summary()["simulated_s"], what
    seconds = max(tick, 1) * 1e-3
    rate = f"{listener.plans / seconds:.0f} plans/s"
    plans = f"{listener.plans} plans" if config.mode == "paused" else rate
    return seconds, f"{way}, {plans}" + (", THE PLANNER FAILS" if listener.planner_fails else "")


@contextmanager
def operator_keys(config: LaunchConfig) -> Iterator[None]:
    """Keys go one by one, unechoed, to the robot's bridge, or to who drives a simulated one."""
    operated = config.kind.bridged and config.hardware.operator.keyboard
    driven = config.drive.source == "keyboard"
    # None where a shell has closed it: <&-
    if not ((operated or driven) and sys.stdin and sys.stdin.isatty()):
        yield
        return
    if operated:
        print("u stand up, r run, d sit down, space or Esc STOP, Ctrl-C end", file=sys.stderr)
    if driven:
        print(f"{KEYS}; Ctrl-C ends", file=sys.stderr)
    with raw_keys(sys.stdin.fileno()):
        yield
