"""Runs a suite: every trial once, whatever is finished kept, and gone on with later."""

import hashlib
import shlex
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from saltus.common.compiled_code import LOCK_STEP, code_version
from saltus.common.console import RunProgress, say
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import find_file, new_run_folder
from saltus.common.processes import cores
from saltus.configuration.keys import warnings
from saltus.launch import assembly
from saltus.launch.plugins import source_of
from saltus.launch.warmup import ensure_compiled
from saltus.sweep.budget import fit
from saltus.sweep.folder import SweepDescription, SweepFolder
from saltus.sweep.running import (
    Broken,
    attempt,
    run_all,
    run_paused,
    run_realtime,
    workers,
)
from saltus.sweep.trials import Row, Trial, at_budgets, make_trials, select
from sim_bridge.options import SimulationOptions
from sim_bridge.suites import SuiteError, parse_suite

SOURCES = (*LOCK_STEP, "saltus/sweep/**/*", "saltus/launch/trace.py")  # that decide rows and traces


class SweepRequest(NamedTuple):
    """Trials and options of a sweep.

    Attributes:
        suite: a name in ``config/`` or a YAML file.
        planners: which planners.
        mode: ``paused`` or ``realtime``, in which trials run one after another.
        jobs: trials at the same time; None for what there is.
        output: folder; None makes one in ``runs/``.
        trials, groups: which alone; empty for all.
        seeds: how many of each event; None for all.
        settings: ``KEY=VALUE`` of a launch file, which win over the suite.
        budgets_ms: processor times that a plan may take; each planner then runs at its own settings
            and once more at each of them. Empty: at its own settings alone.
    """

    suite: str
    planners: tuple[str, ...] = ("hilqr",)
    mode: str = "paused"
    jobs: int | None = None
    output: Path | None = None
    trials: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()
    seeds: int | None = None
    settings: tuple[str, ...] = ()
    budgets_ms: tuple[float, ...] = ()

    @property
    def command(self) -> str:
        """The command line that asks for it, but for its folder."""
        words = ["saltus", "perturb", self.suite, "--planner", ",".join(self.planners)]
        for option, values in (
            ("--mode", [self.mode]), ("--jobs", [self.jobs]), ("--seeds", [self.seeds]),
            ("--group", self.groups), ("--trial", self.trials), ("--set", self.settings),
            ("--budget", [f"{each:g}" for each in self.budgets_ms]),
        ):  # fmt: skip
            words += [word for each in values if each is not None for word in (option, str(each))]
        return shlex.join(words)


class SweepResult(NamedTuple):
    """Result of a sweep.

    Attributes:
        folder: where everything is.
        rows: of the finished trials that were asked for, in order.
        missing: how many of those that were asked for are not finished.
        interrupted: the user stopped it.
    """

    folder: Path
    rows: list[Row]
    missing: int
    interrupted: bool


def run_sweep(request: SweepRequest, run: Any = None) -> SweepResult:
    """Run the trials that are not finished yet.

    Args:
        request: what and how.
        run: what runs one trial; by default that of the mode.

    Raises:
        BadRequest: the suite, one of its trials, the backend or the folder cannot be used.
    """
    path = find_file("config", request.suite)
    wanted, text = _wanted_trials(request, path)
    # Keys that have no effect on any trial: those of one planner are another's not.
    first, *others = [trial.without_effect for trial in wanted]
    idle = {key: why for key, why in first.items() if all(key in each for each in others)}
    for warning in warnings(idle):
        say(f"warning: {warning}")
    jobs = 1 if request.mode == "realtime" else request.jobs
    run = run or (run_paused if request.mode == "paused" else run_realtime)
    _check_engines(wanted, jobs)
    with workers(jobs):
        prepare(wanted)
        about = _about(request, path, text, wanted)
        folder = SweepFolder(request.output or new_run_folder(path.stem), about)
        try:
            threads = threads_each(len(wanted), jobs)
            shared = [_fitted(trial.with_threads(threads), folder) for trial in wanted]
            interrupted = _work_off(shared, partial(attempt, run), folder)
        finally:
            folder.close()
    rows = [folder.rows[trial.key] for trial in wanted if trial.key in folder.rows]
    return SweepResult(folder.path, rows, len(wanted) - len(rows), interrupted)


