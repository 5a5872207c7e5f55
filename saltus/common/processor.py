"""What this machine computes with."""

import os
import platform
from pathlib import Path


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def stolen_s() -> float:
    """For how long the host of a virtual machine has kept its cores back, all together [s].

    Since the machine started; 0 where Linux does not say so.
    """
    try:
        ticks = int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
    except (OSError, ValueError, IndexError):
        return 0.0
    return ticks / os.sysconf("SC_CLK_TCK")


def processor_name() -> str:
    """The processor's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
