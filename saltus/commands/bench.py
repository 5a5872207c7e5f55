"""``saltus bench``: measure one speed, side by side with its peer where there is one."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.commands.common import JsonOption
from saltus.console import print_json, print_table, say
from saltus.errors import BadRequest

if TYPE_CHECKING:
    from saltus.benchmarks.result import BenchResult

# name -> module and function, which takes nothing and returns a BenchResult
BENCHMARKS = {
    "planner": ("saltus.benchmarks.planner", "run"),
    "tick": ("saltus.benchmarks.tick", "run"),
    "tracker": ("saltus.benchmarks.one_khz", "run_tracker"),
    "estimator": ("saltus.benchmarks.one_khz", "run_estimator"),
    "estimators": ("saltus.benchmarks.estimators", "run"),
    "convex_mpc": ("saltus.benchmarks.force_qps", "run"),
    "hybrid": ("saltus.benchmarks.hybrid_simulation", "run"),
    "drive": ("saltus.benchmarks.drive", "run"),
    "view": ("saltus.benchmarks.view", "run"),
    "view_memory": ("saltus.benchmarks.view", "run_memory"),
    "a1": ("saltus.benchmarks.a1", "run"),
    "wire": ("saltus.benchmarks.wire", "run"),
    "skf": ("saltus.benchmarks.salted_filters", "run"),
    "impacts": ("saltus.benchmarks.impacts", "run"),
    "recording": ("saltus.benchmarks.recording", "run"),
    "rollouts": ("saltus.benchmarks.rollouts", "run"),
}


def bench(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    json: JsonOption = False,
) -> int:
    """Measure one speed."""
    if name not in BENCHMARKS:
        raise BadRequest(f"no benchmark {name!r}; accepted: {', '.join(BENCHMARKS)}")
    module, function = BENCHMARKS[name]
    result = getattr(importlib.import_module(module), function)()
    _save(result, Path("runs/benchmarks") / name)
    if result.note:
        say(result.note)
    if json:
        print_json({"bench": name, "rows": result.rows, "ratio": result.ratio})
    else:
        print_table(f"bench {name}", list(result.table or result.rows))
        if result.ratio is not None:
            print(f"ratio {result.ratio:.3f}")
    return 0


def _save(result: "BenchResult", folder: Path) -> None:
    """Write the figures, if any; the rows count where that fails."""
    if not result.figures:
        return
    from saltus.figures import save  # loads matplotlib

    try:
        written = save(result.figures, folder)
    except OSError as error:
        say(f"pictures cannot be written to {folder}: {error.strerror or error}")
        return
    say(f"written to {folder}: {', '.join(path.name for path in written)}")
