"""The wire: equal after a round trip, strict on shapes, and one error type for any bytes."""

import hypothesis.extra.numpy as hnp
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.checked import layout
from runtime.messages import (
    DecodeError,
    GroundTruth,
    LineSearch,
    MotorCommand,
    Plan,
    RobotStatus,
    SensorReading,
    StateEstimate,
    decode,
    encode,
)
from tests.refusals import refusal

KINDS = [SensorReading, StateEstimate, Plan, LineSearch, MotorCommand, GroundTruth, RobotStatus]
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def floats(shape):
    return hnp.arrays(np.float64, shape, elements=FLOATS)


SCALARS = {int: INTEGERS, float: FLOATS, bool: st.booleans(), str: st.text()}


@st.composite
def messages(draw, kind, **scalars):
    """Any message of `kind`, NaN and infinities included."""
    fixed, varying, words = layout(kind)
    numbers = {letter: draw(st.integers(0, 3)) for letter in "NIC"}
    fields = {name: draw(floats(shape)) for name, shape in fixed}
    fields |= {name: draw(floats(shape.at(numbers))) for name, shape in varying}
    fields |= {name: draw(st.sampled_from(accepted)) for name, accepted in words}
    for name, hint in kind.__annotations__.items():
        if name not in fields:
            fields[name] = draw(scalars.get(hint.__name__, SCALARS[hint]))
    return kind(**fields)


def command(**changes):
    fields = {name: np.arange(12.0) for name in ["q", "dq", "kp", "kd", "tau"]}
    return MotorCommand(
        **{"tick": 3, "time": 0.5, "plan_id": 7, "status": "ok", **fields, **changes}
    )


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(data=st.data())
def test_a_message_is_equal_after_a_round_trip(kind, data):
    message = data.draw(messages(kind))
    decoded = decode(kind, encode(message))
    assert type(decoded) is kind
    assert decoded == message


@pytest.mark.parametrize(
    "changes",
    [
        {"q": np.zeros(11)},
        {"q": np.zeros((12, 1))},
        {"q": np.zeros(12, dtype=np.float32)},
        {"q": np.zeros(12, dtype=">f8")},
        {"q": [0.0] * 12},
        {"q": None},
    ],
)
def test_an_array_of_the_wrong_form_is_refused_by_name(changes):
    assert "MotorCommand.q" in refusal(ValueError, command, **changes)


def test_the_knots_of_a_plan_agree():
    sizes = {"states_q": (4, 19), "states_v": (4, 18), "inputs": (3, 12), "contacts": (3, 4)}
    rest = {"id": 1, "tick": 0, "time": 0.0, "period": 0.01, "cost": 0.0, "iterations": 1}
    rest |= {"solve_s": 0.0, "status": "ok"}
    arrays = {name: np.zeros(size) for name, size in sizes.items()}
    plan = Plan(gains=np.zeros((3, 12, 36)), **arrays, **rest)
    assert decode(Plan, encode(plan)) == plan
    assert "(4, 12, 36)" in refusal(ValueError, Plan, gains=np.zeros((4, 12, 36)), **arrays, **rest)


def edited(**changes):
    """The frame of a command with fields replaced on the wire, removed where None is given."""
    fields = msgspec.msgpack.decode(encode(command())) | changes
    return msgspec.msgpack.encode({k: v for k, v in fields.items() if v is not None})


TWELVE = np.zeros(12).tobytes()


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        encode(command()) + b"\x00",
        edited(tau=None),
        edited(extra=1),
        edited(tick=1.5),
        edited(status="fine"),
        edited(q=["<f4", [12], np.zeros(12, "f4").tobytes()]),
        edited(q=["<f8", [12], TWELVE[:-1]]),
        edited(q=["<f8", [3, 4], TWELVE]),
        edited(q=["<f8", [-1], TWELVE]),
        edited(q=["<f8", [2**62], TWELVE]),
        b"\x91" * 100_000,
    ],
)
def test_a_frame_that_is_not_quite_right_is_a_decode_error(frame):
    assert decode(MotorCommand, edited()) == command()
    assert "MotorCommand" in refusal(DecodeError, decode, MotorCommand, frame)
