"""Plays the events of one run, tick by tick."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.emulator.events import (
    Cut,
    DriveJoint,
    Event,
    Heat,
    Jam,
    PowerCut,
    RemoteHold,
    StuckEncoder,
    StuckVelocity,
    VelocityPush,
    motor_index,
)

Array = NDArray[np.float64]


class Disturbance(NamedTuple):
    """What the events make of one tick.

    Attributes:
        is_cut: no frame passes.
        stuck: (12) whether the motor's encoder is stuck.
        told_speed: (12) that the motor tells, whatever is true [rad/s]; NaN: the true one.
        jammed: (12) whether the joint is jammed.
        heat: motors and their new temperatures [deg C], of this tick only.
        joint_torque: (12) from outside [N m].
        buttons, sticks: held on the remote; of a stick held twice, the later event's.
        push: (3) added to the trunk's velocity at this tick [m/s, world].
        power_cut: the battery is gone.
    """

    is_cut: bool
    stuck: NDArray[np.bool_]
    told_speed: Array
    jammed: NDArray[np.bool_]
    heat: tuple[tuple[int, float], ...]
    joint_torque: Array
    buttons: frozenset[str]
    sticks: dict[str, float]
    push: Array
    power_cut: bool


class EventScript:
    """The events of one run, their instants rounded to ticks; those that overlap add up."""

    def __init__(self, events: Sequence[Event], tick_s: float) -> None:
        """Events with `at` in [s], for ticks of `tick_s` [s]."""
        self._windows = tuple((*_window(event, tick_s), event) for event in events)
        self._edges = frozenset(edge for first, last, _ in self._windows for edge in (first, last))

    def change(self, tick: int) -> Disturbance | None:
        """What holds from `tick` on, if something begins or ends there; None on other ticks."""
        if tick not in self._edges:
            return None
        active = [event for first, last, event in self._windows if first <= tick < last]
        stuck, jammed = np.zeros((2, 12), np.bool_)
        told_speed, torque, push = np.full(12, np.nan), np.zeros(12), np.zeros(3)
        for event in active:
            if isinstance(event, StuckEncoder):
                stuck[motor_index(event.motor)] = True
            elif isinstance(event, StuckVelocity):
                told_speed[motor_index(event.motor)] = event.value
            elif isinstance(event, Jam):
                jammed[motor_index(event.motor)] = True
            elif isinstance(event, DriveJoint):
                torque[motor_index(event.motor)] += event.torque
            elif isinstance(event, VelocityPush):
                push += event.value
        held = [event for event in active if isinstance(event, RemoteHold)]
        return Disturbance(
            is_cut=any(isinstance(event, Cut) for event in active),
            stuck=stuck,
            told_speed=told_speed,
            jammed=jammed,
            heat=tuple(
                (motor_index(e.motor), e.temperature) for e in active if isinstance(e, Heat)
            ),
            joint_torque=torque,
            buttons=frozenset().union(*(event.buttons for event in held)),
            sticks={name: way for event in held for name, way in event.sticks.items()},
            push=push,
            power_cut=any(isinstance(event, PowerCut) for event in active),
        )


def _window(event: Event, tick_s: float) -> tuple[int, float]:
    """The ticks [first, last) of an event."""
    first = round(event.at / tick_s)
    if isinstance(event, StuckEncoder | StuckVelocity | Jam | PowerCut):
        return first, math.inf
    if isinstance(event, Cut | DriveJoint | RemoteHold):
        return first, first + max(1, round(event.duration / tick_s))
    return first, first + 1
