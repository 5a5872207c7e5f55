"""The trials of a suite: what each is called, its configuration, and commands that are drawn."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, NamedTuple, Self

import msgspec
import numpy as np
from msgspec.structs import replace

from controller.driving.commands import ScriptStep
from runtime.options import Options, Range, positive
from saltus.common.errors import BadRequest, refusing
from saltus.configuration.keys import keys_without_effect
from saltus.configuration.launch import LaunchConfig, configure, difference, placed
from saltus.configuration.options import Settings, to_options
from saltus.launch import assembly
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbations import Perturbation
from sim_bridge.suites import UNDISTURBED, Group


class RandomCommand(Options, frozen=True):
    """Bounds of drawn commands.

    Attributes:
        gait: of all commands.
        velocity_x: greatest speed forward and back.
        velocity_y: greatest speed to either side.
        yaw_rate: greatest rate of turn, either way.
        hold: least and greatest time that a command is held.
        start: time of the first command; until then the robot does what its reference says.
    """

    gait: str = "trot"
    velocity_x: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.0
    velocity_y: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.0
    yaw_rate: Annotated[float, Range("rad/s", 0.0, 10.0)] = 0.0
    hold: Annotated[tuple[float, float], positive("s", 1e6)] = (1.0, 4.0)
    start: Annotated[float, Range("s", 0.0, 1e6)] = 0.5

    def check(self) -> None:
        """Raise ValueError for an unknown gait and for numbers out of range."""
        ScriptStep(at=self.start, gait=self.gait)
        if not self.hold[0] <= self.hold[1]:
            raise ValueError(f"hold is {list(self.hold)}; give the least time first")

    def script(self, seed: int, duration: float) -> tuple[ScriptStep, ...]:
        """The steps up to `duration` [s]: the same for the same seed."""
        random, steps, at = np.random.default_rng(seed), [], self.start
        while at < duration:
            share = random.uniform(-1.0, 1.0, 3)
            forward, left, turn = share * (self.velocity_x, self.velocity_y, self.yaw_rate)
            steps.append(ScriptStep(at, float(forward), float(left), float(turn), gait=self.gait))
            at += float(random.uniform(*self.hold))
        return tuple(steps)


Row = dict[str, Any]

_OPTION_FOR = {"planner": "--planner", "mode": "--mode", "perturbations": "a suite of your own"}


class Trial(NamedTuple):
    """One run of a suite.

    Attributes:
        labels: what its row begins with: planner, trial, and the whole condition: the event with
            all its fields, reference, command, world, timing, duration and settings.
        group: name of its group, empty in a suite without groups.
        config: the launch it is.
        repetition: its number among the seeds of its event.
        pass_distance, pass_two_legs: see `Group`.
        budget_ms: processor time that a plan may take; None: what the planner's settings take.
        without_effect: keys that suite or sweep set and that it does not use, and why.
    """

    labels: Row
    group: str
    config: LaunchConfig
    repetition: int = 0
    pass_distance: float | None = None
    pass_two_legs: float | None = None
    budget_ms: float | None = None
    without_effect: dict[str, str] = {}  # noqa: RUF012  it is never written to

    @property
    def key(self) -> tuple[str, int]:
        """Planner and number, which no other trial of a sweep has."""
        return self.labels["planner"], self.labels["trial"]

    def with_threads(self, threads: int) -> Self:
        """See `PlannerChoice.with_threads`."""
        return self._replace(config=self.config.with_threads(threads))


def make_trials(
    groups: Sequence[Group],
    planner: str,
    mode: str,
    source: str,
    assignments: Sequence[str] = (),
) -> list[Trial]:
    """The configuration of each trial, its gait phase resolved to seconds.

    Trials are numbered through all groups; the seeds of one event follow each other.

    Args:
        groups: the suite.
        planner: which planner.
        mode: ``paused`` or ``realtime``.
        source: what messages begin with: the file.
        assignments: ``KEY=VALUE`` of a launch file, which win over the suite.

    Raises:
        BadRequest: an unknown reference or key, or a phase that the reference does not have.
    """
    for assignment in assignments:
        section = assignment.partition("=")[0].strip().partition(".")[0]
        if section in _OPTION_FOR:
            raise BadRequest(f"--set {assignment}: give {_OPTION_FOR[section]} instead")
    trials: list[Trial] = []
    for group in groups:
        config, random, idle = _config(group, planner, mode, source, assignments)
        for event in group.trials:
            config = replace(config, perturbations=(event,) if event else ())
            for repetition, seeded in enumerate(_seeds(config, group.seeds, random)):
                config_of_trial = placed(seeded, len(trials))
                labels = {
                    "planner": planner, "trial": len(trials),
                    "start": _plain(config_of_trial.simulation.start),
                    **_event_labels(event, seeded, f"{source}: trial {len(trials)}"),
                    **_launch_labels(seeded, random, assignments),
                }  # fmt: skip
                trials.append(Trial(
                    labels, group.name, config_of_trial, repetition, group.pass_distance,
                    group.pass_two_legs, without_effect=idle,
                ))  # fmt: skip
    return trials


def at_budgets(trials: Sequence[Trial], budgets: Sequence[float], count: int) -> list[Trial]:
    """The trials with the planner's own settings, and once more at each budget.

    Args:
        trials: of one planner.
        budgets: processor times that a plan may take [ms].
        count: trials of the whole suite; each budget's are numbered after those before.
    """
    return [
        trial._replace(
            labels=trial.labels
            | {"trial": trial.labels["trial"] + count * turn, "budget_ms": budget},
            budget_ms=budget,
        )
        for turn, budget in enumerate((None, *budgets)) for trial in trials
    ]  # fmt: skip


def select(
    trials: list[Trial], groups: Collection[str], numbers: Collection[int], seeds: int | None,
    source: str,
) -> list[Trial]:  # fmt: skip
    """The trials of the named groups that have one of the numbers; empty stands for all of them.

    Of each event only the first `seeds`, if it is given.

    Raises:
        BadRequest: a group or number that is none of the trials'; those that are get named.
    """
    names = list(dict.fromkeys(trial.group for trial in trials if trial.group))
    for name in groups:
        if name not in names:
            known = f"its groups: {', '.join(names)}" if names else "it has no groups"
            raise BadRequest(f"--group {name!r}: not in {source}; {known}")
    for number in numbers:
        if not 0 <= number < len(trials):
            raise BadRequest(f"--trial {number}: {source} has trials 0 to {len(trials) - 1}")
    return [
        trial
        for trial in trials
        if (not groups or trial.group in groups)
        and (not numbers or trial.labels["trial"] in numbers)
        and (seeds is None or trial.repetition < seeds)
    ]


def _config(
    group: Group, planner: str, mode: str, source: str, assignments: Sequence[str]
) -> tuple[LaunchConfig, RandomCommand | None, dict[str, str]]:
    """The launch of a group's trials, but for its events and seeds.

    Also what draws its commands, and its keys without effect.
    """
    simulation = copy.deepcopy(group.simulation)
    if group.input_delay > 0.0:
        simulation["input_delay"] = group.input_delay
    mapping: dict[str, Any] = {
        "mode": mode, "duration": group.duration, "planner": planner,
        "reference": group.reference, "command": copy.deepcopy(group.command),
        "simulation": simulation, "timing": dict(group.timing),
        "terrain": copy.deepcopy(group.terrain),
    }  # fmt: skip
    for key in ("reference_from", "terrain_belief"):
        if (value := getattr(group, key)) is not None:
            mapping[key] = value
    settings = Settings(mapping, source)
    for key in ("planner", "mode"):
        settings.write(key, mapping[key], f"--{key}")
    settings.assign(assignments)
    random = _random_command(settings)
    config = configure(settings)
    return config, random, keys_without_effect(config, settings)


def _random_command(settings: Settings) -> RandomCommand | None:
    """Take the random command out of the keys of a launch, where they have one.

    Raises:
        BadRequest: it is none that can be drawn from.
    """
    command, source = settings.mapping["command"], settings.blame("command")
    if not isinstance(command, dict) or "random" not in command:
        return None
    if len(command) > 1 or not isinstance(command["random"], dict):
        keys = ", ".join(RandomCommand.__struct_fields__)
        raise BadRequest(f"{source}: command.random stands alone, with the keys {keys}")
    random = to_options(command["random"], RandomCommand, f"{source}: command.random")
    settings.mapping["command"] = msgspec.to_builtins(random.script(0, random.start + 1e-3))
    return random


def _seeds(
    config: LaunchConfig, seeds: int, random: RandomCommand | None
) -> Iterator[LaunchConfig]:
    """The launch of each seed: of the sensors' noise, and of commands that are drawn."""
    for seed in range(seeds):
        simulation = config.simulation
        if seeds > 1:
            simulation = replace(simulation, seed=seed)
        command = config.command
        if random is not None:
            command = random.script(simulation.seed, config.duration)
        yield replace(config, simulation=simulation, command=command)


