"""``saltus bench``: measure one speed, side by side with its peer where there is one."""

import importlib
from typing import Annotated

import typer

from saltus.commands.common import JsonOption
from saltus.console import print_json, print_table, say
from saltus.errors import BadRequest

# name -> module and function, which takes nothing and returns a BenchResult
BENCHMARKS = {
    "planner": ("saltus.benchmarks.planner", "run"),
    "tracker": ("saltus.benchmarks.one_khz", "run_tracker"),
    "estimator": ("saltus.benchmarks.one_khz", "run_estimator"),
    "convex_mpc": ("saltus.benchmarks.force_qps", "run"),
    "hybrid": ("saltus.benchmarks.hybrid_simulation", "run"),
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
    if result.note:
        say(result.note)
    if json:
        print_json({"bench": name, "rows": result.rows, "ratio": result.ratio})
    else:
        print_table(f"bench {name}", result.rows)
        if result.ratio is not None:
            print(f"ratio {result.ratio:.3f}")
    return 0
