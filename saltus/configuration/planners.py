"""Planners, estimators and connections by name. A new one is an entry here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, Self

import msgspec
from msgspec.structs import replace

from controller.planner_options import (
    ConvexMpcOptions,
    HilqrSection,
    IlqrFdSection,
    InstantQpOptions,
    MppiOptions,
)
from estimator.options import InvariantOptions, LegOdometryOptions, SaltedOptions
from runtime.options import Options, Range, positive
from saltus.common.errors import BadRequest

ALL = "all"  # stands for every planner on the command line
PLUGIN_FORM = "MODULE:NAME or FILE.py:NAME"  # names a planner or an estimator of one's own


class PlannerEntry(NamedTuple):
    """A planner, and what a launch must know of it.

    Attributes:
        label: its name for people.
        colour: in pictures.
        factory: ``MODULE:FUNCTION`` that makes it from a `LaunchConfig`.
        rolls_out: it plans by rollouts of the whole robot. It then follows recorded trajectories
            too, not gaits alone, and a plan starts at a knot of the reference after the solve.
    """

    label: str
    colour: str
    factory: str
    rolls_out: bool = False


_FACTORIES = "saltus.launch.planners"
# Colours that stay apart for colour-blind eyes: M. Okabe and K. Ito, Color Universal Design, 2008.
PLANNERS = {
    "hilqr": PlannerEntry("HiLQR MPC", "#0072B2", f"{_FACTORIES}:hilqr", True),
    "convex_mpc": PlannerEntry("Convex MPC", "#D55E00", f"{_FACTORIES}:centroidal"),
    "instant_qp": PlannerEntry("Instant QP", "#009E73", f"{_FACTORIES}:centroidal"),
    "ilqr_fd": PlannerEntry("iLQR by differences", "#CC79A7", f"{_FACTORIES}:hilqr", True),
    "mppi": PlannerEntry("MPPI", "#56B4E9", f"{_FACTORIES}:mppi", True),
}
_OTHER = "#555555"


class PluginOptions(Options, frozen=True):
    """Options of a planner or an estimator that is not Saltus's own.

    Attributes:
        period: in lock step a plan is asked for once in this time.
        time_limit: limit of a solve in real time; the planner can ask whether it is over.
        values: whatever else it reads.
    """

    period: Annotated[float, positive("s", 1.0)] = 0.01
    time_limit: Annotated[float, Range("s", 0.0, 10.0)] = 0.01
    values: dict[str, Any] = {}


class PlannerChoice(Options, frozen=True):
    """The planner, and the options of each.

    Attributes:
        planner: which planner runs; its options have a section of its name. Your own is MODULE:NAME
            or FILE.py:NAME.
        hilqr: the planner HiLQR MPC.
        convex_mpc: the planner Convex MPC.
        instant_qp: the planner Instant QP.
        ilqr_fd: whole-body iLQR on MuJoCo: HiLQR's solver with finite differences and a horizon of
            0.35 s.
        mppi: the planner MPPI.
        plugin: a planner or an estimator of your own.
    """

    planner: str = "hilqr"
    hilqr: HilqrSection = msgspec.field(default_factory=HilqrSection)
    convex_mpc: ConvexMpcOptions = ConvexMpcOptions()
    instant_qp: InstantQpOptions = InstantQpOptions()
    ilqr_fd: IlqrFdSection = msgspec.field(default_factory=IlqrFdSection)
    mppi: MppiOptions = MppiOptions()
    plugin: PluginOptions = PluginOptions()

    @property
    def planner_entry(self) -> PlannerEntry:
        """The planner that runs."""
        return entry_of(self.planner)

    @property
    def planner_options(
        self,
    ) -> HilqrSection | ConvexMpcOptions | InstantQpOptions | MppiOptions | PluginOptions:
        """The section of the planner that runs."""
        return self.plugin if self.plans_by_plugin else getattr(self, self.planner)

    @property
    def plans_by_plugin(self) -> bool:
        """Whether the planner is a user's own."""
        return self.planner not in PLANNERS

    @property
    def solver(self) -> HilqrSection | None:
        """The section of the planner that runs, where that has HiLQR's solver."""
        options = self.planner_options
        return options if isinstance(options, HilqrSection) else None

    def with_planner_options(self, options: Options) -> Self:
        """The same launch with another section of the planner that runs."""
        return replace(self, **{self.planner: options})

    def with_threads(self, threads: int) -> Self:
        """With at most so many threads for rollouts in lock step; the numbers stay the same."""
        options = self.planner_options
        if not isinstance(options, HilqrSection | MppiOptions):
            return self
        return self.with_planner_options(options.with_threads(threads))


