"""``saltus bench``: measure one speed, side by side with its peer where there is one."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

from saltus.bench.catalogue import BENCHMARKS, BenchResult
from saltus.cli import completion
from saltus.cli.common import JsonOption, print_catalogue
from saltus.common.console import print_json, print_table, say
from saltus.common.errors import BadRequest


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            help=f"One of {', '.join(BENCHMARKS)}.", autocompletion=completion.bench_names
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Run a benchmark; without a name, list the benchmarks."""
    if name is None:
        return print_catalogue("benches", BENCHMARKS, json)
    if name not in BENCHMARKS:
        raise BadRequest(f"no benchmark {name!r}; accepted: {', '.join(BENCHMARKS)}")
    result: BenchResult = importlib.import_module(BENCHMARKS[name].module).run()
    _save(result, Path("runs/benchmarks") / name)
    for criterion in result.criteria:
        say(f"{'met' if criterion.met else 'NOT MET'}: {criterion}")
    if result.note:
        say(result.note)
    if json:
        print_json({"bench": name, "rows": result.rows, "ratio": result.ratio, **result.extra})
    else:
        print_table(f"bench {name}", list(result.table or result.rows))
        if result.ratio is not None:
            print(f"ratio {result.ratio:.3f}")
    return 0


def _save(result: BenchResult, folder: Path) -> None:
    """Write the figures, if any; the rows count where that fails."""
    if not result.figures:
        return
    from saltus.common.figures import save  # loads matplotlib

    try:
        written = save(result.figures, folder)
    except OSError as error:
        say(f"pictures cannot be written to {folder}: {error.strerror or error}")
        return
    say(f"written to {folder}: {', '.join(path.name for path in written)}")
