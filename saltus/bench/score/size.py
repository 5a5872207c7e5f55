"""Size: tokens, lines and files of the tree, and how long its tests took."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator

from saltus.bench.score.figures import Figure
from saltus.bench.score.record import ROOT, git

TEST_PHASES = ROOT / ".kernels" / "test-phases.json"  # written by `make test`
GROWTH = 0.01  # share by which a sum may grow before it counts as a loss
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER}  # fmt: skip


def measure() -> Iterator[Figure]:
    """All figures of the group."""
    sizes = defaultdict[str, Counter[str]](Counter)
    for name in git("ls-files", "*.py").splitlines():
        path, folder = ROOT / name, name.partition("/")[0]
        if path.is_file():
            size = size_of(path.read_text(encoding="utf-8"))
            for place in {folder, "tests" if folder == "tests" else "outside tests"}:
                sizes[place].update(size)
    for place in ("outside tests", "tests"):
        for what, count in sizes.pop(place).items():
            yield Figure(f"{place}: {what}", "", count, tolerance=GROWTH)
    for folder, size in sorted(sizes.items()):
        yield Figure(f"{folder}: tokens", "", size["tokens"], "shown")
    if TEST_PHASES.is_file():
        for name, phase in json.loads(TEST_PHASES.read_text())["phases"].items():
            words = name.replace("_", " ")
            yield Figure(f"make test: {words}", "s", phase["wall_s"], "shown")


def size_of(text: str) -> dict[str, int]:
    """Size of one file; imports, docstrings and comments are no tokens of code."""
    passed_over: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            passed_over.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                passed_over.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    tokens = sum(
        token.type not in _LAYOUT and token.start[0] not in passed_over
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )
    return {"files": 1, "lines": len(text.splitlines()), "tokens": tokens}
