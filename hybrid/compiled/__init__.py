"""Hybrid systems compiled: the same simulation as ``hybrid.simulation``, many times faster."""

from hybrid.compiled.system import CompiledSystem, compiled

__all__ = ["CompiledSystem", "compiled"]
