"""Figures and pictures inside the page, as data URIs."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from saltus.common.figures import png, svg
from saltus.report.html import Html, tag


class Panel(NamedTuple):
    """One picture and what it shows, for those who cannot see it."""

    source: str  # data URI
    alt: str
    label: str = ""  # in small print below


def data_uri(kind: str, content: bytes) -> str:
    """A file as a URI that holds it; ``kind`` is its MIME type."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def drawn(drawing: Figure, alt: str, many_lines: bool = False) -> Panel:
    """A figure as a panel: outlines, or pixels where many lines make these smaller."""
    if many_lines:
        return Panel(data_uri("image/png", png(drawing)), alt)
    return Panel(data_uri("image/svg+xml", svg(drawing)), alt)


def image(panel: Panel) -> Html:
    """The picture of a panel, with its label."""
    picture = tag("img", src=panel.source, alt=panel.alt)
    if not panel.label:
        return picture
    return tag("span", picture, tag("small", panel.label), class_="labelled")


def side_by_side(panels: Iterable[Panel], caption: Any = None, kind: str = "panels") -> Html:
    """A figure of panels that wrap where the page is narrow.

    Args:
        panels: from left to right.
        caption: what they show; None where a heading says it.
        kind: ``panels``, up to three in a row, or ``strip``, many small ones.
    """
    row = tag("div", *(image(panel) for panel in panels), class_=kind)
    return tag("figure", row, tag("figcaption", caption) if caption else None)
