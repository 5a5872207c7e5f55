"""The pages of docs/ that are lists: every key of a launch file, every field of a topic.

They are committed, for those who read them in the repository. ``python docs/tables.py`` writes them
anew; a test says when that is due.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runtime.checked import Message, layout
from runtime.topics import BY_WATCHERS, COMMAND, RECORDED
from saltus.configuration.keys import NO_UNIT, Key, keys_of, text_of
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.options import fields_of, members_of
from saltus.recording.fields import (
    COMMON,
    LOG_TIME,
    PARTS,
    TOPICS,
    Column,
    columns_of,
)

FOLDER = Path(__file__).resolve().parent
KEYS_HEAD = """# Every key of a launch file

A line has a key, its default, what is accepted with its unit, and what it is. A key without a
default must be given. `0…1` is a range with its ends, `>0…1` the same without 0.
`saltus config NAME` prints the values of a launch, and the source of each. `--set KEY=VALUE` sets
a key for one launch; lists and mappings are YAML. `python docs/tables.py` makes this page.
"""


def keys_page() -> str:
    """The page of all keys, those of perturbations and scripts too."""
    parts, tops, keys = [KEYS_HEAD], {}, keys_of()
    sections, done = _sections(keys), set[str]()
    for key in keys:
        top, dot, _ = key.key.partition(".")
        lines = tops.setdefault(top if dot else "The launch", [])
        for section, own in sections.items():
            if key.key == f"{section}.{next(iter(own))}" and key.key not in done:
                like = _like(section, sections)
                if like:
                    done |= {f"{section}.{name}" for name in sections[like]}
                    lines.append(_like_line(section, like, sections))
        if key.key not in done:
            lines.append(_key_line(key))
    for title, lines in tops.items():
        parts += [f"## {title}\n", "\n".join(lines) + "\n"]
    parts.append("## Elements of lists\n\n`[KIND]` stands for an element whose `kind` is that.\n")
    elements = [key for key in element_keys() if key.key.partition("[")[0] not in done]
    return "\n".join([*parts, *map(_key_line, _by_kind(elements)), ""])


def element_keys(kind: type[Any] = LaunchConfig, path: str = "") -> list[Key]:
    """The keys of the elements of lists in a class of options: of perturbations, of a script."""
    keys = []
    for name, member in fields_of(kind).items():
        whole = f"{path}{name}"
        for part in members_of(member):
            if fields_of(part):
                keys += element_keys(part, f"{whole}.")
            elif typing.get_origin(part) in (tuple, list):
                elements = [e for e in members_of(typing.get_args(part)[0]) if fields_of(e)]
                for each in elements:
                    above = f"{whole}[{each.__struct_config__.tag or ''}]"  # what `kind` says of it
                    keys += [key._replace(key=f"{above}.{key.key}") for key in keys_of(each)]
    return keys


def _sections(keys: Iterable[Key]) -> dict[str, dict[str, Key]]:
    """Sections at every depth in their order, each with its keys by their names within it."""
    sections: dict[str, dict[str, Key]] = {}
    for key in keys:
        names = key.key.split(".")
        for depth in range(1, len(names)):
            own = sections.setdefault(".".join(names[:depth]), {})
            own[".".join(names[depth:])] = key
    return sections


def _like(section: str, sections: dict[str, dict[str, Key]]) -> str:
    """An earlier section whose keys this one has too, whatever the defaults; empty for none."""
    own = {name: _kind_of(key) for name, key in sections[section].items()}
    for earlier, others in sections.items():
        if earlier == section:
            break
        apart = not section.startswith(f"{earlier}.")
        if apart and all(own.get(name) == _kind_of(key) for name, key in others.items()):
            return earlier
    return ""


def _kind_of(key: Key) -> Key:
    return key._replace(key="", default=None)


def _like_line(section: str, like: str, sections: dict[str, dict[str, Key]]) -> str:
    own = sections[section]
    other = [
        f"`{name}` `{text_of(own[name].default)}`"
        for name, key in sections[like].items() if own[name].default != key.default
    ]  # fmt: skip
    return f"- `{section}`: the keys of `{like}`{', but ' * bool(other)}{', '.join(other)}."


def _by_kind(keys: Iterable[Key]) -> list[Key]:
    """One key for those of a list that only differ in the kind of their element."""
    kinds: dict[tuple[str, ...], tuple[Key, list[str]]] = {}
    for key in keys:
        path, _, rest = key.key.partition("[")
        kind, _, name = rest.partition("]")
        same = path, name, repr(key._replace(key=""))
        kinds.setdefault(same, (key, []))[1].append(kind)
    return [
        key._replace(key=f"{path}[{', '.join(names)}]{name}")
        for (path, name, _), (key, names) in kinds.items()
    ]


def _key_line(key: Key) -> str:
    known = key.default is not None or key.null
    values = key.accepted
    if key.range:
        least, most = f"{key.range.least:.10g}", f"{key.range.most:.10g}"
        unit = "" if key.unit == NO_UNIT else f" {key.unit}"
        values = f"{'>' if key.range.above else ''}{least}…{most}{unit}"
        values += ", or text" if "text" in key.kind else ""
    if key.null and (key.default is not None or not key.range):
        values = f"{values.removesuffix(', or null')}, or null"
    parts = [f"`{text_of(key.default)}`"] * known + [values] * (values != "true, false")
    return f"- `{key.key}` ({'; '.join(parts)}): {key.description}"


# Fields of many messages, which the page explains once.
SHARED = ("tick", "time", "sequence")
BEGIN = "<!-- made by docs/tables.py -->"
END = "<!-- end -->"


def topics_page(page: str) -> str:
    """The page of topics, with its lists as they are now between the two marks.

    Raises:
        ValueError: the page lacks the marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} before an {END}")
    kinds = list(dict.fromkeys(topic.message for topic in RECORDED))
    parts = [_field_line(name, Column(field, (slots.stop - slots.start,), name), "")
             for own in PARTS.values() for name, (slots, field) in own.items()]  # fmt: skip
    shared = [_field_line(name, Column(COMMON[name], (), name), "") for name in SHARED]
    heads = ["## Common fields", "\n".join(shared), "## State", "\n".join(parts)]
    lists = "\n\n".join([_topics(), *heads, *map(_fields, kinds)])
    return f"{before}{BEGIN}\n{lists}\n{END}{after}"


