"""Figures without a window: how they look, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from saltus.common.files import write_file

_STYLE: dict[Any, Any] = {
    "axes.labelsize": 9, "axes.linewidth": 0.6, "axes.spines.right": False,
    "axes.spines.top": False, "axes.titlesize": 10, "xtick.labelsize": 8, "ytick.labelsize": 8,
}  # fmt: skip
_DPI = 160


def figure(
    columns: int = 1, rows: int = 1, width: float = 6.4, height: float = 3.6, **kw: Any
) -> tuple[Figure, Any]:
    """A figure of ``width`` by ``height`` inches and its axes, laid out without overlaps.

    Args:
        columns: of axes.
        rows: of axes.
        width: [inch].
        height: [inch].
        kw: further arguments of ``Figure.subplots``, such as ``sharex``.

    Returns:
        The figure, and one ``Axes`` or an array of them, as ``Figure.subplots`` gives.
    """
    with mpl.rc_context(_STYLE):
        made = Figure(figsize=(width, height), layout="constrained")
        return made, made.subplots(rows, columns, **kw)


def save(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write each figure as ``folder/NAME.png``; all are drawn before the first is written.

    Raises:
        OSError: the folder cannot be made or written to; no half-written picture is left.
    """
    drawn = {f"{name}.png": png(drawing) for name, drawing in figures.items()}
    folder.mkdir(parents=True, exist_ok=True)
    return [write_file(folder / name, content) for name, content in drawn.items()]


def png(drawing: Figure) -> bytes:
    """The figure as a PNG file."""
    content = BytesIO()
    drawing.savefig(content, format="png", dpi=_DPI)
    return content.getvalue()
