"""``saltus bench`` and ``saltus score``: speeds beside their peers, figures beside their record."""

import importlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.bench.catalogue import BENCHMARKS, BenchResult
from saltus.cli.options import JsonOption, SetOption, print_catalogue
from saltus.common.console import print_json, print_table, say
from saltus.common.errors import BadRequest

if TYPE_CHECKING:
    from saltus.bench.score.figures import Figure


SETTABLE = "estimators"


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            help=f"One of {', '.join(BENCHMARKS)}.", autocompletion=lambda: list(BENCHMARKS)
        ),
    ] = None,
    settings: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run a benchmark; without a name, list the benchmarks.

    Of `estimators` the launches can be set: `--set robot=go2`.
    """
    if name is None:
        return print_catalogue("benches", BENCHMARKS, json)
    if name not in BENCHMARKS:
        raise BadRequest(f"no benchmark {name!r}; accepted: {', '.join(BENCHMARKS)}")
    if settings and name != SETTABLE:
        raise BadRequest(f"--set: bench {name} has no settings; {SETTABLE} has")
    result: BenchResult = importlib.import_module(f"saltus.bench.{name}").run(*settings or ())
    if result.note:
        say(result.note)
    if json:
        print_json({"bench": name, "rows": result.rows, "ratio": result.ratio, **result.extra})
    else:
        print_table(f"bench {name}", list(result.table or result.rows))
        if result.ratio is not None:
            print(f"ratio {result.ratio:.3f}")
    return 0


GROUPS = ("size", "library", "behaviour", "start", "cost")


def score(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help=f"{', '.join(GROUPS)}; may be repeated."),
    ] = None,
    record: bool = False,
    accept: Annotated[list[str] | None, typer.Option(metavar="FIGURE")] = None,
    json: JsonOption = False,
) -> int:
    """Measure every headline figure and print it beside the record, in at most twelve minutes.

    Exit status 1 when a figure is worse than its record by more than its tolerance.

    Args:
        record: Write what is better or new into score.yaml.
        accept: With --record: write this one however it is, GROUP: FIGURE or a whole GROUP.
    """
    groups = only or list(GROUPS)
    for group in groups:
        if group not in GROUPS:
            raise BadRequest(f"--only {group!r}: accepted: {', '.join(GROUPS)}")
    if accept and not record:
        raise BadRequest("--accept writes the record; give --record too")
    from saltus.bench.score import record as board
    from saltus.common.compiled_code import code_version

    before, here, begin = board.read_record(), board.environment(), time.monotonic()
    known = {*GROUPS, *(f"{group}: {figure}" for group, figure in before)}
    if unknown := sorted({*(accept or ())} - known):
        raise BadRequest(f"--accept {unknown[0]!r}: accepted: GROUP, 'GROUP: FIGURE' of the record")
    figures = list(_measure(groups))
    judgements = [board.judge(each, before.get((each.group, each.name)), here) for each in figures]
    rows = [judgement.row() for judgement in judgements]
    for key in board.unmeasured(before, figures):
        say("{}: {}: in the record, and not measured any more".format(*key))
    worse = sum(row["worse"] for row in rows)
    seconds = time.monotonic() - begin
    _print(rows, worse, seconds, json, code_version())
    if record:
        written = board.write_record(before, judgements, here, accept or ())
        board.write_page(before)
        say(f"recorded: {len(written)} figures")
    return 1 if worse else 0


def _measure(groups: list[str]) -> "Iterator[Figure]":
    """The figures of the groups, in their order."""
    for group in groups:
        say(f"{group}: measuring")
        for figure in importlib.import_module(f"saltus.bench.score.{group}").measure():
            yield figure._replace(group=group)


def _print(rows: list[dict[str, Any]], worse: int, seconds: float, json: bool, code: str) -> None:
    if json:
        print_json({"rows": rows, "worse": worse, "seconds": seconds, "code": code})
        return
    for group in dict.fromkeys(row["group"] for row in rows):
        print_table(
            group,
            [
                {key: _cell(row[key]) for key in ("figure", "unit", "record", "goal", "now")}
                | {"verdict": row["verdict"]}
                for row in rows if row["group"] == group
            ],
        )  # fmt: skip
    for row in rows:
        if row["note"]:
            print(f"{row['group']}: {row['figure']}: {row['note']}")
    verdict = f"{worse} of {len(rows)} figures became worse" if worse else "no figure became worse"
    print(f"{verdict}; {seconds:.0f} s")


def _cell(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value
