"""What each field of a recorded message means: unit, frame and description, in one table.

``python -m saltus.recording.fields docs/topics.md`` generates the tables of that page.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from robots.conventions import FOOT_NAMES, JOINT_NAMES
from runtime import messages as m
from runtime import topics
from runtime.checked import Message, Shape, layout
from runtime.topics import BY_WATCHERS, COMMAND, RECORDED


class Field(NamedTuple):
    """What a number means.

    Attributes:
        unit: SI; empty where there is none.
        frame: axes and origin; empty where it has none.
        meaning: in a few words.
    """

    unit: str
    frame: str
    meaning: str


WORLD, BASE, IMU, HEADING = "world", "base", "IMU", "heading"
VARIOUS = "m, rad"
VARIOUS_RATES = "m/s, rad/s"

TICK = Field("", "", "number of the tick")
TIME = Field("s", "", "when it was valid")
LOG_TIME = "log_time"  # column of every topic
SENDER_TIME = Field("s", "", "when it was sent, by its sender's own clock")
SEQUENCE = Field("", "", "counts the sender's messages; one that comes again is the same")

# What the fields `q` and `v` of a state hold, and where.
PARTS: dict[str, dict[str, tuple[slice, Field]]] = {
    "q": {
        "position_base": (slice(0, 3), Field("m", WORLD, "where the base is")),
        "quaternion_base": (slice(3, 7), Field("", WORLD, "turns base axes into world")),
        "joint_position": (slice(7, 19), Field("rad", "", "angles of the joints")),
    },
    "v": {
        "velocity_base": (slice(0, 3), Field("m/s", BASE, "of the base's origin")),
        "angular_velocity_base": (slice(3, 6), Field("rad/s", BASE, "how fast the base turns")),
        "joint_velocity": (slice(6, 18), Field("rad/s", "", "speeds of the joints")),
    },
}  # fmt: skip
Q = Field(VARIOUS, WORLD, "position_base, quaternion_base, joint_position in one array")
V = Field(VARIOUS_RATES, BASE, "velocity_base, angular_velocity_base, joint_velocity in one array")

FIELDS: dict[type[Message], dict[str, Field]] = {
    m.SensorReading: {
        "tick": TICK, "time": TIME,
        "quaternion_imu_in_world": Field("", WORLD, "turns IMU axes into world"),
        "angular_velocity_imu": Field("rad/s", IMU, "as the gyroscope measures it"),
        "linear_acceleration_imu": Field("m/s^2", IMU, "specific force: +9.81 upwards at rest"),
        "joint_position": Field("rad", "", "measured"),
        "joint_velocity": Field("rad/s", "", "measured"),
        "joint_torque": Field("N m", "", "measured"),
        "foot_force": Field("N", "", "as the sensor in each foot measures it"),
    },
    m.StateEstimate: {
        "tick": TICK, "time": TIME, "q": Q, "v": V,
        "contact": Field("", "", "probability that the foot stands"),
        "status": Field("", "", "whether it may be fed back"),
    },
    m.Command: {
        "sequence": SEQUENCE, "time": SENDER_TIME,
        "forward": Field("m/s", HEADING, "velocity of the base"),
        "left": Field("m/s", HEADING, "velocity of the base"),
        "yaw_rate": Field("rad/s", HEADING, "to the left"),
        "height": Field("m", WORLD, "of the trunk; NaN: as it stands"),
        "gait": Field("", "", "name, or auto: chosen by speed"),
    },
    m.Plan: {
        "id": Field("", "", "counts the plans, from 1"),
        "tick": Field("", "", "of the estimate that it starts from"),
        "time": Field("s", "", "of knot 0"),
        "period": Field("s", "", "from one knot to the next"),
        "states_q": Field(VARIOUS, WORLD, "q at each knot"),
        "states_v": Field(VARIOUS_RATES, BASE, "v at each knot"),
        "inputs": Field("N m", "", "torque of each joint, from a knot to the next"),
        "gains": Field(f"N m/({VARIOUS}, {VARIOUS_RATES})", "",
                       "inputs change by these times the state's difference; NaN: left out"),
        "contacts": Field("", "", "which feet stand at each knot: 0 or 1"),
        "cost": Field("", "", "of the trajectory"),
        "iterations": Field("", "", "of the solver"),
        "solve_s": Field("s", "", "duration of the solve; 0 in lock step"),
        "status": Field("", "", "how the solve ended"),
        "round_trip_s": Field("s", "", "of solve_s: to a rollout server and back, physics apart"),
        "command": Field("", "", "sequence number of the command that it obeys; -1 without one"),
        "tilt": Field("rad", "", "to which its reference tilts the trunk, and the robot may"),
    },
    m.LineSearch: {
        "tick": Field("", "", "of the estimate that the plan starts from"),
        "time": Field("s", "", "of the plan's knot 0"),
        "step_sizes": Field("", "", "of the candidates; 0 is the trajectory before the step"),
        "costs": Field("", "", "of each candidate in each pass; inf where it diverged"),
    },
    m.MotorCommand: {
        "tick": TICK, "time": TIME,
        "q": Field("rad", "", "where the motor shall be"),
        "dq": Field("rad/s", "", "how fast it shall turn"),
        "kp": Field("N m/rad", "", "stiffness"),
        "kd": Field("N m s/rad", "", "damping"),
        "tau": Field("N m", "", "torque = tau + kp (q - measured) + kd (dq - measured)"),
        "plan_id": Field("", "", "of the plan that it follows"),
        "status": Field("", "", "whether it follows a plan; else why not"),
        "tilt": Field("rad", "", "of its plan, while it follows that"),
        "reason": Field("", "", "why it does not follow a fresh plan; empty where it does"),
    },
    m.GroundTruth: {
        "tick": TICK, "time": TIME, "q": Q, "v": V,
        "foot_force": Field("N", WORLD, "of the ground on each foot"),
        "contact": Field("", "", "1 where the foot touches the ground, else 0"),
        "trunk_contact": Field("", "", "the trunk touches the ground"),
        "torque": Field("N m", "", "of the motors"),
        "work": Field("J", "", "positive work of the motors since the start"),
        "foot_slip": Field("m", "", "way of all feet over the ground since the start"),
    },
    m.RobotStatus: {
        "tick": TICK, "time": TIME,
        "state": Field("", "", "what the bridge lets the robot do"),
        "cause": Field("", "", "why the robot was stopped; empty while all is well"),
        "temperature": Field("deg C", "", "of the motors"),
        "power": Field("W", "", "sum over the motors of torque times speed, without sign"),
        "state_age": Field("s", "", "since the newest believed frame was measured"),
        "frames": Field("", "", "believed so far"),
        "refused": Field("", "", "not believed so far"),
        "is_ending": Field("", "", "it has been told to sit down or to stop"),
    },
    m.StateCovariance: {
        "tick": TICK, "time": TIME,
        "velocity": Field("m^2/s^2", BASE, "covariance of the base's estimated linear velocity"),
    },
    m.Push: {
        "sequence": SEQUENCE, "time": SENDER_TIME,
        "body": Field("", "", "base, or the leg whose foot is moved"),
        "velocity": Field("m/s", WORLD, "that is added to the body's at once"),
    },
    m.Pace: {
        "sequence": SEQUENCE, "time": SENDER_TIME,
        "speed": Field("", "", "simulated seconds a second; 0 stops time"),
        "steps": Field("", "", "single ticks asked for since the sender began"),
    },
    m.Tuning: {
        "sequence": SEQUENCE, "time": SENDER_TIME,
        "options": Field("", "", "of the planner, as JSON"),
    },
}  # fmt: skip


TOPIC_MEANINGS = {
    topics.SIMULATED_READING: "sensors of the simulated A1, on their way to its bridge",
    topics.SENSOR_READING: "sensors, as the bridge gives them to estimator and tracker",
    topics.STATE_ESTIMATE: "the estimator's",
    topics.PLAN: "the planner's; a recording keeps the knots of some alone",
    topics.MOTOR_COMMAND: "the tracker's",
    topics.GROUND_TRUTH: "true state of a simulated or emulated robot",
    topics.LINE_SEARCH: "of the plan of the same tick, where its planner searches lines",
    topics.ROBOT_STATUS: "of the bridge to a real or emulated robot",
    topics.COMMAND: "of whoever drives the robot",
    topics.STATE_COVARIANCE: "of the estimate of the same tick",
    topics.PUSH: "by hand, of a simulated robot",
    topics.PACE: "of simulated time, from who watches",
    topics.TUNING: "of the planner, from who watches",
}


class Column(NamedTuple):
    """A field as a run of arrays has it.

    Attributes:
        field: its meaning.
        shape: of one message's; () of a number or a word, letters where a size varies.
        source: the message's field that holds it.
        slots: which part of that it is; None where it is all of it.
        packed: it holds several quantities, which have columns of their own.
    """

    field: Field
    shape: tuple[int | str, ...]
    source: str
    slots: slice | None = None
    packed: bool = False

    @property
    def varies(self) -> bool:
        """Whether its shape varies from message to message."""
        return any(isinstance(size, str) for size in self.shape)


@cache
def columns_of(kind: type[Message]) -> dict[str, Column]:
    """The columns of a message in the order of its fields."""
    hints = get_type_hints(kind, include_extras=True)
    columns: dict[str, Column] = {
        LOG_TIME: Column(Field("s", "", "when it was recorded"), (), LOG_TIME)
    }
    for name in kind.__struct_fields__:
        field, shape = FIELDS[kind][name], _shape(hints[name])
        parts = PARTS[name] if field in (Q, V) else {}
        columns[name] = Column(field, shape, name, packed=bool(parts))
        for part, (slots, meaning) in parts.items():
            columns[part] = Column(meaning, (slots.stop - slots.start,), name, slots)
    return columns


def component_names(name: str, column: Column) -> list[str]:
    """Names of a column's numbers in row-major order; its own where it is one number."""
    legs = ("x", "y", "z", "w") if "quaternion" in name else FOOT_NAMES
    components = {3: ("x", "y", "z"), 4: legs, 12: JOINT_NAMES}
    names = [name]
    for size in column.shape:
        names = [f"{each}_{component}" for each in names for component in components[int(size)]]
    return names


