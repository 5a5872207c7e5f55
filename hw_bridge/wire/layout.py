"""Layout of the low-level frames of Unitree's robots: three wires as data.

Records are packed and little endian; the last word is the checksum. Those of A1 and Go1 are
shorter than the structs of the vendor's header, which its library packs into these before it
sends; those of Go2 are the C structs themselves, over which its checksum goes, while DDS carries
the same numbers at other places. Sources: A1: names and types from unitree_legged_sdk v3.3.1
comm.h; offsets, scales and sizes observed of the vendor's library 3.3.4 on loopback, the same for
v3.2 to 3.3.4. Go1: the same of 3.8.6, equal to 3.5.1 and 3.8.0. Go2: unitree_sdk2_python
@ 37116c52, LowCmd_ and LowState_ of unitree_go, and crc.py for the image that is summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, LiteralString, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robots.robot import Robot

JOINTS: Final = 12  # of 20 motors in a frame: motor 3 leg + joint (quadruped.h); others are unused
REMOTE_BYTES: Final = 40

LOW_LEVEL: Final = 0xFF  # level_flag of motor commands (comm.h)
SERVO: Final = 0x0A  # motor mode: the motor follows its setpoint (comm.h); a wire may say it so
BRAKE: Final = 0x00  # motor mode: electronic brake (comm.h)
OVERHEATED: Final = 0x08  # motor mode seen after a shutdown (unitree_legged_sdk thread 54)
POS_STOP: Final = 2.146e9  # as q: no position loop (comm.h PosStopF); a float32 holds it exactly
VEL_STOP: Final = 16000.0  # as dq: no velocity loop (comm.h VelStopF)
HEAD: Final = (0xFE, 0xEF)  # of a Go1's or Go2's frame


class Header(NamedTuple):
    """Identity of the robot, and the level of commands.

    Named after unitree_legged_sdk v3.3.1 comm.h: levelFlag, commVersion, robotID, SN, bandWidth. A
    Go1 or Go2 has frameReserve in place of robotID, and SN and version of 64 bits.
    """

    level_flag: int = LOW_LEVEL
    comm_version: int = 0
    robot_id: int = 0
    serial: int = 0
    bandwidth: int = 0


def _record(fields: str, **parts: np.dtype[Any]) -> np.dtype[Any]:
    """A packed record of "name type count, ..."; a type may be the name of one of `parts`."""
    found: list[Any] = []
    for field in fields.replace("\n", " ").split(","):
        name, kind, *count = field.split()
        found.append((name, parts.get(kind, kind), *map(int, count)))
    return np.dtype(found)


def _wires() -> dict[str, Wire]:
    """Each wire by its name."""
    a1 = _record("level_flag u1, comm_version <u2, robot_id <u2, serial <u4, bandwidth u1")
    go = _record(
        "head u1 2, level_flag u1, robot_id u1, serial <u8, comm_version <u8, bandwidth <u2"
    )
    command = _record(  # [rad], [rad/s]; counts of `Wire.scales`
        "mode u1, q <f4, dq <f4, tau <i2, kp <i2, kd <i2, reserve <u4 3"
    )
    wide_command = _record(
        "mode u1, pad u1 3, q <f4, dq <f4, tau <f4, kp <f4, kd <f4, reserve <u4 3"
    )
    state = _record(  # [rad], [rad/s], [rad/s^2], counts of `Wire.scales`, [deg C]
        """mode u1, q <f4, dq <f4, ddq <i2, tau_est <i2, q_raw <f4, dq_raw <f4, ddq_raw <i2,
        temperature i1, reserve <u4 2"""
    )
    wide_state = _record(
        """mode u1, pad u1 3, q <f4, dq <f4, ddq <f4, tau_est <f4, q_raw <f4, dq_raw <f4,
        ddq_raw <f4, temperature i1, pad_2 u1 3, lost <u4, reserve <u4 2"""
    )
    # Of w, x, y, z; [rad/s]; specific force [m/s^2]; [rad]; [deg C].
    imu = (
        "quaternion_wxyz <f4 4, gyroscope <f4 3, accelerometer <f4 3, rpy <f4 3, imu_temperature i1"
    )
    # [counts] FR, FL, RR, RL; the A1's library skips the second, comm.h has it there.
    feet = "foot_force <i2 4, foot_force_est <i2 4, tick <u4, remote u1 40"
    end = "reserve <u4, crc <u4"
    a1_parts: Any = {"header": a1, "command": command, "state": state}
    go1: Any = a1_parts | {"header": go}
    go2: Any = {"header": go, "command": wide_command, "state": wide_state}
    counts, floats = np.array([256, 32, 16], np.float32), np.zeros(3, np.float32)
    wires: Any = {
        "unitree-a1": (
            a1_parts, f"header header, motors command 20, led u1 12, remote u1 40, {end}",
            f"header header, {imu}, motors state 20, {feet}, {end}", SERVO, counts, "udp",
        ),
        "unitree-go1": (
            go1, f"header header, motors command 20, battery u1 4, remote u1 40, {end}",
            f"""header header, {imu}, motors state 20, battery u1 3, charge u1, current <i4,
            cycle <u2, battery_temperature i1 4, cells u1 10, {feet}, {end}""",
            SERVO, counts, "udp",
        ),
        "unitree-go2": (
            go2,
            f"""header header, pad u1 2, motors command 20, battery u1 4, remote u1 40, led u1 12,
            fan u1 2, gpio u1, pad_2 u1, {end}""",
            f"""header header, pad u1 2, {imu}, pad_2 u1 3, motors state 20, battery u1 3,
            charge u1, current <i4, cycle <u2, battery_temperature u1 4, cells <u2 15, {feet},
            bit_flag u1, pad_3 u1 3, adc <f4, temperatures u1 2, pad_4 u1 2, voltage <f4,
            supply_current <f4, fan <u2 4, {end}""", 1, floats, "dds",
        ),
    }  # fmt: skip
    return {
        name: Wire(name, _record(sent, **parts), _record(said, **parts), *kind)
        for name, (parts, sent, said, *kind) in wires.items()
    }


# What `Wire.state_at` tells a kernel: places of the first byte, and what else differs.
IMU, TICK, FEET, FIRST_MOTOR, STRIDE, MODE, ANGLE, EFFORT, TEMPERATURE_AT, IN_SERVO, COUNTS = range(
    11
)


@dataclass(frozen=True, eq=False)
class Wire:
    """Layout of the frames of a kind of robot.

    Attributes:
        name: as `robot.yaml` has it.
        command: record of LowCmd.
        state: record of LowState.
        servo: what motors say in servo mode; inside it is SERVO.
        scales: counts of tau in a N m, of kp in a N m/rad, of kd in a N m s/rad; 0: a float32.
        transport: what carries the frames, ``udp`` or ``dds``.
    """

    name: str
    command: np.dtype[Any]
    state: np.dtype[Any]
    servo: int
    scales: NDArray[np.float32]
    transport: str

    @cached_property
    def state_at(self) -> NDArray[np.int64]:
        """Places of the numbers of a state for a kernel, see IMU and those that follow."""
        motor = self.state["motors"].base
        return np.array([
            _at(self.state, "quaternion_wxyz"), _at(self.state, "tick"),
            _at(self.state, "foot_force"), _at(self.state, "motors"), motor.itemsize,
            _at(motor, "mode"), _at(motor, "q"), _at(motor, "tau_est"), _at(motor, "temperature"),
            self.servo, self.torque_scale,
        ], np.int64)  # fmt: skip

    @cached_property
    def motors_at(self) -> NDArray[np.int64]:
        """Places of q of each motor (12) in a command; dq, tau, kp, kd follow."""
        motor = self.command["motors"].base
        first = _at(self.command, "motors") + _at(motor, "q")
        return first + motor.itemsize * np.arange(JOINTS)

    @property
    def torque_scale(self) -> int:
        """Counts of a torque in a N m; 0: a float32."""
        return int(self.scales[0])

    @cached_property
    def header_size(self) -> int:
        """Length of the header [bytes]."""
        return int(self.state["header"].itemsize)

    @cached_property
    def remote(self) -> slice:
        """Place of the remote's bytes in a state."""
        at = _at(self.state, "remote")
        return slice(at, at + REMOTE_BYTES)

    def read_header(self, record: NDArray[np.void]) -> Header:
        """The header of a command's or state's record, an array of no dimension."""
        fields = record["header"]
        return Header(*(int(fields[name]) for name in Header._fields))

    def write_header(self, record: NDArray[np.void], header: Header) -> None:
        """Write it into a record; of a number too large for its field the low bits are sent."""
        fields = record["header"]
        if "head" in (self.state["header"].names or ()):
            fields["head"] = HEAD
        for name, value in zip(Header._fields, header, strict=True):
            fields[name] = int(value) & ((1 << 8 * fields.dtype[name].itemsize) - 1)


def _at(record: np.dtype[Any], name: LiteralString) -> int:
    """Offset [bytes] of a field in its record."""
    assert record.fields is not None
    return int(record.fields[name][1])


WIRES: Final = _wires()


def wire_of(robot: Robot) -> Wire:
    """The wire of a robot."""
    return WIRES[robot.wire]


def command_header(robot: Header) -> Header:
    """First fields of commands to a robot with this header: its own values, at the low level.

    unitree_ros_real copies all five; the vendor's InitCmdData sets the level whatever the robot
    says, and motor commands under another one would be a guess.
    """
    return robot._replace(level_flag=LOW_LEVEL)
