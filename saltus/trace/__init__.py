"""Traces: what a report needs of one trial."""

from saltus.trace.trace import Trace, load_trace, save_trace

__all__ = ["Trace", "load_trace", "save_trace"]
