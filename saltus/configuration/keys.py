"""Every key of a launch file: its purpose, value and source, and whether it is used."""

from __future__ import annotations

import inspect
import re
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from runtime.options import Range, ranges_of
from saltus.common.errors import BadRequest
from saltus.common.files import read_table
from saltus.configuration.launch import NAMES, LaunchConfig
from saltus.configuration.options import (
    DEFAULT,
    FILE,
    ROBOT,
    Settings,
    fields_of,
    members_of,
    names_of,
)

_SECTION = re.compile(r"^Attributes:\n((?:[ ]+.*\n|\n)*)", re.MULTILINE)


@cache
def descriptions(kind: type[Any]) -> dict[str, str]:
    """Descriptions of the options of a Struct, by their keys in a launch file.

    A description is an entry ``name: text`` in the ``Attributes:`` section of the class's
    docstring. An inherited option has that of the class that declares it, unless a class that
    inherits it describes it too.

    Returns:
        One line of text for each option that is described.
    """
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] not in ("builtins", "msgspec"):
            texts |= _entries(base)
    keys = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    return {keys.get(name, name): text for name, text in texts.items()}


def _entries(kind: type[Any]) -> dict[str, str]:
    """Entries of all ``Attributes:`` sections; further lines of an entry are indented."""
    texts: dict[str, str] = {}
    for section in _SECTION.findall(inspect.cleandoc(kind.__doc__ or "") + "\n"):
        for entry in re.split(r"\n(?=\S)", textwrap.dedent(section)):
            name, colon, text = entry.partition(":")
            if colon and name.isidentifier():
                texts[name] = " ".join(text.split())
    return texts


NO_UNIT = "-"
_MAPPING = "a mapping"


class Key(NamedTuple):
    """A key and what is known of it without a launch.

    Attributes:
        key: dotted; ``[KIND]`` stands for an element of a list.
        range: of a number; None where there is none.
        choices: all accepted values, where they are few and names.
        kind: of other values, in words, such as "text".
        null: null is accepted too.
        default: as plain data; None where one must be given.
        description: one line.
    """

    key: str
    range: Range | None
    choices: tuple[str, ...]
    kind: str
    null: bool
    default: Any
    description: str

    @property
    def unit(self) -> str:
        """Unit of the value; `NO_UNIT` for none."""
        return self.range.unit if self.range else NO_UNIT

    @property
    def accepted(self) -> str:
        """Accepted values, in words, numbers in the key's unit."""
        text = ", ".join(self.choices) or self.kind
        text = str(self.range._replace(unit=NO_UNIT)) if self.range else text
        text += ", or text" if self.range and "text" in self.kind else ""
        return f"{text}, or null" if self.null else text


def keys_of(kind: type[Any] = LaunchConfig) -> list[Key]:
    """The keys of a class of options that hold a value: its own, then those of its sections."""
    return sorted(_keys(kind, "", _defaults(kind)), key=lambda key: "." in key.key)


def values_of(config: LaunchConfig) -> dict[str, Any]:
    """Keys of a launch and their values as plain data; a command is a speed or a script."""
    plain = msgspec.to_builtins(config)
    values = ((key, _value_at(plain, key.key.split("."))) for key in keys_of())
    return {
        key.key: value for key, value in values
        if value is not ... and (key.kind == _MAPPING or not isinstance(value, dict))
    }  # fmt: skip


