"""Event-selected systems: their integrator, and the Bouligand derivative of their flow."""

from saltation.event_selected.integrator import EssEnds as EssEnds
from saltation.event_selected.integrator import integrate as integrate
from saltation.event_selected.integrator import integrate_batch as integrate_batch
from saltation.event_selected.system import EssOptions as EssOptions
from saltation.event_selected.system import EventSelectedSystem as EventSelectedSystem
from saltation.event_selected.trajectory import Crossing as Crossing
from saltation.event_selected.trajectory import EssRun as EssRun
