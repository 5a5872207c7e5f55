"""Plain mappings (from YAML or the command line) to typed options, naming what is accepted."""

import dataclasses
import re
import types
import typing
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from runtime.options import refusal
from saltus.common.errors import BadRequest, did_you_mean
from sim_bridge.plain_yaml import YamlError, read_yaml

Options = TypeVar("Options")
Blame = Callable[[str], str]  # of a dotted key: what a message about it begins with
_PLACE = re.compile(r"(?<= - at )\S+$|^[\w.\[\]]+")  # of the key in a refusal
_MOST_PLACES = 4  # that somebody may have meant


class _Refused(Exception):
    """A key and why it is refused."""


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        BadRequest: it cannot be read, is not YAML, or holds something else.
    """
    try:
        data = read_yaml(path.read_bytes())
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror or error}") from error
    except YamlError as error:
        raise BadRequest(f"{path}: {error}") from error
    if not isinstance(data, dict):
        raise BadRequest(f"{path}: holds no mapping of keys to values")
    return data


def to_options(mapping: Any, kind: type[Options], source: str | Blame) -> Options:
    """Check every key of ``mapping`` against ``kind`` (a Struct or dataclass) and convert it.

    Text is read as a number where one is expected: YAML takes 1e-3, without a point, for text.

    Args:
        mapping: what was read.
        kind: a msgspec Struct or a dataclass, with others nested in it.
        source: what messages begin with: the file; or gives that for a key.

    Raises:
        BadRequest: an unknown key (the accepted ones are named) or a value of a wrong type
            or out of range.
    """
    try:
        _check_keys(mapping, kind, "")
        return msgspec.convert(mapping, kind, strict=False)
    except _Refused as error:
        key, message = error.args
    except msgspec.ValidationError as error:
        message = refusal(error)
        key = (_PLACE.findall(message) or [""])[-1]
    raise BadRequest(f"{source if isinstance(source, str) else source(key)}: {message}")


def fields_of(kind: Any) -> dict[str, Any]:
    """Accepted keys of an options class and their types; empty for anything else."""
    return _fields_of_class(kind) if isinstance(kind, type) else {}


@cache
def _fields_of_class(kind: type[Any]) -> dict[str, Any]:
    if issubclass(kind, msgspec.Struct):
        return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return {}


def _members(kind: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type."""
    union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    return typing.get_args(kind) if union else (kind,)


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) in (tuple, list)


def _names(kind: Any) -> tuple[Any, ...]:
    """What a Literal accepts."""
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


def _member_for(value: Any, kind: Any) -> Any:
    """The one type of a union that a mapping or a list is for; None where several are, or none."""
    members = _members(kind)
    if isinstance(value, dict):
        members = tuple(each for each in members if fields_of(each))
    elif isinstance(value, list):
        members = tuple(filter(_is_list, members))
    return members[0] if len(members) == 1 else None


def _check_keys(value: Any, kind: Any, path: str) -> None:
    members = _members(kind)
    names = [name for each in members for name in _names(each)]
    name_expected = len(members) == 1 or (isinstance(value, str) and str not in members)
    if names and name_expected and value not in names:
        a_list = " or a list" if any(map(_is_list, members)) else ""
        choices = ", ".join(map(str, names)) + a_list
        raise _Refused(path, f"{path} is {value!r}; accepted: {choices}")
    kind = _member_for(value, kind)
    if isinstance(value, list) and kind is not None:
        for index, item in enumerate(value):
            _check_keys(item, typing.get_args(kind)[0], f"{path}[{index}]")
        return
    accepted = fields_of(kind)
    if not accepted or not isinstance(value, dict):
        return
    for key, item in value.items():
        whole = f"{path}.{key}" if path else str(key)
        if key not in accepted:
            raise _Refused(whole, _unknown(str(key), whole, kind, path))
        _check_keys(item, accepted[key], whole)


def _unknown(key: str, whole: str, kind: Any, path: str) -> str:
    """What is accepted instead of a key, and where below there is one of this name."""
    names, where = fields_of(kind), f" in {path}" if path else ""
    shown = whole if path else repr(key)
    places = [each for each in _places(key, kind, path) if each != whole]
    if 0 < len(places) <= _MOST_PLACES:
        meant = f"; did you mean {' or '.join(places)}"
    else:
        meant = did_you_mean(key, names)
    return f"unknown key {shown}{meant}; accepted{where}: {', '.join(names)}"


def _places(key: str, kind: Any, path: str) -> list[str]:
    """Dotted keys of this name in a section and in those below."""
    places = []
    for name, member in fields_of(kind).items():
        whole = f"{path}.{name}" if path else name
        places += [whole] if name == key else []
        places += _places(key, member, whole)
    return places
