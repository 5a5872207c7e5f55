"""Event-selected systems: their integrator, and the Bouligand derivative of their flow."""

from saltation.event_selected.integrator import EssEnds, integrate, integrate_batch
from saltation.event_selected.system import EssOptions, EventSelectedSystem
from saltation.event_selected.trajectory import Crossing, EssRun

__all__ = [
    "Crossing",
    "EssEnds",
    "EssOptions",
    "EssRun",
    "EventSelectedSystem",
    "integrate",
    "integrate_batch",
]
