"""Longest stops of this machine by itself: no program on it can leave shorter gaps than that.

The host under a virtual machine stops it when it has other work, or when the virtual machine has
used its share of processor time. Kernel and firmware stop a machine too.
"""

import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from robots.robot import load_robot
from runtime.realtime import quota
from saltus.common.criterion import Check, guarded
from saltus.common.processes import cores
from saltus.common.stalls import LEAST_MS, StallWatch

WATCH_S = 10.0
BOUND_MS = 5.0  # a robot without a new command for longer acts on one that is five ticks old
BUSY = "while True: pass"


def longest_stop(seconds: float = WATCH_S) -> float | None:
    """Longest stall of a core while all are busy [ms]; None where it cannot be measured.

    Many hosts stop only a machine that is busy.
    """
    with tempfile.TemporaryDirectory(prefix="saltus-") as folder, ExitStack() as stack:
        watch = StallWatch(Path(folder) / "stalls.csv", time.monotonic())
        stack.callback(watch.close)
        for _ in range(cores()):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(busy.kill)
        time.sleep(seconds)
        stalls = watch.stalls()
    return None if stalls is None else max((each.late_ms for each in stalls), default=LEAST_MS)


def verdict(stop_ms: float | None) -> tuple[bool, str]:
    """Whether that is short enough, and in words what was measured and what helps."""
    if stop_ms is None:
        return False, "not measured: that needs real-time scheduling, see above"
    found = f"a busy core stopped for up to {stop_ms:.1f} ms"
    if stop_ms <= BOUND_MS:
        return True, f"{found} in {WATCH_S:g} s (up to {BOUND_MS:g} ms is good)"
    return False, (
        f"{found}, more than {BOUND_MS:g} ms: no setting of Saltus helps, commands have such gaps "
        "too; take a machine that is not virtual, or one whose host is not shared"
    )


TICK_S = 0.001
CHILD_S = 60.0  # longest a check in a child may take [s]
JITTER_BOUND_US = 1000.0  # of the 99 % quantile of lateness: one tick
RENDER_ONCE = """
import os
os.environ["MUJOCO_GL"] = "{backend}"
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><light/></worldbody></mujoco>")
with mujoco.Renderer(model, 16, 16) as renderer:
    renderer.update_scene(mujoco.MjData(model))
    assert renderer.render().shape == (16, 16, 3)
"""


def run_checks() -> list[Check]:
    """Run every check, each on its own: one that breaks is a failed check, no error."""
    return [
        guarded("robot model", True, _robot),
        guarded("cores", False, _cores),
        guarded("rollouts", False, _rollouts),
        *machine_checks(),
        guarded("rendering", False, _rendering),
    ]


def machine_checks(real: bool = False) -> list[Check]:
    """Checks of this machine that matter to a robot that is driven from it.

    Args:
        real: it is a real one, to which real-time scheduling and locked memory are essential.
    """
    return [
        guarded("real-time scheduling", real, _realtime),
        guarded("tick jitter", False, _jitter),
        guarded("machine stops", False, lambda: verdict(longest_stop())),
        guarded("speed", False, _speed),
    ]


def _robot() -> tuple[bool, str]:
    from robots.mujoco_model import load_mujoco
    from robots.pinocchio_model import load_pinocchio

    robot = load_robot("a1")
    mass = sum(inertia.mass for inertia in load_pinocchio(robot).inertias)
    return load_mujoco(robot).nv == 18, f"{robot.label}, {mass:.3f} kg"


def _cores() -> tuple[bool, str]:
    count, share = cores(), quota()
    if share < count:
        return False, (f"{count}, and a quota of the time of {share:g}: once used up, everything "
                       "stands still for tens of ms; give the container whole cores instead "
                       "(docker --cpuset-cpus)")  # fmt: skip
    return count >= 2, f"{count} (2 or more for real time)"


def _rollouts() -> tuple[bool, str]:
    from saltus.configuration.launch import LaunchConfig
    from saltus.launch.planners import availability

    backends = availability(LaunchConfig())
    here = ", ".join(f"{row.backend} ({row.found})" for row in backends if row.here)
    missing = [f"{row.backend} is missing: {row.found}" for row in backends if not row.here]
    return bool(here), "; ".join([here, *missing])


def _in_child(code: str) -> str:
    """Standard output of ``code`` in a Python of its own, which alone keeps what happens to it."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CHILD_S, check=False)
    if done.returncode != 0:
        words = done.stderr.strip().splitlines()
        raise RuntimeError(words[-1] if words else f"exit status {done.returncode}")
    return done.stdout.strip()


def _realtime() -> tuple[bool, str]:
    code = (
        "from runtime.realtime import request_realtime as r; s = r(40); "
        "print(s.scheduler, s.locked, s.reason, sep='|')"
    )
    scheduler, locked, reason = _in_child(code).split("|", 2)
    granted = f"scheduler {scheduler}, memory {'locked' if locked == 'True' else 'not locked'}"
    found = f"{granted}; {reason}" if reason else granted
    return scheduler == "fifo" and locked == "True", found


def _jitter() -> tuple[bool, str]:
    from runtime.clock import RealTimeClock

    clock = RealTimeClock(TICK_S)
    while clock.wait_tick() < 1000:
        pass
    statistics = clock.statistics()
    late = statistics.lateness_us
    found = (
        f"lateness p50 {late.p50:.0f} us, p99 {late.p99:.0f} us, {statistics.missed} of 1000 ticks "
        f"missed (p99 should stay below {JITTER_BOUND_US:.0f} us)"
    )
    return late.p99 < JITTER_BOUND_US, found


def _speed() -> tuple[bool, str]:
    from saltus.doctor.speed_check import measure, verdict

    return verdict(measure(), cores())


def _rendering() -> tuple[bool, str]:
    # A graphics driver that fails may take its process with it.
    for backend in ("egl", "osmesa"):
        try:
            _in_child(RENDER_ONCE.format(backend=backend))
        except (RuntimeError, subprocess.TimeoutExpired):
            continue
        return True, f"off-screen pictures through {backend}"
    return False, "no off-screen pictures: install libegl1 or libosmesa6"
