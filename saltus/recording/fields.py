"""Meaning of each field of a recorded message: ``fields.yaml``, with the messages' own shapes.

``python -m saltus.recording.fields docs/topics.md`` generates the lists of that page.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from robots.conventions import FOOT_NAMES, JOINT_NAMES
from runtime.checked import Message, Shape, layout
from runtime.topics import BY_WATCHERS, COMMAND, RECORDED
from saltus.common.files import read_table


class Field(NamedTuple):
    """Meaning of a number.

    Attributes:
        unit: SI; empty where there is none.
        frame: axes and origin; empty where it has none.
        meaning: in a few words.
    """

    unit: str
    frame: str
    meaning: str


LOG_TIME = "log_time"  # column of every topic
_TABLE = read_table(__file__, "fields.yaml")
_COMMON = {name: Field(*words) for name, words in _TABLE["common"].items()}
# What the fields `q` and `v` of a state hold, and where.
PARTS: dict[str, dict[str, tuple[slice, Field]]] = {
    name: {part: (slice(*words[:2]), Field(*words[2:])) for part, words in parts.items()}
    for name, parts in _TABLE["parts"].items()
}
FIELDS: dict[str, dict[str, Field]] = {  # by name of the message
    kind: {
        name: _COMMON[words] if isinstance(words, str) else Field(*words)
        for name, words in fields.items()
    }
    for kind, fields in _TABLE["messages"].items()
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
        field, shape = FIELDS[kind.__name__][name], _shape(hints[name])
        parts = PARTS[name] if field is _COMMON.get(name) and name in PARTS else {}
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


# Fields of many messages, which the page explains once.
_SHARED = ("tick", "time", "sequence")
BEGIN = "<!-- made by saltus.recording.fields -->"
END = "<!-- end -->"


def tables() -> str:
    """All lists as Markdown."""
    kinds = list(dict.fromkeys(topic.message for topic in RECORDED))
    parts = [_line(name, Column(field, (slots.stop - slots.start,), name), "")
             for own in PARTS.values() for name, (slots, field) in own.items()]  # fmt: skip
    shared = [_line(name, Column(_COMMON[name], (), name), "") for name in _SHARED]
    heads = ["## Common fields", "\n".join(shared), "## State", "\n".join(parts)]
    return "\n\n".join([_topics(), *heads, *map(_fields, kinds)])


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
    return "\n".join(
        f"- `{topic.name}`{'¹' * (topic in others)}, {topic.rate_hz:g} Hz: "
        f"[{(kind := topic.message.__name__)}](#{kind.lower()}), {_TABLE['topics'][topic.name]}"
        for topic in RECORDED
    )


def _fields(kind: type[Message]) -> str:
    words, common = dict(layout(kind).words), _COMMON.values()
    shared, rows = [], []
    for name, column in columns_of(kind).items():
        if name in _SHARED and column.field in common:
            shared.append(f"`{name}`")
        elif name != LOG_TIME and column.slots is None:
            rows.append(_line(name, column, ", ".join(words.get(name, ()))))
    if shared:
        rows.insert(0, f"- {', '.join(shared)}: [common](#common-fields)")
    return "\n".join([f"## {kind.__name__}", "", *rows])


def _line(name: str, column: Column, words: str) -> str:
    """A field; the page says once that every message has `log_time`, and what a state holds."""
    unit, frame, meaning = column.field
    shape = f" ({', '.join(map(str, column.shape))})" if column.shape else ""
    where = f", {frame}" if frame else ""
    accepted = f": {words}" if words else ""
    return f"- `{name}`{shape}{f' [{unit}]' * bool(unit)}{where}: {meaning}{accepted}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written_anew(path.read_text()))
