"""A process whose wall clock leaps when it gets `SIGUSR2`.

A copy of this file, under the name ``sitecustomize.py``, runs as each Python process of a trial
begins. It needs the standard library alone.
"""

import os
import signal
import time

SECONDS = "SALTUS_CHAOS_LEAP_S"  # environment variable: by how much [s], negative for back


def leap(*_: object) -> None:
    """Let the clock leap; fits as the handler of a signal."""
    read, read_ns, seconds = time.time, time.time_ns, float(os.environ[SECONDS])
    time.time = lambda: read() + seconds
    time.time_ns = lambda: read_ns() + round(1e9 * seconds)


if __name__ == "sitecustomize":
    signal.signal(signal.SIGUSR2, leap)