def _shape(hint: Any) -> tuple[int | str, ...]:
    if get_origin(hint) is Annotated and isinstance(get_args(hint)[1], Shape):
        return get_args(hint)[1].sizes
    return ()


BEGIN = "<!-- made by saltus.recording.fields -->"
END = "<!-- end -->"


def tables() -> str:
    """All tables as Markdown."""
    kinds = list(dict.fromkeys(topic.message for topic in RECORDED))
    return "\n\n".join([_topics(), *map(_fields, kinds)])


def written_anew(page: str) -> str:
    """A page with the tables as they are now between its two marks.

    Raises:
        ValueError: the page lacks the marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} before an {END}")
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def _topics() -> str:
    others = (COMMAND, *BY_WATCHERS)
    rows = [
        f"| `{topic.name}` | [{(kind := topic.message.__name__)}](#{kind.lower()}) "
        f"| {topic.rate_hz:g} Hz "
        f"| {'the sender' if topic in others else 'the launch'}'s | {TOPIC_MEANINGS[topic]} |"
        for topic in RECORDED
    ]
    head = ["| topic | message | rate | clock of `time` | what |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _fields(kind: type[Message]) -> str:
    words = dict(layout(kind).words)
    rows = ["| field | shape | unit | frame | what |", "|---|---|---|---|---|"]
    for name, column in columns_of(kind).items():
        if name == LOG_TIME:  # every message has it, and the page says so once
            continue
        unit, frame, meaning = column.field
        accepted = f": {', '.join(words[name])}" if name in words else ""
        rows.append(f"| `{name}` | {_shape_words(column)} | {unit or '–'} | {frame or '–'} "
                    f"| {meaning}{accepted} |")  # fmt: skip
    return "\n".join([f"## {kind.__name__}", "", *rows])


def _shape_words(column: Column) -> str:
    """Of all n messages."""
    sizes = ", ".join(map(str, column.shape))
    if column.varies:
        return f"n arrays ({sizes}{',' if len(column.shape) == 1 else ''})"
    return f"(n, {sizes})" if sizes else "(n,)"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written_anew(path.read_text()))
