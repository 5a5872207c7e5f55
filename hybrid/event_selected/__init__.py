"""Event-selected systems: their integrator, and the Bouligand derivative of their flow."""

from hybrid.event_selected.integrator import EssEnds, integrate, integrate_batch
from hybrid.event_selected.system import EssOptions, EventSelectedSystem
from hybrid.event_selected.trajectory import Crossing, EssRun

__all__ = [
    "Crossing",
    "EssEnds",
    "EssOptions",
    "EssRun",
    "EventSelectedSystem",
    "integrate",
    "integrate_batch",
]
