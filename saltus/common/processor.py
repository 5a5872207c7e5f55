"""What this machine computes with."""

import math
import os
import platform
from pathlib import Path


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def quota() -> float:
    """Cores whose time a container may take, together; infinite where nothing limits it."""
    for names in ("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"):  # cgroup v2, v1
        try:
            texts = [Path("/sys/fs/cgroup", name).read_text() for name in names]
            most, period = map(float, " ".join(texts).split())
        except (OSError, ValueError):  # such as "max"
            continue
        if most > 0.0:
            return most / period
    return math.inf


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