def is_plugin(name: str) -> bool:
    """Whether a name says where a planner or an estimator of one's own is."""
    place, _, member = name.rpartition(":")
    return bool(place) and member.isidentifier()


def entry_of(name: str) -> PlannerEntry:
    """A planner by its name; one of the user's own has its class's name, in grey."""
    return PLANNERS.get(name) or PlannerEntry(name.rpartition(":")[2], _OTHER, name)


def planners_named(names: str) -> tuple[str, ...]:
    """The planners that the command line names: one, several with commas between, or all.

    Raises:
        BadRequest: there is no planner of a name.
    """
    chosen: list[str] = []
    for name in (part.strip() for part in names.split(",")):
        if name not in (*PLANNERS, ALL) and not is_plugin(name):
            raise BadRequest(
                f"--planner {names}: no planner {name!r}; accepted: {', '.join(PLANNERS)}, "
                f"{PLUGIN_FORM}, several of them with commas between, or {ALL}"
            )
        chosen += PLANNERS if name == ALL else (name,)
    return tuple(dict.fromkeys(chosen))


def in_order(planners: set[str]) -> list[str]:
    """Planners in the order of the thesis's tables, unknown ones last."""
    known = [name for name in PLANNERS if name in planners]
    return known + sorted(planners.difference(PLANNERS))


class EstimatorEntry(NamedTuple):
    """An estimator.

    Attributes:
        factory: ``MODULE:CLASS``, made with the section of its name, the robot, and the ground and
            its heading.
        compilation: module whose ``compile_corrections`` and ``compile_dynamics`` share its long
            compilation between two processes; empty where it compiles as it runs.
    """

    factory: str
    compilation: str = ""


ESTIMATORS = {
    "salted": EstimatorEntry(
        "estimator.salted.estimator:SaltedEstimator", "estimator.salted.estimator"
    ),
    "leg_odometry": EstimatorEntry("estimator.leg_odometry:LegOdometryFilter"),
    "invariant": EstimatorEntry("estimator.invariant.filter:InvariantFilter"),
}


class EstimatorChoice(PlannerChoice, frozen=True):
    """The filter, and the options of each; msgspec lets a struct have one base only.

    Attributes:
        estimator: which filter estimates; its options have a section of its name. Your own is
            MODULE:NAME or FILE.py:NAME.
        salted: the salted Kalman filter.
        leg_odometry: the leg-odometry filter.
        invariant: the invariant filter.
    """

    estimator: str = "salted"
    salted: SaltedOptions = msgspec.field(default_factory=SaltedOptions)
    leg_odometry: LegOdometryOptions = msgspec.field(default_factory=LegOdometryOptions)
    invariant: InvariantOptions = msgspec.field(default_factory=InvariantOptions)

    @property
    def has_plugin(self) -> bool:
        """Whether planner or estimator is a user's own."""
        return self.plans_by_plugin or self.estimator not in ESTIMATORS

    @property
    def estimator_entry(self) -> EstimatorEntry:
        """The estimator that runs."""
        return ESTIMATORS.get(self.estimator) or EstimatorEntry(self.estimator)


Connection = Literal["simulated", "real", "emulated", "emulator"]


class ConnectionKind(NamedTuple):
    """A kind of connection.

    Attributes:
        processes: of its launch, started and stopped in this order.
        finishing: the process whose end with status 0 is the end of the launch.
        expendable: processes whose death the launch survives: the tracker is informed, and ends it
            in order.
        simulated: by the launch's own simulation, which can be paused, pushed and perturbed.
        bridged: the tracker reaches it over UDP.
        emulated: an emulator of it runs in the launch.
        real: its true state is unknown.
        planned: the launch plans for it; else another launch does.
    """

    processes: tuple[str, ...]
    finishing: str
    expendable: frozenset[str] = frozenset()
    simulated: bool = False
    bridged: bool = False
    emulated: bool = False
    real: bool = False
    planned: bool = True


# The tracker sits a robot down, for which it needs none of the others.
_REAL = ConnectionKind(
    ("tracker", "planner", "estimator", "watchdog", "black_box"), "tracker",
    frozenset({"planner", "estimator", "watchdog", "black_box"}), bridged=True, real=True,
)  # fmt: skip
CONNECTIONS: dict[Connection, ConnectionKind] = {
    # What produces commands falls silent before the simulated robot does.
    "simulated": ConnectionKind(
        ("planner", "estimator", "tracker", "simulation"), "simulation", frozenset({"planner"}),
        simulated=True,
    ),
    "real": _REAL,
    "emulated": _REAL._replace(processes=(*_REAL.processes, "emulator"), real=False, emulated=True),
    "emulator": ConnectionKind(("emulator",), "emulator", emulated=True, planned=False),
}  # fmt: skip
