"""Meaning of each field of a recorded message: ``fields.yaml``, with the messages' own shapes."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from robots.conventions import FOOT_NAMES, JOINT_NAMES
from runtime.checked import Message, Shape
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
COMMON = {name: Field(*words) for name, words in _TABLE["common"].items()}
# What the fields `q` and `v` of a state hold, and where.
PARTS: dict[str, dict[str, tuple[slice, Field]]] = {
    name: {part: (slice(*words[:2]), Field(*words[2:])) for part, words in parts.items()}
    for name, parts in _TABLE["parts"].items()
}
TOPICS: dict[str, str] = _TABLE["topics"]  # what each is, in a few words
FIELDS: dict[str, dict[str, Field]] = {  # by name of the message
    kind: {
        name: COMMON[words] if isinstance(words, str) else Field(*words)
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
        parts = PARTS[name] if field is COMMON.get(name) and name in PARTS else {}
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