def _topics() -> str:
    others = (COMMAND, *BY_WATCHERS)
    return "\n".join(
        f"- `{topic.name}`{'¹' * (topic in others)}, {topic.rate_hz:g} Hz: "
        f"[{(kind := topic.message.__name__)}](#{kind.lower()}), {TOPICS[topic.name]}"
        for topic in RECORDED
    )


def _fields(kind: type[Message]) -> str:
    words, common = dict(layout(kind).words), COMMON.values()
    shared, rows = [], []
    for name, column in columns_of(kind).items():
        if name in SHARED and column.field in common:
            shared.append(f"`{name}`")
        elif name != LOG_TIME and column.slots is None:
            rows.append(_field_line(name, column, ", ".join(words.get(name, ()))))
    if shared:
        rows.insert(0, f"- {', '.join(shared)}: [common](#common-fields)")
    return "\n".join([f"## {kind.__name__}", "", *rows])


def _field_line(name: str, column: Column, words: str) -> str:
    """A field; the page says once that every message has `log_time`, and what a state holds."""
    unit, frame, meaning = column.field
    shape = f" ({', '.join(map(str, column.shape))})" if column.shape else ""
    where = f", {frame}" if frame else ""
    accepted = f": {words}" if words else ""
    return f"- `{name}`{shape}{f' [{unit}]' * bool(unit)}{where}: {meaning}{accepted}"


if __name__ == "__main__":
    (FOLDER / "keys.md").write_text(keys_page())
    topics = FOLDER / "topics.md"
    topics.write_text(topics_page(topics.read_text()))
