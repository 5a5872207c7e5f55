"""Compile what most tests use, on all cores, before they start: ``python -m tests.kernels``.

Tests that run side by side would each compile the same functions. What takes a second or less is
left to them.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import saltus as saltus  # before numba compiles: it says where compiled code is kept
from saltation.compiled.first_use import compiling
from saltus.configuration.launch import load_launch
from saltus.launch.warmup import ensure_compiled

LAUNCHES = (
    ("stand", "estimator=salted"),
    ("sim", "planner=convex_mpc", "estimator=leg_odometry"),
    ("sim", "planner=instant_qp", "estimator=invariant"),
    ("a1-emulated",),
)


def compile_simulation():
    """Integration, event location and rollouts of hybrid systems."""
    from saltation.examples.bouncing_ball import FALLING, bouncing_ball
    from saltation.simulation import simulate

    simulate(bouncing_ball(), FALLING, np.array([1.0, 0.0]), 0.1)


def compile_bank():
    """The bank of salted filters, of which the salted filter is a part."""
    from saltation.filters.bank import SaltedBank

    _run_filter(SaltedBank)


def compile_particles():
    """The particle filter."""
    from saltation.filters.particle import ParticleFilter

    _run_filter(ParticleFilter)


def _run_filter(kind):
    from saltation.examples.bouncing_ball import FALLING, bouncing_ball
    from saltation.filters.model import FilterModel, Measurement, ProcessNoise

    system = bouncing_ball(restitution=0.8)
    model = FilterModel(
        system,
        {mode: ProcessNoise(0.01 * np.eye(2)) for mode in system.modes},
        {mode: Measurement(lambda t, x, u: x.copy(), np.eye(2)) for mode in system.modes},
    )
    start = FALLING, np.array([1.0, 0.0]), 0.1 * np.eye(2)
    belief = kind(model, *start).step(np.zeros(1), np.array([1.0, 0.0]), 0.01)
    assert belief.status == "ok", belief.message


def compile_rigid_bodies():
    """The simulation of rigid bodies, whose tables of transitions are longer."""
    from saltation.rigid_body.hybrid_system import APPROACHING, rigid_body_system
    from saltation.simulation import simulate
    from studies.kong.systems.slope_ball import slope_ball_body

    simulate(rigid_body_system(slope_ball_body()), APPROACHING, np.array([0.0, 1.0, 0.0, 0.0]), 0.1)


def compile_trials():
    """Trials of the filters."""
    from saltation.filters.particle import ParticleOptions
    from studies.kong import skf

    problem, ys = skf.flow_problem(skf.Level(0.5, 0.01, 0.3), 1, 0), np.zeros((1, 1, 2))
    skf.bank(problem, ys)
    skf.particles(problem, ys, ParticleOptions(10))


PARTS = {
    "simulation": compile_simulation, "bank": compile_bank, "particles": compile_particles,
    "rigid bodies": compile_rigid_bodies, "trials": compile_trials,
}  # fmt: skip


def main(arguments):
    """Compile one part, or all parts: those of all launches, the rest beside them."""
    if arguments:
        with compiling():
            PARTS[arguments[0]]()
        return 0
    with ThreadPoolExecutor(1) as beside:
        # The longest chain has a core of its own; the short parts follow the launches.
        simulation, bank = (beside.submit(_compile_apart, each) for each in ("simulation", "bank"))
        ensure_compiled(*(load_launch(name, options) for name, *options in LAUNCHES))
        short = simulation.result(), _compile_apart("particles"), _compile_apart("rigid bodies")
        return max(*short, bank.result(), _compile_apart("trials"))  # made of filters


def _compile_apart(part):
    """In a process of its own; its exit status."""
    return subprocess.run([sys.executable, "-m", "tests.kernels", part]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
