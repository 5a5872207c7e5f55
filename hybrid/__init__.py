"""Hybrid dynamical systems: simulation, saltation matrices, HiLQR, filters. See docs/hybrid.md.

``import hybrid as hy`` gives the names below. A name's module is loaded when it is first asked for:
who reads an option does not wait for the compiler.
"""

# ruff: noqa: F401 (``__all__`` is made of the table below)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid.batch import Batch, simulate_batch
    from hybrid.events import Event, EventRecord, Step
    from hybrid.filters.bank import BankOptions, SaltedBank
    from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
    from hybrid.filters.particle import ParticleFilter, ParticleOptions
    from hybrid.filters.salted import SaltedKalmanFilter
    from hybrid.hilqr import (
        ConstrainedHilqr,
        ConstraintOptions,
        Constraints,
        Hilqr,
        HilqrOptions,
        InputBounds,
        JoinedConstraints,
        Policies,
    )
    from hybrid.hilqr.cost import QuadraticCost
    from hybrid.hilqr.event_driven import EventDrivenModel
    from hybrid.limit_cycle import LimitCycle, find_limit_cycle
    from hybrid.options import SimulationOptions
    from hybrid.return_map import EventSection, PhaseSection, ReturnMap
    from hybrid.rigid_body.body import RigidBody
    from hybrid.rigid_body.hybrid_system import rigid_body_system
    from hybrid.run import Run
    from hybrid.saltations import Saltation, saltation, saltation_matrix
    from hybrid.simulation import simulate, simulate_step
    from hybrid.systems import FlowMap, Mode, System, Transition
    from hybrid.validation import check_system
    from hybrid.variational import Variation, fundamental_matrix

_MODULES = {
    "hybrid.batch": ("Batch", "simulate_batch"),
    "hybrid.events": ("Event", "EventRecord", "Step"),
    "hybrid.filters.bank": ("BankOptions", "SaltedBank"),
    "hybrid.filters.model": ("FilterModel", "Measurement", "ProcessNoise"),
    "hybrid.filters.particle": ("ParticleFilter", "ParticleOptions"),
    "hybrid.filters.salted": ("SaltedKalmanFilter",),
    "hybrid.hilqr": (
        "ConstrainedHilqr", "ConstraintOptions", "Constraints", "Hilqr", "HilqrOptions",
        "InputBounds", "JoinedConstraints", "Policies",
    ),
    "hybrid.hilqr.cost": ("QuadraticCost",),
    "hybrid.hilqr.event_driven": ("EventDrivenModel",),
    "hybrid.limit_cycle": ("LimitCycle", "find_limit_cycle"),
    "hybrid.options": ("SimulationOptions",),
    "hybrid.return_map": ("EventSection", "PhaseSection", "ReturnMap"),
    "hybrid.rigid_body.body": ("RigidBody",),
    "hybrid.rigid_body.hybrid_system": ("rigid_body_system",),
    "hybrid.run": ("Run",),
    "hybrid.saltations": ("Saltation", "saltation", "saltation_matrix"),
    "hybrid.simulation": ("simulate", "simulate_step"),
    "hybrid.systems": ("FlowMap", "Mode", "System", "Transition"),
    "hybrid.validation": ("check_system",),
    "hybrid.variational": ("Variation", "fundamental_matrix"),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name not in _WHERE:
        raise AttributeError(f"module 'hybrid' has no name {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    """Public names."""
    return __all__
