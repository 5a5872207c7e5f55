"""HTML from plain calls: every text is escaped, so nothing in a name or a message is markup."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

_VOID = ("br", "img", "meta", "source")  # elements without an end


class Html(str):
    """Markup that is safe as it stands; every other string is text."""


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element.

    Args:
        name: of the element.
        children: ``Html`` is kept; any other value is escaped as text; None is left out.
        attributes: ``class_`` becomes ``class`` and ``_`` a dash; True stands alone, and None and
            False leave the attribute out.
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(children)}</{name}>")


def join(children: Iterable[Any]) -> Html:
    """Several children, one after the other."""
    return Html("".join(_escaped(child) for child in children if child is not None))


def section(title: str, *children: Any) -> Html:
    """A part of the page under a heading."""
    return tag("section", tag("h2", title), *children)


def note(text: str) -> Html:
    """A paragraph in small print."""
    return tag("p", with_code(text), class_="note")


def with_code(text: str) -> Html:
    """Text in which what stands between backticks is code."""
    parts = text.split("`")
    return join(tag("code", part) if i % 2 else part for i, part in enumerate(parts))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: Any, words: int = 1) -> Html:
    """A table that scrolls sideways by itself where the page is narrow.

    Args:
        head: of the columns.
        rows: cells; a cell may be ``Html``.
        caption: what the table shows.
        words: number of columns on the left that hold words; the others hold numbers.
    """

    def line(cells: Sequence[Any], kind: str) -> Html:
        return tag("tr", *(
            tag(kind, cell, class_=None if i < words else "number") for i, cell in enumerate(cells)
        ))  # fmt: skip

    body = tag("tbody", *(line(row, "td") for row in rows))
    inner = tag("table", tag("caption", caption), tag("thead", line(head, "th")), body)
    return tag("div", inner, class_="wide", tabindex="0")


def folded(title: str, *children: Any, open_: bool = False) -> Html:
    """A part that opens on a click, without a script."""
    return tag("details", tag("summary", title), *children, open=open_)


def _escaped(child: Any) -> str:
    return child if isinstance(child, Html) else html.escape(str(child))


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
