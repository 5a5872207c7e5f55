"""What can go wrong with the A1's sensors for a tenth of a second, as a table.

A `Stream` is a recorded walk; a `Scenario` takes a sensor, or one joint, foot or axis of it, and
freezes it, lets it jump, makes it NaN, or loses whole readings.
"""

from typing import NamedTuple

import numpy as np

from estimator.rows import ROW, SENSORS
from robots.rotations import Array, exp3, quaternion_from_rotation, quaternion_product
from runtime.messages import SensorReading
from runtime.rows import layout_of

DURATION = 0.1  # [s]
READINGS = layout_of(SensorReading)


def sensor_row(reading):
    """The sensors' numbers (50)."""
    return reading.row[SENSORS:]


class Stream(NamedTuple):
    """Readings and the truth behind them."""

    time: Array  # (n) [s]
    rows: Array  # (n, 50), as `sensor_row`
    truth: Array  # (n, 37): q, v

    def reading(self, k):
        row = np.concatenate(([k, self.time[k]], self.rows[k]))
        return READINGS.message(row)

    def index(self, time):
        """First reading at or after `time` [s]."""
        return int(np.searchsorted(self.time, time - 1e-9))


class Group(NamedTuple):
    """One sensor's numbers: how far a jump of them goes, and the single one that also fails."""

    channels: slice
    jump: float
    one: int


GROUPS = {
    "orientation": Group(slice(0, 4), 0.3, 0),  # [rad], tilted
    "gyroscope": Group(slice(4, 7), 3.0, 5),  # [rad/s]
    "accelerometer": Group(slice(7, 10), 30.0, 9),  # [m/s^2]
    "joint_position": Group(slice(10, 22), 0.2, 14),  # [rad], FL thigh
    "joint_velocity": Group(slice(22, 34), 5.0, 26),  # [rad/s], FL thigh
    "joint_torque": Group(slice(34, 46), 60.0, 39),  # [N m], FL calf
    "foot_force": Group(slice(46, 50), 150.0, 47),  # [N], FL
}


class Scenario(NamedTuple):
    """A fault that lasts `DURATION`; `group` is None where whole readings are lost or repeated."""

    kind: str
    group: str | None
    single: bool

    @property
    def name(self):
        return "-".join(filter(None, [self.kind, self.group, "one" if self.single else ""]))

    @property
    def channels(self):
        """The row's numbers that are faulty."""
        if self.group is None:
            return list(range(ROW))
        group = GROUPS[self.group]
        return [group.one] if self.single else list(range(ROW))[group.channels]

    def apply(self, stream, begin):
        """The stream with the fault from `begin` [s] on."""
        first, last = stream.index(begin), stream.index(begin + DURATION)
        if self.kind == "drop-out":
            kept = np.r_[0:first, last : len(stream.time)]
            return Stream(*(array[kept] for array in stream))
        rows, channels = stream.rows.copy(), self.channels
        faulty = rows[first:last]
        if self.kind in ("freeze", "repeat"):
            faulty[:, channels] = rows[first - 1, channels]
        elif self.kind != "jump":
            faulty[:, channels] = np.nan if self.kind == "nan" else 0.0
        elif self.group == "orientation":
            tilt = quaternion_from_rotation(exp3(np.array([GROUPS[self.group].jump, 0.0, 0.0])))
            faulty[:, :4] = [quaternion_product(tilt, row[:4].copy()) for row in faulty]
        else:
            faulty[:, channels] += GROUPS[self.group].jump
        return stream._replace(rows=rows)

    @property
    def seen(self):
        """Whether sensors alone tell; else it does little harm.

        One foot or motor that reads zero may be in the air, or idle.
        """
        silent_one = self.kind == "silence" and self.single
        return self.kind != "drop-out" and not (
            silent_one and self.group in ("foot_force", "joint_torque")
        )


SCENARIOS = [
    Scenario(kind, group, single)
    for kind in ("freeze", "jump", "nan", "silence")
    for group in GROUPS
    for single in (False, True)
    if not (single and group == "orientation" and kind != "nan")  # four numbers of one thing
] + [Scenario("drop-out", None, False), Scenario("repeat", None, False)]
