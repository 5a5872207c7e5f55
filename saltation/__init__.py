"""Hybrid dynamical systems: simulation, saltation matrices, HiLQR, filters. See docs/saltation.md.

``import saltation as sa`` gives the names below. A name's module is loaded when it is first asked
for, so that an option can be read without waiting for the compiler.
"""

# ruff: noqa: F401 (``__all__`` is made of the table below)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saltation.batch import Batch, simulate_batch
    from saltation.compilation import compile_kernels
    from saltation.events import Event, EventRecord, Step
    from saltation.filters.bank import BankOptions, SaltedBank
    from saltation.filters.model import FilterModel, Measurement, ProcessNoise
    from saltation.filters.particle import ParticleFilter, ParticleOptions
    from saltation.filters.salted import SaltedKalmanFilter
    from saltation.hilqr import (
        ConstrainedHilqr,
        ConstraintOptions,
        Constraints,
        Hilqr,
        HilqrOptions,
        InputBounds,
        JoinedConstraints,
        Policies,
    )
    from saltation.hilqr.cost import QuadraticCost
    from saltation.hilqr.event_driven import EventDrivenModel
    from saltation.limit_cycle import LimitCycle, find_limit_cycle
    from saltation.options import SimulationOptions
    from saltation.return_map import EventSection, PhaseSection, ReturnMap
    from saltation.rigid_body.body import RigidBody
    from saltation.rigid_body.hybrid_system import rigid_body_system
    from saltation.run import Run
    from saltation.saltations import Saltation, saltation, saltation_matrix
    from saltation.simulation import simulate, simulate_step
    from saltation.systems import FlowMap, Mode, System, Transition
    from saltation.validation import check_system
    from saltation.variational import Variation, fundamental_matrix

__version__ = "0.1.0"
_MODULES = """
batch: Batch simulate_batch
compilation: compile_kernels
events: Event EventRecord Step
filters.bank: BankOptions SaltedBank
filters.model: FilterModel Measurement ProcessNoise
filters.particle: ParticleFilter ParticleOptions
filters.salted: SaltedKalmanFilter
hilqr: ConstrainedHilqr ConstraintOptions Constraints Hilqr HilqrOptions InputBounds
hilqr: JoinedConstraints Policies
hilqr.cost: QuadraticCost
hilqr.event_driven: EventDrivenModel
limit_cycle: LimitCycle find_limit_cycle
options: SimulationOptions
return_map: EventSection PhaseSection ReturnMap
rigid_body.body: RigidBody
rigid_body.hybrid_system: rigid_body_system
run: Run
saltations: Saltation saltation saltation_matrix
simulation: simulate simulate_step
systems: FlowMap Mode System Transition
validation: check_system
variational: Variation fundamental_matrix
"""
_ROWS = (row.split(": ") for row in _MODULES.split("\n") if row)
_WHERE = {name: f"saltation.{module}" for module, names in _ROWS for name in names.split()}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name not in _WHERE:
        raise AttributeError(f"saltation has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    """Public names."""
    return __all__
