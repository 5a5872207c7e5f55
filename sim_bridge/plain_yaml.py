"""YAML text to plain data; what a file can do wrong is one clear line."""

import re
import warnings
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError, YAMLWarning

MOST_NESTED = 40  # levels of lists and mappings; thousands would overflow the parser's stack
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]")  # 050 is 40 in YAML 1.1, 50 in 1.2


class YamlError(ValueError):
    """A text that is not YAML, or not YAML that a person writes; the message is one line."""


class _Constructor(SafeConstructor):
    """Refuses what would be lost, or read as another number than it looks like."""

    def check_mapping_key(
        self, node: Any, key_node: Any, mapping: Any, key: Any, value: Any
    ) -> bool:
        if key in mapping:
            first = next(each for each, _ in node.value if each.value == key_node.value)
            lines = [each.start_mark.line + 1 for each in (first, key_node)]
            raise YamlError(f"{key} stands twice in one mapping: lines {lines[0]} and {lines[1]}")
        return True

    def construct_yaml_int(self, node: Any) -> int:
        if _LEADING_ZERO.match(node.value):
            raise YamlError(f"{node.value} in line {node.start_mark.line + 1} has a leading zero")
        return super().construct_yaml_int(node)


_Constructor.add_constructor("tag:yaml.org,2002:int", _Constructor.construct_yaml_int)


def read_yaml(text: str | bytes) -> Any:
    """Plain data of one document of YAML 1.2.

    Raises:
        YamlError: it is not UTF-8, not YAML, has a key or an anchor twice or a number with a
            leading zero, or is nested more than `MOST_NESTED` levels.
    """
    reader = YAML(typ="safe", pure=True)
    reader.Constructor, reader.max_depth = _Constructor, MOST_NESTED + 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", YAMLWarning)  # an anchor that stands twice
            return reader.load(text.decode() if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise YamlError(f"no text in UTF-8: {error.reason} at byte {error.start}") from error
    except MaxDepthExceededError as error:
        raise YamlError(f"nested more than {MOST_NESTED} levels deep") from error
    except YamlError:
        raise
    except (YAMLError, YAMLWarning, ValueError) as error:
        raise YamlError(f"not YAML: {' '.join(str(error).split())}") from error
