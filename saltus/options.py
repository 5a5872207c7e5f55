"""Plain mappings (from YAML or the command line) to typed options, naming what is accepted."""

import dataclasses
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from runtime.options import refusal
from saltus.errors import BadRequest
from sim_bridge.plain_yaml import YamlError, read_yaml

Options = TypeVar("Options")


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


def override(mapping: dict[str, Any], assignments: typing.Sequence[str]) -> None:
    """Write ``KEY=VALUE`` assignments into ``mapping``: dotted keys, values as YAML.

    Raises:
        BadRequest: an assignment has no ``=``, its value is not YAML, or its key runs through a
            value that has no keys.
    """
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise BadRequest(f"--set {assignment}: give KEY=VALUE, such as --set duration=3")
        try:
            value = read_yaml(text)
        except YamlError as error:
            raise BadRequest(f"--set {assignment}: the value is {error}") from error
        *sections, last = key.strip().split(".")
        target = mapping
        for section in sections:
            if target.get(section) is None:
                target[section] = {}
            target = target[section]
            if not isinstance(target, dict):
                raise BadRequest(f"--set {assignment}: {section} is a value and has no keys")
        target[last] = value


def to_options(mapping: Any, kind: type[Options], source: str) -> Options:
    """Check every key of ``mapping`` against ``kind`` (a Struct or dataclass) and convert it.

    Text is read as a number where one is expected: YAML takes 1e-3, without a point, for text.

    Args:
        mapping: what was read.
        kind: a msgspec Struct or a dataclass, with others nested in it.
        source: what messages begin with: the file.

    Raises:
        BadRequest: an unknown key (the accepted ones are named) or a value of a wrong type
            or out of range.
    """
    _check_keys(mapping, kind, source, "")
    try:
        return msgspec.convert(mapping, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequest(f"{source}: {refusal(error)}") from error


def fields_of(kind: Any) -> dict[str, Any]:
    """Accepted keys of an options class and their types; empty for anything else."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return {}


def _member_for(value: Any, kind: Any) -> Any:
    """The one type of a union that a mapping or a list is for; None where several are, or none."""
    union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    members = typing.get_args(kind) if union else (kind,)
    if isinstance(value, dict):
        members = tuple(each for each in members if fields_of(each))
    elif isinstance(value, list):
        members = tuple(each for each in members if typing.get_origin(each) in (tuple, list))
    return members[0] if len(members) == 1 else None


def _check_keys(value: Any, kind: Any, source: str, path: str) -> None:
    if typing.get_origin(kind) is typing.Literal and value not in typing.get_args(kind):
        choices = ", ".join(map(str, typing.get_args(kind)))
        raise BadRequest(f"{source}: {path} is {value!r}; accepted: {choices}")
    kind = _member_for(value, kind)
    if isinstance(value, list) and kind is not None:
        for index, item in enumerate(value):
            _check_keys(item, typing.get_args(kind)[0], source, f"{path}[{index}]")
        return
    accepted = fields_of(kind)
    if not accepted or not isinstance(value, dict):
        return
    for key, item in value.items():
        if key not in accepted:
            where = f" in {path}" if path else ""
            raise BadRequest(
                f"{source}: unknown key {f'{path}.{key}' if path else key!r}; "
                f"accepted{where}: {', '.join(accepted)}"
            )
        _check_keys(item, accepted[key], source, f"{path}.{key}" if path else str(key))