def text_of(value: Any) -> str:
    """A value as one would write it after ``--set KEY=``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return str(value) or '""'


def _keys(kind: Any, path: str, defaults: dict[str, Any]) -> Iterator[Key]:
    docs, ranges = descriptions(kind), ranges_of(kind)
    for (name, member), field in zip(fields_of(kind).items(), kind.__struct_fields__, strict=True):
        parts, default = members_of(member), defaults.get(name)
        sections = [part for part in parts if fields_of(part)]
        for section in sections:
            inner = default if isinstance(default, dict) else _defaults(section)
            yield from _keys(section, f"{path}{name}.", inner)
        rest = [part for part in parts if part not in sections and part is not types.NoneType]
        if rest:
            null = types.NoneType in parts
            choices = NAMES.get(f"{path}{name}") or _choices(rest)
            own = None if sections else default  # the default is a section's
            yield Key(f"{path}{name}", ranges.get(field), choices, _words(rest), null, own,
                      docs.get(name, "").replace("``", "`"))  # fmt: skip


def _value_at(plain: Any, path: list[str]) -> Any:
    """A value in nested mappings; `...` where there is none."""
    for part in path:
        plain = plain.get(part, ...) if isinstance(plain, dict) else ...
    return plain


def _choices(kinds: list[Any]) -> tuple[str, ...]:
    if kinds == [bool]:
        return ("true", "false")
    return tuple(map(str, names_of(kinds[0]))) if len(kinds) == 1 else ()


def _words(kinds: list[Any]) -> str:
    """Kinds of values in words."""
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return " or ".join(
        dict.fromkeys(
            words.get(kind, _MAPPING if typing.get_origin(kind) is dict else "a list")
            for kind in kinds
        )
    )


def _defaults(kind: Any) -> dict[str, Any]:
    """Default values by key, as plain data; a key that must be given has none."""
    defaults = {}
    for field in msgspec.structs.fields(kind):
        if field.default is not msgspec.NODEFAULT:
            defaults[field.encode_name] = msgspec.to_builtins(field.default)
        elif field.default_factory is not msgspec.NODEFAULT:
            defaults[field.encode_name] = msgspec.to_builtins(field.default_factory())
    return defaults


Reason = Callable[[LaunchConfig], str]  # empty where a key has an effect
_CHOSEN_BY = {"command": "drive.source", "reference_from": "planner"}


Rule = tuple[tuple[str, ...], Reason]  # keys, or sections of them, and why a launch has no use


def reason_without_effect(key: str, config: LaunchConfig) -> str:
    """The reason why a key has no effect in a launch, in a few words; empty where it has one."""
    for keys, reason in RULES:
        here = any(key == each or key.startswith(f"{each}.") for each in keys)
        if here and (why := reason(config)):
            return why
    return ""


def keys_without_effect(config: LaunchConfig, settings: Settings) -> dict[str, str]:
    """Keys that were set and that the launch does not use, and why.

    In a file, a key that repeats the default does not count: a resolved launch file has them all.
    Nor does its command where the command line names the driver, nor what the walk is made from
    where it names the planner: the file cannot know.
    """
    defaults = {key.key: key.default for key in keys_of()}
    found = {}
    for key, value in values_of(config).items():
        source = settings.source(key)
        chosen = settings.words(_CHOSEN_BY.get(key.partition(".")[0], ""))
        if source in (DEFAULT, ROBOT) or (source == FILE and (chosen or value == defaults[key])):
            continue
        if reason := reason_without_effect(key, config):
            found[key] = reason
    return found


def warnings(without_effect: dict[str, str]) -> list[str]:
    """A line for each key."""
    return [f"{key} has no effect: {reason}" for key, reason in without_effect.items()]


def _only(path: str, *values: str) -> Reason:
    """There is an effect only where a key of the launch has one of these values."""
    get = attrgetter(path)
    return lambda config: "" if get(config) in values else f"{path} is {get(config)}"


def _where(path: str, because: str) -> Reason:
    """There is an effect only where an attribute of the launch is true."""
    return lambda config: "" if path and attrgetter(path)(config) else because.format(config)


def _rules() -> Iterator[Rule]:
    """The rules of ``effects.yaml``."""
    for row in read_table(__file__, "effects.yaml"):
        if key := row.get("each"):
            for name in NAMES[key]:
                if name != row.get("but"):
                    yield (name,), _only(key, name)
            continue
        keys = *row["keys"], *(name for key in row.get("sections", ()) for name in NAMES[key])
        yield keys, (
            _only(row["only"], *row["is"]) if "only" in row
            else _where(row.get("where", ""), row["because"])
        )  # fmt: skip


RULES = tuple(_rules())


class Row(NamedTuple):
    """A key in a launch.

    Attributes:
        key: and what is known of it in any launch.
        value: as plain data.
        source: of the value: "default", "file", or an option such as "--set".
        reason: why it has no effect in this launch; empty where it has.
    """

    key: Key
    value: Any
    source: str
    reason: str


def rows_of(config: LaunchConfig, settings: Settings) -> list[Row]:
    """All keys of a launch, in the order of its options."""
    keys, values = {key.key: key for key in keys_of()}, values_of(config)
    return [
        Row(keys[name], value, settings.source(name), reason_without_effect(name, config))
        for name, value in values.items()
    ]


def select(rows: Sequence[Row], prefix: str, diff: bool) -> list[Row]:
    """The rows of one key or section; with `diff` those alone that differ from the defaults.

    Raises:
        BadRequest: there is no such key.
    """
    name = prefix.rstrip(".")
    below = [row for row in rows if f"{row.key.key}.".startswith(f"{name}." if name else "")]
    if not below:
        raise BadRequest(_no_key(prefix, [row.key.key for row in rows]))
    return [row for row in below if not diff or row.value != row.key.default]


def _no_key(prefix: str, keys: list[str]) -> str:
    """Keys that exist instead, in the section that was meant."""
    section = prefix
    while section and not any(key.startswith(f"{section}.") for key in keys):
        section = section.rpartition(".")[0]
    within = [key[len(section) :].lstrip(".") for key in keys if key.startswith(section)]
    names = ", ".join(dict.fromkeys(key.partition(".")[0] for key in within))
    return f"no key {prefix!r}; accepted{f' in {section}' if section else ''}: {names}"


def plain(row: Row) -> dict[str, Any]:
    """A row for a script; `range` is [least, most] and whether least itself is accepted."""
    key = row.key
    limits = key.range and {
        "least": key.range.least, "most": key.range.most, "least_accepted": not key.range.above,
    }  # fmt: skip
    return {
        "key": key.key, "value": row.value, "unit": key.unit, "range": limits,
        "choices": list(key.choices), "default": key.default, "source": row.source,
        "effect": not row.reason, "reason": row.reason, "description": key.description,
    }  # fmt: skip


def print_rows(rows: Sequence[Row]) -> None:
    """Print them on standard output: for a person, or, piped, one key a line."""
    console = Console(highlight=False)
    for key, value, source, reason in rows:
        unit = "" if key.unit == NO_UNIT or value is None else f" {key.unit}"
        head = f"{key.key}  {text_of(value)}{unit}  [{source}]"
        effect = f"no effect: {reason}; " * bool(reason)
        about = f"{key.accepted}; {effect}{key.description}"
        if console.is_terminal:
            console.print(Text(head, "bold" * (source != DEFAULT)))
            console.print(Padding(Text(about, "dim"), (0, 1, 0, 4)))
        else:
            print(f"{head}  {about}")
