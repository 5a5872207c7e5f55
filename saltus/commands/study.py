"""``saltus study``: reproduce one table or figure of a source."""

import importlib
import os
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.markup import escape

from saltus.commands.common import JsonOption
from saltus.console import print_json, print_lines, print_table, say
from saltus.errors import BadRequest
from saltus.progress import RunProgress

if TYPE_CHECKING:
    from saltus.studies.study import StudyResult


class Study(NamedTuple):
    """A study of the command line: the module whose ``run`` does it, and what it shows."""

    module: str
    description: str


STUDIES = {
    "table-2.1": Study(
        "saltus.studies.table_2_1", "eleven planners on a hill, and how uncertainty shrinks"
    ),
    "table-2.2": Study("saltus.studies.table_2_2", "the planners of table 2.1 against each other"),
    "rotary-pendulum": Study(
        "saltus.studies.rotary_pendulum", "swing-ups of a rotary cart pole, pushed at every step"
    ),
    "convergent-hybrid": Study(
        "saltus.studies.convergent_hybrid", "HiLQR plans that shrink uncertainty through impacts"
    ),
    "rollout-drift": Study(
        "saltus.studies.rollout_drift", "how far float32 rollouts drift from MuJoCo on the CPU"
    ),
    "table-3.1": Study(
        "saltus.studies.table_3_1", "covariance through an event: particles against saltation"
    ),
    "table-5.1": Study(
        "saltus.studies.table_5_1", "bouncing ball: HiLQR with saltation or reset Jacobian"
    ),
    "spring-damper": Study("saltus.studies.spring_damper", "HiLQR onto a spring-damper floor"),
    "curved-surface": Study("saltus.studies.curved_surface", "HiLQR for a ball inside a tube"),
    "quadcopter": Study("saltus.studies.quadcopter", "HiLQR for a perching quadcopter"),
    "ball-mpc": Study("saltus.studies.ball_mpc", "MPC with and without the hybrid cost update"),
    "saltation-rigid-body": Study(
        "saltus.studies.saltation_rigid_body", "closed-form saltation matrices against definitions"
    ),
    "floquet": Study("saltus.studies.floquet", "Floquet multipliers against Poincare maps"),
    "event-accuracy": Study(
        "saltus.studies.event_accuracy",
        "event times and orders of convergence against closed forms",
    ),
    "skf-particles": Study(
        "saltus.studies.skf_particles", "salted filter and its bank beside particles, and the time"
    ),
    "skf-constant-flow": Study(
        "saltus.studies.skf_constant_flow", "constant flow: Kalman filters with Xi or D_x R"
    ),
    "a1-faults": Study(
        "saltus.studies.a1_faults", "the emulated A1 over UDP, in real time, and what can go wrong"
    ),
    "skf-aslip": Study("saltus.studies.skf_aslip", "two jumps: Kalman filters with Xi or D_x R"),
    "ess-order": Study(
        "saltus.studies.ess_order", "event-selected integration: order of convergence in epsilon"
    ),
    "ess-contacts": Study(
        "saltus.studies.ess_contacts", "event-selected integration: cost of a contact, and MuJoCo's"
    ),
    "impact-sets": Study(
        "saltus.studies.impact_sets", "all outcomes of simultaneous impacts with friction"
    ),
    "zeno-block": Study("saltus.studies.zeno_block", "a rocking block's infinitely many impacts"),
    "impact-compliance": Study(
        "saltus.studies.impact_compliance", "stiff contacts against the set of rigid outcomes"
    ),
    "uniqueness-rhex": Study(
        "saltus.studies.uniqueness_rhex", "where a RHex's double touchdown has one outcome"
    ),
    "derivatives": Study(
        "saltus.studies.derivatives",
        "derivatives of the planner: rigid, of soft contact, differences",
    ),
    "latency": Study(
        "saltus.studies.latency", "which computer is needed: pushes against the time of a solve"
    ),
    "a1-touchdown": Study(
        "saltus.studies.a1_touchdown", "how unpredictable the A1's touchdowns are, by gait"
    ),
}
_WIDTH = 80  # columns of a note


