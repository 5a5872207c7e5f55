"""Plain mappings to typed options, with the source of each key; errors name what is accepted."""

import copy
import re
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from runtime.options import refusal
from saltus.common.errors import BadRequest, did_you_mean, refusing
from saltus.common.files import find_file
from sim_bridge.plain_yaml import YamlError, read_yaml

Options = TypeVar("Options")
Blame = Callable[[str], str]  # of a dotted key: what a message about it begins with
_PLACE = re.compile(r"(?<= - at )\S+$|^[\w.\[\]]+")  # of the key in a refusal
_UNKNOWN = re.compile("Object contains unknown field `(.*?)`")
_MOST_PLACES = 4  # that somebody may have meant


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
    """Check every key of ``mapping`` against ``kind``, a Struct, and convert it.

    Text is read as a number where one is expected: YAML takes 1e-3, without a point, for text.

    Args:
        mapping: what was read.
        kind: a msgspec Struct, with others nested in it.
        source: what messages begin with: the file; or gives that for a key.

    Raises:
        BadRequest: an unknown key (the accepted ones are named) or a value of a wrong type
            or out of range.
    """
    if isinstance(mapping, dict) and fields_of(kind):
        mapping = _completed(mapping, {each.name: each.default for each in _fields(kind)})
    try:
        return msgspec.convert(mapping, kind, strict=False)
    except msgspec.ValidationError as error:
        key, message = _refusal(error, kind)
    except UnicodeEncodeError as error:
        key, message = "", f"no text: {error}"
    raise BadRequest(f"{source if isinstance(source, str) else source(key)}: {message}")


