"""YAML text to plain data; what a file can do wrong is one clear line."""

from typing import Any

import msgspec
import yaml

MOST_NESTED = 40  # levels of lists and mappings; thousands would overflow the parser's stack
LIBYAMLS_LIMIT = "maximum nesting depth"  # in its message on a text beyond its own limit
_OPENING = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_CLOSING = (yaml.SequenceEndEvent, yaml.MappingEndEvent)


class YamlError(ValueError):
    """A text that is not YAML, or not YAML that a person writes; the message is one line."""


def read_yaml(text: str | bytes) -> Any:
    """Plain data of one YAML document.

    Raises:
        YamlError: it is not UTF-8, not YAML, or nested more than `MOST_NESTED` levels.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        _check_nesting(text)
        return msgspec.yaml.decode(text)
    except UnicodeDecodeError as error:
        raise YamlError(f"no text in UTF-8: {error.reason} at byte {error.start}") from error
    except (msgspec.DecodeError, yaml.YAMLError, ValueError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(f"not YAML: {' '.join(str(error).split())}") from error


def _check_nesting(text: str) -> None:
    """Raise before anything is built: libyaml parses without a stack, and builds with one."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, _OPENING) - isinstance(event, _CLOSING)
            if depth > MOST_NESTED:
                raise YamlError(f"nested more than {MOST_NESTED} levels deep")
    except yaml.YAMLError as error:
        if LIBYAMLS_LIMIT in str(error):  # it reads ahead, and may refuse before the events come
            raise YamlError(f"nested more than {MOST_NESTED} levels deep") from error
        raise