def _event_labels(event: Perturbation | None, config: LaunchConfig, where: str) -> Row:
    """The event of a row, `at` in seconds; `instant` is the gait phase, if it was given as one."""
    with refusing(str(where), BadRequest):
        at = next(iter(assembly.event_times(config)), None)
    if at is not None and at >= config.duration:
        raise BadRequest(f"{where}: at is {at:g} s, and the trial ends at {config.duration:g} s")
    fields = {"kind": UNDISTURBED, "at": None} if event is None else _plain(event)
    return {
        "kind": fields["kind"], "at": at, "value": fields.get("value"),
        "for": fields.get("for"), "every": fields.get("every"),
        "instant": fields["at"] if isinstance(fields["at"], dict) else None,
    }  # fmt: skip


def _launch_labels(
    config: LaunchConfig, random: RandomCommand | None, assignments: Sequence[str]
) -> Row:
    """The launch of a row: what may differ between trials, and what `--set` said."""
    if random is not None:
        command: Any = {"random": _plain(random)}
    elif isinstance(config.command, tuple):
        steps = [_plain(step) for step in config.command]
        command = [{k: v for k, v in step.items() if v is not None} for step in steps]
    else:
        command = _plain(config.command)
    world, usual = map(_plain, (config.simulation, SimulationOptions()))
    return {
        "reference": config.reference, "reference_from": config.reference_from,
        "command": command, "simulation": difference(world | {"seed": usual["seed"]}, usual),
        "timing": _plain(config.timing), "duration": config.duration,
        "robot": config.robot, "terrain": _plain(config.terrain),
        "terrain_belief": config.terrain_belief,
        "settings": list(assignments),
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """Form of a value that comes back from a written row: lists instead of tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))
