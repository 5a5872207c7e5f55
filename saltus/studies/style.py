"""How the figures of the studies look, and how they are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

COLOURS = {
    "xi": "goldenrod",
    "dxr": "tab:red",
    "seed": "tab:gray",
    "initial": "tab:blue",
    "final": "tab:green",
    "actual": "black",
    "guard": "black",
    "target": "magenta",
    "direct": "teal",
}
LABELS = {
    "seed": "seed",
    "xi": r"$\Xi$-iLQR",
    "dxr": r"$D_xR$-iLQR",
    "direct": "direct collocation",
    "no_extension": r"$\Xi$, no extension",
}  # of the trajectories and methods, as the thesis writes them
GUARD = {"color": COLOURS["guard"], "linestyle": "--", "linewidth": 1.0}  # of a guard surface
TARGET = {"color": COLOURS["target"], "marker": "+", "markersize": 12, "markeredgewidth": 2.0,
          "linestyle": "none"}  # fmt: skip
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
    drawn = {f"{name}.png": _png(drawing) for name, drawing in figures.items()}
    folder.mkdir(parents=True, exist_ok=True)
    return [_write(folder / name, content) for name, content in drawn.items()]


def _png(drawing: Figure) -> bytes:
    content = BytesIO()
    drawing.savefig(content, format="png", dpi=_DPI)
    return content.getvalue()


def _write(path: Path, content: bytes) -> Path:
    """Write beside ``path`` and move there: a reader sees the old picture or the whole new one."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as part:
        try:
            part.write(content)
            part.close()
            os.chmod(part.name, 0o644)
            os.replace(part.name, path)
        except BaseException:
            os.unlink(part.name)
            raise
    return path
