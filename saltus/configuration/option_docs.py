"""What each option of a class is for, read from where its author wrote it."""

import ast
import inspect
import re
import textwrap
from functools import cache
from typing import Any

import msgspec

_SECTION = re.compile(r"^Attributes:\n((?:[ ]+.*\n|\n)*)", re.MULTILINE)


@cache
def descriptions(kind: type[Any]) -> dict[str, str]:
    """Descriptions of the options of a Struct or a dataclass, by their keys in a launch file.

    A description is an entry ``name: text`` in the ``Attributes:`` section of the class's
    docstring, or a string right after the annotated field. An inherited option has that of the
    class that declares it, unless a class that inherits it describes it too.

    Returns:
        One line of text for each option that is described.
    """
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] not in ("builtins", "msgspec"):
            texts |= _entries(base) | _strings_after_fields(base)
    fields = msgspec.structs.fields(kind) if issubclass(kind, msgspec.Struct) else ()
    keys = {field.name: field.encode_name for field in fields}
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


def _strings_after_fields(kind: type[Any]) -> dict[str, str]:
    declared = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    body = declared.body if isinstance(declared, ast.ClassDef) else []
    texts: dict[str, str] = {}
    for field, after in zip(body, body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                texts[name] = " ".join(str(text).split())
    return texts
