"""Traces: what a report needs of one trial."""

from saltus.trace.recorded_run import config_of_run, pushes_of_run, trace_of_run
from saltus.trace.recorder import TraceRecorder
from saltus.trace.trace import Trace, load_trace, save_trace, trace_path

__all__ = ["Trace", "TraceRecorder", "config_of_run", "load_trace", "pushes_of_run", "save_trace",
           "trace_of_run", "trace_path"]  # fmt: skip