def _completed(mapping: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """A mapping whose sections have the defaults of their place, not of their class."""
    made = dict(mapping)
    for name, default in defaults.items():
        if isinstance(default, msgspec.Struct) and isinstance(made.get(name), dict):
            own = {key: getattr(default, key) for key in default.__struct_fields__}
            left = {key: msgspec.to_builtins(own[key]) for key in own.keys() - made[name].keys()}
            made[name] = _completed(made[name], own) | left
    return made


def _refusal(error: msgspec.ValidationError, kind: Any) -> tuple[str, str]:
    """The key that is refused, and why, with what is accepted instead."""
    text, _, place = str(error).partition(" - at `$")
    place = place.strip("`.")
    members = _members_at(kind, place)
    unknown, sections = _UNKNOWN.match(text), [each for each in members if fields_of(each)]
    names = [name for each in members for name in names_of(each)]
    if text.startswith("Invalid value") and place.endswith(".kind"):
        kinds = _members_at(kind, place.removesuffix(".kind"))
        names = [each.__struct_config__.tag for each in kinds if fields_of(each)]
    if unknown and len(sections) == 1:
        key = ".".join(filter(None, (place, unknown[1])))
        return key, _unknown(unknown[1], key, sections[0], place)
    if names and text.startswith("Invalid"):
        a_list = ["or a list"] * any(map(_is_list, members))
        choices = " ".join([", ".join(map(str, names)), *a_list])
        value = text.rpartition(" value ")[2]
        return place, f"{place} is {value}; accepted: {choices}"
    message = refusal(error)
    return (_PLACE.findall(message) or [""])[-1], message


def fields_of(kind: Any) -> dict[str, Any]:
    """Accepted keys of a class of options and their types; empty for anything else."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return {}
    return {field.encode_name: field.type for field in _fields(kind)}


_fields = cache(msgspec.structs.fields)


def members_of(kind: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type, without what annotates them."""
    if typing.get_origin(kind) is typing.Annotated:
        return members_of(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return tuple(part for each in typing.get_args(kind) for part in members_of(each))
    return (kind,)


def names_of(kind: Any) -> tuple[Any, ...]:
    """Values that a Literal accepts."""
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) in (tuple, list)


def _members_at(kind: Any, place: str) -> tuple[Any, ...]:
    """The types that a value may have at a place such as ``a.b[0].c``."""
    members = members_of(kind)
    for part in re.findall(r"[^\W\d]\w*|\[", place):
        inner = (
            [typing.get_args(each)[0] for each in members if _is_list(each)] if part == "["
            else [fields_of(each)[part] for each in members if part in fields_of(each)]
        )  # fmt: skip
        members = tuple(member for each in inner for member in members_of(each))
    return members


def _unknown(key: str, whole: str, kind: Any, path: str) -> str:
    """Keys accepted instead of one, and the place below where there is one of this name."""
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


DEFAULT, FILE, ROBOT = "default", "file", "robot"  # sources of a value, beside "--set" and others


class Settings:
    """The mapping of a file, what was written over it, and by which words of the command line.

    Attributes:
        mapping: keys and values.
        file: what messages about it begin with.
    """

    def __init__(self, mapping: dict[str, Any], file: str) -> None:
        """Begin with a file's mapping, which is written to."""
        self.mapping, self.file = mapping, file
        self._words: dict[str, str] = {}
        self._own: dict[str, Any] | None = None  # without the options of the robot

    def assign(self, assignments: Sequence[str]) -> None:
        """Write ``KEY=VALUE`` assignments of ``--set``: dotted keys, values as YAML.

        ``@NAME`` writes every key of the launch file NAME.

        Raises:
            BadRequest: an assignment has no ``=``, its value is not YAML, its key runs through a
                value that has no keys, or there is no launch file of its name.
        """
        for assignment in assignments:
            if assignment.startswith("@"):
                for key, value in _leaves(read_mapping(find_file("launch", assignment[1:]))):
                    self.write(key, value, f"--set {assignment}")
                continue
            key, equals, text = assignment.partition("=")
            if not equals or not key.strip():
                raise BadRequest(f"--set {assignment}: give KEY=VALUE, such as --set duration=3")
            with refusing(f"--set {assignment}: the value", YamlError):
                value = read_yaml(text)
            self.write(key.strip(), value, f"--set {assignment}")

    def write(self, key: str, value: Any, words: str) -> None:
        """Set a dotted key, which `words` of the command line asked for.

        Raises:
            BadRequest: the key runs through a value that has no keys.
        """
        *sections, last = key.split(".")
        target = self.mapping
        for section in sections:
            if target.get(section) is None:
                target[section] = {}
            target = target[section]
            if not isinstance(target, dict):
                raise BadRequest(f"{words}: {section} is a value and has no keys")
        target[last] = value
        below = f"{key}."
        self._words = {k: w for k, w in self._words.items() if k != key and not k.startswith(below)}
        self._words[key] = words

    def lay_below(self, options: dict[str, Any]) -> None:
        """Take options, section by section, where this launch has none of its own."""
        self._own = copy.deepcopy(self.mapping)
        self.mapping.update(merged(options, self.mapping))

    def words(self, key: str) -> str:
        """Words of the command line for a key or for a section that it is in; empty without any."""
        parts = key.split(".")
        above = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((self._words[each] for each in above if each in self._words), "")

    def source(self, key: str) -> str:
        """Source of a key's value: `DEFAULT`, `FILE`, `ROBOT`, or such as "--set"."""
        if not _has(self.mapping, key):
            return DEFAULT
        is_robots = self._own is not None and not _has(self._own, key)
        return self.words(key).partition(" ")[0] or (ROBOT if is_robots else FILE)

    def blame(self, *keys: str) -> str:
        """Beginning of a message about these keys: words of the command line, else the file."""
        for key in keys:
            key = key.partition("[")[0]  # elements of a list have no words of their own
            below = [words for k, words in self._words.items() if k.startswith(f"{key}.")]
            if words := self.words(key) or (below[-1] if below else ""):
                return words
        return self.file


def _has(mapping: dict[str, Any], key: str) -> bool:
    """Whether a dotted key has a value; at the top, null leaves the default."""
    value: Any = mapping
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return value is not None or "." in key


def _leaves(mapping: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted keys of a mapping, and their values."""
    for key, value in mapping.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield above + key, value


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two mappings as one, section by section; those above win, but for null."""
    made = below | {key: value for key, value in above.items() if value is not None}
    for key, value in below.items():
        if isinstance(value, dict) and isinstance(above.get(key), dict):
            made[key] = merged(value, above[key])
    return made