def study(
    name: Annotated[str | None, typer.Argument(help=f"One of {', '.join(STUDIES)}.")] = None,
    trials: Annotated[int | None, typer.Option(help="Instead of the study's own number.")] = None,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="The size that the source has.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the pictures; left out, runs/studies/NAME.")
    ] = None,
    json: JsonOption = False,
    listed: Annotated[bool, typer.Option("--list", help="Name the studies and leave.")] = False,
) -> int:
    """Reproduce one table or figure; without a name, list those that there are."""
    if listed or name is None:
        return _list(json)
    _check(name, trials, seed)
    folder = output or Path("runs/studies") / name
    _check_writable(folder)
    started = time.monotonic()
    result = _run(name, trials, seed, full)
    seconds = time.monotonic() - started
    if not result.rows:
        say(f"study {name} gave no rows")
        return 1
    closing = [*result.notes, *_save(result, folder)]
    if json:
        for line in closing:
            say(line)
        print_json({"study": name, "rows": list(result.rows), "seconds": seconds})
    else:
        headings = list(result.shown.values()) if isinstance(result.shown, Mapping) else None
        print_table(f"study {name}", [_readable(row, result) for row in result.rows], headings)
        for line in closing:
            print_lines(textwrap.wrap(line, _WIDTH, break_long_words=False))
    return 0


def _list(json: bool) -> int:
    if json:
        print_json({"studies": {name: entry.description for name, entry in STUDIES.items()}})
    else:
        print_lines([f"{name:22}{entry.description}" for name, entry in STUDIES.items()])
    return 0


def _check(name: str, trials: int | None, seed: int) -> None:
    """Refuse what no study accepts, as a BadRequest."""
    if name not in STUDIES:
        raise BadRequest(f"no study {name!r}; accepted: {', '.join(STUDIES)}")
    if trials is not None and trials < 1:
        raise BadRequest(f"--trials {trials}: give 1 or more")
    if seed < 0:
        raise BadRequest(f"--seed {seed}: give 0 or more")


def _check_writable(folder: Path) -> None:
    """Refuse before the study runs what could not be written after it."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise BadRequest(f"--output {folder}: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadRequest(f"--output {folder}: {there} cannot be written to; name another folder")


def _run(name: str, trials: int | None, seed: int, full: bool) -> "StudyResult":
    from saltus.studies.study import StudyOptions  # loads matplotlib

    module = importlib.import_module(STUDIES[name].module)
    try:
        with _Bar() as bar:
            return module.run(StudyOptions(trials, seed, full, bar.show))
    except MemoryError as error:
        asked = f"study {name}" + ("" if trials is None else f" --trials {trials}")
        raise BadRequest(f"{asked}: {error or 'no memory'}; give fewer --trials") from error


def _save(result: "StudyResult", folder: Path) -> list[str]:
    """Write the figures; one line that names them, or none."""
    from saltus.studies.style import save

    if not result.figures:
        return []
    try:
        written = save(result.figures, folder)
    except OSError as error:
        raise BadRequest(f"--output {folder}: {error.strerror or error}") from error
    return [f"Written to {folder}: {', '.join(path.name for path in written)}"]


def _readable(row: Any, result: "StudyResult") -> dict[str, Any]:
    return {key: _cell(row[key], result.digits) for key in result.shown or row}


def _cell(value: Any, digits: int) -> Any:
    """Numbers with some significant digits, complex ones, as [real, imaginary], with an i."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, (list, tuple)):
        return " ".join(_item(item, digits) for item in value)
    return escape(value) if isinstance(value, str) else value


def _item(item: Any, digits: int) -> str:
    if isinstance(item, (list, tuple)) and len(item) == 2:
        real, imaginary = item
        end = f"{imaginary:+.{digits}g}i" if imaginary else ""
        return f"{real:.{digits}g}{end}"
    return str(_cell(item, digits))


class _Bar:
    """Progress of a study, whose total is known only from its first report on."""

    def __init__(self) -> None:
        self._shown: RunProgress | None = None
        self._total = 0

    def show(self, done: int, total: int, what: str) -> None:
        if self._shown is None or total != self._total:
            self.__exit__()
            self._shown, self._total = RunProgress(total, "done").__enter__(), total
        self._shown.show(done, what)

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.__exit__()
