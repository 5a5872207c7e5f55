"""The keys of a launch before they are checked, and who set each: its file or the command line."""

import copy
from collections.abc import Sequence
from typing import Any

from saltus.common.errors import BadRequest
from sim_bridge.plain_yaml import YamlError, read_yaml

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
                raise BadRequest(f"--set {assignment}: the value: {error}") from error
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
        self.mapping.update(_merge(options, self.mapping))

    def words(self, key: str) -> str:
        """What the command line says of a key or of a section that it is in; empty for nothing."""
        parts = key.split(".")
        above = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((self._words[each] for each in above if each in self._words), "")

    def source(self, key: str) -> str:
        """Where a key's value comes from: `DEFAULT`, `FILE`, `ROBOT`, or such as "--set"."""
        if not _has(self.mapping, key):
            return DEFAULT
        is_robots = self._own is not None and not _has(self._own, key)
        return self.words(key).partition(" ")[0] or (ROBOT if is_robots else FILE)

    def blame(self, *keys: str) -> str:
        """What a message about these keys begins with: words of the command line, else the file."""
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


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two mappings as one, section by section; those above win, but for null."""
    merged = below | {key: value for key, value in above.items() if value is not None}
    for key, value in below.items():
        if isinstance(value, dict) and isinstance(above.get(key), dict):
            merged[key] = _merge(value, above[key])
    return merged
