"""Decoders of what robot and operator send: UDP frames both ways, the remote, gamepad and keys."""

import os
from functools import partial
from random import Random

import msgspec
import numpy as np

from hw_bridge.black_box.pipe import WAYS, Unpacker, pack
from hw_bridge.emulator.motors import MotorDrivers
from hw_bridge.intake import Intake
from hw_bridge.link import Datagram
from hw_bridge.operator.driving import CommandBounds, GamepadDriver, KeyDevice, RemoteDriver
from hw_bridge.operator.gamepad import Gamepad, Joystick
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.options import GamepadButtons, GamepadOptions, KeyOptions, StickOptions
from hw_bridge.wire.frame import frame_fault, read_low_state, seal
from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints, damping, read_low_command
from hw_bridge.wire.remote import BUTTONS, STICKS, decode_remote, encode_remote
from runtime.messages import encode
from tests.a1 import WIRE, state_frame
from tests.fuzzing.decoder import Decoder, plain

ROBOT = ("192.168.123.10", 8007)
TICK_UNIT_S = 1e-3
BOUNDS = CommandBounds(forward=1.0, left=0.5, yaw_rate=1.0, height=(0.2, 0.35), stand_height=0.3)


def _states():
    random, states = np.random.default_rng(1), []
    for tick in (1, 2, 3, 1000, 2**32 - 1):
        numbers = {
            "q": random.normal(size=20), "dq": random.normal(size=20),
            "tau_est": random.normal(size=20), "accelerometer": random.normal(size=3),
            "remote": encode_remote(BUTTONS[tick % 16 :], dict.fromkeys(STICKS, 0.5)),
        }  # fmt: skip
        states.append(state_frame(WIRE, tick=tick, **numbers))
    return states


def _commands():
    random, encoder = Random(1), LowCommandEncoder(WIRE)
    rows = ([[random.gauss(0, 5) for _ in range(12)] for _ in range(5)] for _ in range(3))
    moving = [encoder.encode(Setpoints(*map(np.array, each))) for each in rows]
    return [*moving, encoder.encode(damping(5.0))]


def _make_intake(_):
    """An intake that has believed a frame takes another, and one that is good again: no raise."""
    first, second = _states()[:2]

    def take(data):
        intake = Intake(WIRE, ROBOT, TICK_UNIT_S)
        intake.take([Datagram(first, ROBOT, 1.0)])
        believed = intake.take([Datagram(data, ROBOT, 1.001)])
        if believed is not None:
            encode(believed.reading)
            _read_state(believed.state)
        after = intake.take([Datagram(second, ROBOT, 1.002)])
        assert believed is not None or after is not None  # a bad frame has shut a good one out
        return intake

    return take


def _read_state(state):
    remote = decode_remote(state.remote)
    driver = RemoteDriver(StickOptions())
    driver.take(remote)
    driver.command(0.0)


def _make_drivers(_):
    """The emulator's motor drivers take whatever a whole frame asks for."""
    drivers = MotorDrivers()
    return _whole("command", lambda data: drivers.take(read_low_command(WIRE, data)))


def _whole(kind, read):
    """Read what is a whole command or state."""
    size = getattr(WIRE, kind).itemsize
    return lambda data: frame_fault(data, size) or read(data)


def _packed():
    ways = zip(WAYS, (_states()[0], _commands()[0], b""), strict=True)
    frames = [pack(way, frame, 1.5) for way, frame in ways]
    return [*frames, b"".join(frames)]


def _unpack(data):
    """Frames of which the first half is read first."""
    unpacker, half = Unpacker(), len(data) // 2
    return [*unpacker.unpack(data[:half]), *unpacker.unpack(data[half:])]


def _from_pipe(open_reader):
    """A decoder of what is read from a device: bytes go into a pipe in parts."""

    def make(_):
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        poll = open_reader(reader)

        def decode(data):
            for begin in range(0, len(data), 509):  # no whole number of events
                os.write(writer, data[begin : begin + 509])
                poll()
            return poll()

        return decode

    return make


def _keys_that_drive(fd):
    device = KeyDevice(fd, KeyOptions(), BOUNDS)

    def poll():
        device.poll()
        return encode(device.driver.command(0.0))

    return poll


def _gamepad(fd):
    return Gamepad(f"/proc/self/fd/{fd}", msgspec.to_builtins(GamepadButtons())).poll


def _gamepad_that_drives(fd):
    joystick = Joystick(f"/proc/self/fd/{fd}", "gamepad")
    driver = GamepadDriver(GamepadOptions(), StickOptions())

    def poll():
        driver.take(joystick.events())
        return encode(driver.command(0.0))

    return poll


def _events():
    """Buttons and axes of a gamepad, the state at opening first."""
    parts = [(0, 0, 0x81, 1), (5, 1, 1, 1), (9, 32767, 2, 2), (12, -32767, 2, 1), (20, 0, 1, 1)]
    events = [
        time.to_bytes(4, "little") + value.to_bytes(2, "little", signed=True) + bytes((kind, n))
        for time, value, kind, n in parts
    ]
    return [b"".join(events), *events]


DEVICE_DECODERS = (
    Decoder("low state", plain(_whole("state", partial(read_low_state, WIRE))), _states, seal=seal),
    Decoder("low command", _make_drivers, _commands, seal=seal),
    Decoder(
        "remote",
        plain(decode_remote),
        lambda: [encode_remote(BUTTONS[:n], {"lx": 1.0, "ry": -0.5}) for n in (0, 1, 16)],
    ),
    Decoder("intake", _make_intake, _states, seal=seal),
    Decoder("black box's pipe", plain(_unpack), _packed, (ValueError,)),
    Decoder(
        "keys",
        _from_pipe(lambda fd: Keyboard(fd, print).poll),
        lambda: [b"u", b"r", b"d", b"x \x1b", b"ikjl,.+-5q"],
    ),
    Decoder("keys that drive", _from_pipe(_keys_that_drive), lambda: [b"ikjl,.+-012345q", b"iiii"]),
    Decoder("gamepad", _from_pipe(_gamepad), _events),
    Decoder("gamepad that drives", _from_pipe(_gamepad_that_drives), _events),
)
