"""What a report is about: trials with their rows and traces, and what is missing of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from saltus.configuration.planners import PlannerEntry, entry_of, in_order
from saltus.launch.lock_step import AFTER_FALL_S
from saltus.sweep.conditions import Conditions, magnitude_of
from saltus.sweep.summary import succeeded
from saltus.trace import Trace
from sim_bridge.suites import UNDISTURBED
from sim_bridge.terrain_options import Terrain

Array = NDArray[np.float64]
Row = dict[str, Any]


@dataclass(frozen=True)
class TrialRecord:
    """One run of the robot.

    Attributes:
        row: with the keys of a sweep's rows.
        trace: None where there is none.
    """

    row: Row
    trace: Trace | None = None

    @property
    def planner(self) -> str:
        """Which planner ran."""
        return str(self.row["planner"])

    @property
    def name(self) -> str:
        """As `--strip` and `--video` take it: ``planner:trial``."""
        return f"{self.planner}:{self.row['trial']}"

    @property
    def entry(self) -> PlannerEntry:
        """Label and colour of its planner."""
        return entry_of(self.planner)

    @property
    def label(self) -> str:
        """Planner and number, for people."""
        return f"{self.entry.label}, trial {self.row['trial']}"

    @property
    def has_states(self) -> bool:
        """Whether its trace holds states."""
        return self.trace is not None and len(self.trace.time) > 1

    @property
    def pushed(self) -> bool:
        """Whether its trace knows a perturbation."""
        return self.trace is not None and bool(self.trace.events)

    @property
    def fell(self) -> bool:
        """True when the robot fell, or its run broke off."""
        return bool(self.row["fell"])

    @property
    def passed(self) -> bool:
        """See `succeeded`."""
        return succeeded(self.row)

    @property
    def broke_off(self) -> str:
        """When a recorded run broke off, and the robot's last state; empty where it did not."""
        return str(self.row.get("broke_off", ""))

    @property
    def problems(self) -> str:
        """What else went wrong in a recorded run; empty where nothing did."""
        return "; ".join(self.row.get("problems", ()))

    @property
    def deviation(self) -> float:
        """Maximum lateral deviation [m]; NaN where it is not known."""
        value = self.row.get("max_lateral_deviation_m")
        return float("nan") if value is None else float(value)

    @property
    def kind(self) -> str:
        """Of its perturbation; empty where it has none."""
        kind = str(self.row.get("kind") or "")
        return "" if kind == UNDISTURBED else kind

    @property
    def is_driven(self) -> bool:
        """Whether commands came on the way: then it has a driven robot's measures."""
        return "velocity_rmse_m_s" in self.row

    @property
    def magnitude(self) -> float:
        """Length of the perturbation's value, [m/s] for a jump of velocity; 0 without one."""
        return magnitude_of(self.row)

    @property
    def robot(self) -> str:
        """Of the trial."""
        return self.row.get("robot", "a1")

    @property
    def terrain(self) -> Terrain:
        """The ground that the robot walked on."""
        return msgspec.convert(self.row.get("terrain", "flat"), Terrain)

    @property
    def begin(self) -> float:
        """When the first perturbation began [s]; 0 without one."""
        if self.trace is not None and self.trace.events:
            return float(min(self.trace.events))
        return float(self.row.get("at") or 0.0)

    @property
    def fall_time(self) -> float | None:
        """When the robot fell [s]; None where it did not, or nobody knows."""
        if not self.fell or self.trace is None or not len(self.trace.time):
            return None
        if "fell_at" in self.row:
            return self.row["fell_at"]
        # A sweep's trial goes on for a fixed time after a fall and ends.
        return float(self.trace.time[-1] - AFTER_FALL_S)


@dataclass(frozen=True)
class Subject:
    """A recorded run or a sweep.

    Attributes:
        kind: ``run`` or ``sweep``.
        folder: where it was read from.
        name: of the launch or suite.
        facts: what was run, when, with which code: names and values, in order.
        settings: the whole configuration or suite, as YAML text.
        trials: those that have finished.
        expected: number of trials of the whole sweep; None where nobody knows.
        missing: one sentence for each thing that is not there, with how to get it.
        in_lock_step: the robot waited for its planner.
    """

    kind: str
    folder: Path
    name: str
    facts: dict[str, str]
    settings: str
    trials: Sequence[TrialRecord]
    expected: int | None = None
    missing: list[str] = field(default_factory=list)
    in_lock_step: bool = False

    @property
    def planners(self) -> list[str]:
        """Those that have a trial, in the order in which the page names them."""
        return in_order({trial.planner for trial in self.trials})

    @cached_property
    def conditions(self) -> Conditions:
        """What the trials are repetitions of."""
        return Conditions(trial.row for trial in self.trials)

    @property
    def unfinished(self) -> bool:
        """True when trials are known to be lacking."""
        return self.expected is not None and len(self.trials) < self.expected
