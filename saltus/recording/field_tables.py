"""The tables of docs/topics.md: topics, and the fields of their messages.

``python -m saltus.recording.field_tables docs/topics.md`` generates them.
"""

import sys
from pathlib import Path

from runtime.checked import Message, layout
from runtime.topics import BY_WATCHERS, COMMAND, RECORDED
from saltus.recording.fields import LOG_TIME, TOPIC_MEANINGS, Column, columns_of

BEGIN = "<!-- made by saltus.recording.field_tables -->"
END = "<!-- end -->"


def tables() -> str:
    """All tables as Markdown."""
    kinds = list(dict.fromkeys(topic.message for topic in RECORDED))
    return "\n\n".join([_topics(), *map(_fields, kinds)])


def written_anew(page: str) -> str:
    """A page with the tables as they are now between its two marks.

    Raises:
        ValueError: the page lacks the marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} before an {END}")
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def _topics() -> str:
    others = (COMMAND, *BY_WATCHERS)
    rows = [
        f"| `{topic.name}` | [{(kind := topic.message.__name__)}](#{kind.lower()}) "
        f"| {topic.rate_hz:g} Hz "
        f"| {'the sender' if topic in others else 'the launch'}'s | {TOPIC_MEANINGS[topic]} |"
        for topic in RECORDED
    ]
    head = ["| topic | message | rate | clock of `time` | what |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _fields(kind: type[Message]) -> str:
    words = dict(layout(kind).words)
    rows = ["| field | shape | unit | frame | what |", "|---|---|---|---|---|"]
    for name, column in columns_of(kind).items():
        if name == LOG_TIME:  # every message has it, and the page says so once
            continue
        unit, frame, meaning = column.field
        accepted = f": {', '.join(words[name])}" if name in words else ""
        rows.append(f"| `{name}` | {_shape(column)} | {unit or '–'} | {frame or '–'} "
                    f"| {meaning}{accepted} |")  # fmt: skip
    return "\n".join([f"## {kind.__name__}", "", *rows])


def _shape(column: Column) -> str:
    """Of all n messages."""
    sizes = ", ".join(map(str, column.shape))
    if column.varies:
        return f"n arrays ({sizes}{',' if len(column.shape) == 1 else ''})"
    return f"(n, {sizes})" if sizes else "(n,)"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written_anew(path.read_text()))
