"""The studies of ``saltus study``, read from their sources without importing them."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parent
_DECORATOR = re.compile(r"^@(study\(.*?\))$\ndef ", re.MULTILINE | re.DOTALL)


class Study(NamedTuple):
    """One study, as its decorator and the first line of its module describe it.

    Attributes:
        module: defines it.
        source: author and section, table or figure.
        description: what it shows.
        options: of ``trials``, ``seed`` and ``full``, those that have an effect.
    """

    module: str
    source: str
    description: str
    options: tuple[str, ...] = ()


def _find_studies() -> dict[str, Study]:
    """Every function under ``@study``, by name."""
    studies = {}
    for path in sorted(_ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for match in _DECORATOR.finditer(text):
            call = ast.parse(match[1], mode="eval").body
            assert isinstance(call, ast.Call)
            name, source, *options = map(ast.literal_eval, call.args)
            module = ".".join(path.relative_to(_ROOT.parents[1]).with_suffix("").parts)
            description = text.partition("\n")[0].strip('".')
            studies[name] = Study(module, source, description, *map(tuple, options))
    return studies


STUDIES = _find_studies()
