"""The studies of ``saltus study``, read from their sources without importing them."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

from saltus.common.errors import BadRequest

_ROOT = Path(__file__).parent
_DECORATOR = re.compile(r"^@(study\(.*?\))$\ndef ", re.MULTILINE | re.DOTALL)


class Study(NamedTuple):
    """One study, as its decorator and the first line of its module describe it.

    Attributes:
        module: defines it; its name, or the path of a FILE.py.
        source: author and section, table or figure.
        description: what it shows.
        options: of ``trials``, ``seed`` and ``full``, those that have an effect.
    """

    module: str
    source: str
    description: str
    options: tuple[str, ...] = ()


def add_from_file(place: str) -> str:
    """Add the study of ``FILE.py``, or of several the one in ``FILE.py:NAME``; return its name.

    Raises:
        BadRequest: the file cannot be read, or does not have the study.
    """
    file, _, name = place.partition(":")
    try:
        studies = _studies_in(Path(file), file)
    except (OSError, ValueError, SyntaxError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadRequest(f"study {place}: {reason}") from error
    if not name and len(studies) == 1:
        name = next(iter(studies))
    if name not in studies:
        has = ", ".join(studies) or "no function under @study"
        raise BadRequest(f"study {place}: give FILE.py:NAME of a study in it; it has {has}")
    STUDIES[name] = studies[name]
    return name


def _find_studies() -> dict[str, Study]:
    """Every study of Saltus, by name."""
    studies = {}
    for path in sorted(_ROOT.rglob("*.py")):
        studies |= _studies_in(path, ".".join(path.relative_to(_ROOT.parents[1]).parts)[:-3])
    return studies


def _studies_in(path: Path, module: str) -> dict[str, Study]:
    """The functions under ``@study`` in a file, by name."""
    studies, text = {}, path.read_text(encoding="utf-8")
    for match in _DECORATOR.finditer(text):
        call = ast.parse(match[1], mode="eval").body
        assert isinstance(call, ast.Call)
        name, source, *options = map(ast.literal_eval, call.args)
        description = text.partition("\n")[0].strip('".')
        studies[name] = Study(module, source, description, *map(tuple, options))
    return studies


STUDIES = _find_studies()
