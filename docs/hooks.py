"""Pages that `make docs` generates: the start page, the commands, the API and the gallery.

They are made of README.md, the command line, `saltation` and the studies, so they are never out of
date and are not committed. mkdocs calls `on_files`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the packages that the pages describe


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of docs/."""
    from mkdocs.structure.files import File

    for uri, text in pages().items():
        files.append(File.generated(config, uri, content=text))
    return files


# A paragraph that is a link to an example.
EXAMPLE = re.compile(r"^\[`(examples/\w+\.py)`\]\(\S+\)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with the code of the examples in place of the links to them."""
    return EXAMPLE.sub(lambda link: f"```python\n{(ROOT / link[1]).read_text()}```", markdown)


def pages() -> dict[str, str]:
    """Markdown of each generated page, by its path below docs/."""
    return {
        "index.md": start_page(),
        "gallery.md": gallery(),
        "reference/commands.md": commands(),
        "reference/saltation.md": library_api(),
        "reference/saltus.md": saltus_api(),
    }


def start_page() -> str:
    """README.md, with its links as seen from docs/; files outside docs/ lose their link."""
    text = (ROOT / "README.md").read_text()
    text = re.sub(r"\[([^\]]+)\]\((?!docs/|https?://)[^)]+\)", r"\1", text)
    text = text.replace("](docs/saltation.md#studies)", "](gallery.md)", 1)
    return text.replace("](docs/", "](")


def commands() -> str:
    """Every command with its arguments and options."""
    import typer

    from saltus.cli.app import app

    group: Any = typer.main.get_command(app)
    parts = ["# Commands", "`saltus COMMAND --help` prints the same."]
    for name in sorted(group.commands):
        command = group.commands[name]
        arguments = [_argument(each) for each in command.params if _is_argument(each)]
        usage = " ".join(["saltus", name, *arguments])
        parts += [f"## {name}", command.help, f"```\n{usage} [OPTIONS]\n```"]
        head = ["| | default | what it is |", "|---|---|---|"]
        parts.append("\n".join([*head, *_rows(command.params)]))
    return "\n\n".join(parts) + "\n"


def _is_argument(parameter: Any) -> bool:
    return parameter.param_type_name == "argument"


def _argument(parameter: Any) -> str:
    name = parameter.name.upper()
    return name if parameter.required else f"[{name}]"


def _rows(parameters: list[Any]) -> Iterator[str]:
    """Lines of the table of one command."""
    for parameter in parameters:
        if _is_argument(parameter):
            name = f"`{parameter.name.upper()}`"
        else:
            name = ", ".join(f"`{option}`" for option in parameter.opts)
            if not parameter.is_flag:
                name += f" {parameter.metavar or _values(parameter)}"
        default = parameter.default
        plain = isinstance(default, str | int | float) and not isinstance(default, bool)
        words = " ".join((parameter.help or "").split()).replace("|", "\\|")
        yield f"| {name} | {f'`{default}`' if plain else ''} | {words} |"


def _values(parameter: Any) -> str:
    """Values of an option: its choices, or its type."""
    kind: Any = parameter.type_descriptor.annotation
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    return getattr(kind, "__name__", str(kind)).upper()


def library_api() -> str:
    """The names of `import saltation as sa`, and those of its parts."""
    import saltation

    parts = [
        "# API of `saltation`",
        "`import saltation as sa` gives these names. [The guide](../saltation.md) shows their use.",
    ]
    parts += [f"::: saltation.{name}" for name in saltation.__all__]
    for title, names in (
        ("Event-selected systems", EVENT_SELECTED),
        ("Impacts of several contacts", IMPACTS),
    ):
        parts += [f"# {title}", *(f"::: {name}" for name in names)]
    return "\n\n".join(parts) + "\n"


EVENT_SELECTED = (
    "saltation.event_selected.EventSelectedSystem", "saltation.event_selected.EssOptions",
    "saltation.event_selected.integrate", "saltation.event_selected.integrate_batch",
    "saltation.event_selected.EssRun", "saltation.event_selected.bouligand.bouligand_derivative",
    "saltation.event_selected.bouligand.all_pieces",
)  # fmt: skip
IMPACTS = (
    "saltation.impacts.contact_problem.ContactProblem", "saltation.impacts.resolution.simultaneous",
    "saltation.impacts.resolution.sequential", "saltation.impacts.sampling.sample_impacts",
    "saltation.impacts.sampling.SamplingOptions",
    "saltation.impacts.surface_cosines.surface_cosines",
)  # fmt: skip


def saltus_api() -> str:
    """Names to import from `saltus`, and interfaces of an own planner, estimator or study."""
    names = (
        "saltus.open_run", "saltus.recording.run.Run", "saltus.recording.run.Messages",
        "saltus.launch.trace.load_trace", "estimator.interface.Estimator", "controller.gaits.Gait",
    )  # fmt: skip
    head = ["# API of `saltus`", "[Recordings](../recordings.md) shows how to read a run."]
    return "\n\n".join([*head, *(f"::: {name}" for name in names)]) + "\n"


# Pictures that other pages show too.
PICTURES = {"table-5.1": "pictures/figure-5.2.png", "latency": "pictures/latency.png"}


def gallery() -> str:
    """Every study: what it shows, its command, and its picture; those with one come first."""
    from studies.study import STUDIES, find

    parts = [
        "# Gallery of studies",
        "A study computes a table or a figure of a source, or compares methods on the A1. "
        "`saltus study NAME` prints the rows, saves the figures in `runs/studies/NAME`, and has "
        "exit status 1 where a criterion is not met. "
        "[The sources, equation by equation](thesis.md) lists where results differ.",
    ]
    for name in sorted(STUDIES, key=lambda name: not _picture(name)):
        parts += [f"## {name}", f"{STUDIES[name].description}."]
        parts += [f"Source: {find(name)[1].source}.", f"```\nsaltus study {name}\n```"]
        if picture := _picture(name):
            parts.append(f"![Figure of the study {name}]({picture}){{ loading=lazy }}")
    return "\n\n".join(parts) + "\n"


def _picture(study: str) -> str:
    """Path below docs/; empty for none."""
    picture = PICTURES.get(study, f"pictures/studies/{study}.png")
    return picture if (ROOT / "docs" / picture).exists() else ""