def prepare(trials: Iterable[Trial]) -> None:
    """Compile, and find what does not fit together, once and before anything runs at once.

    Raises:
        BadRequest: the parts of a trial do not fit together.
    """
    seen: set[bytes] = set()
    for trial in trials:
        alike = replace(trial.config, perturbations=(), simulation=SimulationOptions())
        mark = msgspec.json.encode(alike)
        if mark not in seen:
            seen.add(mark)
            ensure_compiled(alike)
            assembly.check(alike)


def threads_each(trials: int, jobs: int | None = None) -> int:
    """Threads that each trial may have when as many as possible run on this machine's cores."""
    return max(1, cores() // max(1, min(jobs or cores(), trials)))


def _wanted_trials(request: SweepRequest, path: Path) -> tuple[list[Trial], str]:
    """The trials of every planner, one planner after another, and the suite's text."""
    with refusing(str(path), SuiteError, OSError, UnicodeDecodeError):
        text = path.read_text()
        groups = parse_suite(text)
    trials: list[Trial] = []
    for planner in request.planners:
        mine = make_trials(groups, planner, request.mode, str(path), request.settings)
        chosen = select(mine, request.groups, request.trials, request.seeds, str(path))
        if request.budgets_ms:
            chosen = at_budgets(chosen, request.budgets_ms, len(mine))
        trials += chosen
    if not trials:
        raise BadRequest(f"--trial: {path}: none of these trials is in the groups of --group")
    return trials, text


def _check_engines(trials: list[Trial], jobs: int | None) -> None:
    """A server has one world, which the next robot would take from the one before.

    Raises:
        BadRequest: several robots at a time would share a server, or it is not there.
    """
    served = [trial for trial in trials if trial.config.simulation.engine != "mujoco"]
    if served and jobs != 1:
        raise BadRequest("simulation.engine: a server simulates one robot at a time; give --jobs 1")
    if served:
        assembly.make_simulation(served[0].config).close()


def _about(request: SweepRequest, path: Path, text: str, wanted: list[Trial]) -> SweepDescription:
    trials = {name: [t.key[1] for t in wanted if t.key[0] == name] for name in request.planners}
    names = {name for t in wanted for name in (t.config.planner, t.config.estimator)}
    plugins = {name: hashlib.sha256(source).hexdigest()[:16] for name in sorted(names)
               if (source := source_of(name))}  # fmt: skip
    return SweepDescription(
        path.stem, text, request.mode, code_version(SOURCES), list(request.settings),
        list(request.budgets_ms), trials, [request.command], plugins,
    )  # fmt: skip


def _fitted(trial: Trial, folder: SweepFolder) -> Trial:
    """The trial at its budget: what its planner does then is in the folder, or measured now."""
    planner, budget = trial.config.planner, trial.budget_ms
    if budget is None:
        return trial
    mine = folder.about.fits.setdefault(planner, {})
    if f"{budget:g}" not in mine:
        found = mine[f"{budget:g}"] = fit(trial.config, budget)
        folder.keep_fits()
        effort = "always does the same" if found.effort is None else f"effort {found.effort}"
        say(f"{planner} within {budget:g} ms: {effort}, {found.processor_ms:.1f} ms a plan")
    return trial._replace(config=mine[f"{budget:g}"].applied(trial.config))


def _work_off(trials: list[Trial], work: Any, folder: SweepFolder) -> bool:
    """Run what is not finished; true when the user stopped it."""
    todo = [trial for trial in trials if trial.key not in folder.rows]
    done = [folder.rows[trial.key] for trial in trials if trial.key in folder.rows]
    count, upright = len(done), sum(not row["fell"] for row in done)
    try:
        with RunProgress(len(trials), "trials") as progress:
            progress.show(count, f"{upright} successful")
            for result in run_all(work, todo):
                if isinstance(result, Broken):
                    say(f"trial {result.key[1]} of {result.key[0]} failed: {result.why}")
                else:
                    folder.add(result)
                    upright += not result.row["fell"]
                count += 1
                progress.show(count, f"{upright} successful")
    except KeyboardInterrupt:
        return True
    except OSError as error:
        say(f"the sweep stopped: {folder.path}: {error.strerror or error}")
    except Exception as error:  # of the backend: what is done stays done
        say(f"the sweep stopped: {type(error).__name__}: {' '.join(str(error).split())}")
    return False
