"""Every key of a launch file: its value, what is accepted, who set it, and what it is for."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from runtime.options import Range, ranges_of
from saltus.configuration.checks import NAMES
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.option_docs import descriptions
from saltus.configuration.options import fields_of

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
        """Of the value; `NO_UNIT` for none."""
        return self.range.unit if self.range else NO_UNIT

    @property
    def accepted(self) -> str:
        """What may be given, in words, numbers in the key's unit."""
        text = ", ".join(self.choices) or self.kind
        text = str(self.range._replace(unit=NO_UNIT)) if self.range else text
        text += ", or text" if self.range and "text" in self.kind else ""
        return f"{text}, or null" if self.null else text


def keys_of(kind: type[Any] = LaunchConfig, path: str = "") -> list[Key]:
    """The keys of a class of options that hold a value: its own, then those of its sections."""
    own = path.count(".")
    return sorted(_keys(kind, path, _defaults(kind)), key=lambda key: key.key.count(".") > own)


def element_keys(kind: type[Any] = LaunchConfig, path: str = "") -> list[Key]:
    """The keys of the elements of lists in a class of options: of perturbations, of a script."""
    keys = []
    for name, member in fields_of(kind).items():
        whole = f"{path}{name}"
        for part in _alternatives(member):
            if fields_of(part):
                keys += element_keys(part, f"{whole}.")
            elif typing.get_origin(part) in (tuple, list):
                elements = [e for e in _alternatives(typing.get_args(part)[0]) if fields_of(e)]
                for each in elements:
                    tag = each.__struct_config__.tag or ""  # what `kind` says of it
                    keys += _keys(each, f"{whole}[{tag}].", _defaults(each))
    return keys


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
    for (name, member), field in zip(fields_of(kind).items(), _field_names(kind), strict=True):
        parts, default = _alternatives(member), defaults.get(name)
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


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """The members of a union, without what annotates them."""
    if typing.get_origin(kind) is typing.Annotated:
        return _alternatives(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return tuple(part for each in typing.get_args(kind) for part in _alternatives(each))
    return (kind,)


def _choices(kinds: list[Any]) -> tuple[str, ...]:
    if kinds == [bool]:
        return ("true", "false")
    if len(kinds) == 1 and typing.get_origin(kinds[0]) is typing.Literal:
        return tuple(map(str, typing.get_args(kinds[0])))
    return ()


def _words(kinds: list[Any]) -> str:
    """What kinds of values are, for people."""
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return " or ".join(
        dict.fromkeys(
            words.get(kind, _MAPPING if typing.get_origin(kind) is dict else "a list")
            for kind in kinds
        )
    )


def _field_names(kind: Any) -> list[str]:
    """Names of the fields in the code, where `fields_of` has those of the file."""
    if issubclass(kind, msgspec.Struct):
        return list(kind.__struct_fields__)
    return list(fields_of(kind))


def _defaults(kind: Any) -> dict[str, Any]:
    """Default values by key, as plain data; a key that must be given has none."""
    if not issubclass(kind, msgspec.Struct):
        return msgspec.to_builtins(kind())
    defaults = {}
    for field in msgspec.structs.fields(kind):
        if field.default is not msgspec.NODEFAULT:
            defaults[field.encode_name] = msgspec.to_builtins(field.default)
        elif field.default_factory is not msgspec.NODEFAULT:
            defaults[field.encode_name] = msgspec.to_builtins(field.default_factory())
    return defaults
