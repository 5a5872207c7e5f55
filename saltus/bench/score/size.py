"""Size: tokens, lines and files of the tree, and how long its tests took."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from saltus.bench.score.figures import Figure
from saltus.bench.score.record import ROOT, git

TEST_PHASES = ROOT / ".kernels" / "test-phases.json"  # written by `make test`
GROWTH = 0.01  # share by which a sum may grow before it counts as a loss
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER}  # fmt: skip


class Size(NamedTuple):
    """Size of a file or a folder; imports, docstrings and comments are no tokens of code."""

    files: int
    lines: int
    tokens: int


def measure() -> Iterator[Figure]:
    """All figures of the group."""
    sizes = sizes_by_folder()
    outside = [size for folder, size in sizes.items() if folder != "tests"]
    for name, size in (
        ("outside tests", Size(*np.sum(outside, axis=0).tolist())), ("tests", sizes["tests"])
    ):  # fmt: skip
        for what, count in size._asdict().items():
            yield Figure(f"{name}: {what}", "", count, tolerance=GROWTH)
    for folder, size in sizes.items():
        if folder != "tests":
            yield Figure(f"{folder}: tokens", "", size.tokens, "shown")
    if TEST_PHASES.is_file():
        for name, phase in json.loads(TEST_PHASES.read_text())["phases"].items():
            words = name.replace("_", " ")
            yield Figure(f"make test: {words}", "s", phase["wall_s"], "shown")


def sizes_by_folder() -> dict[str, Size]:
    """Python that git tracks, by top folder, in the working tree."""
    sums: defaultdict[str, list[Size]] = defaultdict(list)
    for name in git("ls-files", "*.py", "*.pyi").splitlines():
        path = ROOT / name
        if path.is_file() and path.suffix == ".py":
            sums[name.partition("/")[0]].append(size_of(path.read_text(encoding="utf-8")))
    return {
        folder: Size(*np.sum(sizes, axis=0).tolist()) for folder, sizes in sorted(sums.items())
    }  # fmt: skip


def size_of(text: str) -> Size:
    """Size of one file."""
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
    return Size(1, len(text.splitlines()), tokens)
