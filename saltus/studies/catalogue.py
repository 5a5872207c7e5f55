"""The studies of ``saltus study``: where each is, and what it shows."""

from typing import NamedTuple


class Study(NamedTuple):
    """A study of the command line.

    Attributes:
        module: in `saltus.studies`; its ``run`` does it.
        description: what it shows, in a few words.
        has_trials: whether `--trials` changes anything.
    """

    module: str
    description: str
    has_trials: bool = True


STUDIES = {
    "table-2.1": Study(
        "saltus.studies.kong.table_2_1.study", "eleven planners on a hill, and how uncertainty shrinks"
    ),
    "table-2.2": Study("saltus.studies.kong.table_2_2", "the planners of table 2.1 against each other"),
    "rotary-pendulum": Study(
        "saltus.studies.kong.rotary_pendulum.study", "swing-ups of a rotary cart pole, pushed at every step"
    ),
    "convergent-hybrid": Study(
        "saltus.studies.kong.convergent_hybrid.study", "HiLQR plans that shrink uncertainty through impacts"
    ),
    "rollout-drift": Study(
        "saltus.studies.a1.rollout_drift.study", "how far float32 rollouts drift from MuJoCo on the CPU"
    ),
    "table-3.1": Study(
        "saltus.studies.kong.table_3_1.study", "covariance through an event: particles against saltation"
    ),
    "table-5.1": Study(
        "saltus.studies.kong.hilqr.table_5_1", "bouncing ball: HiLQR with saltation or reset Jacobian", False
    ),
    "spring-damper": Study(
        "saltus.studies.kong.hilqr.spring_damper", "HiLQR onto a spring-damper floor", False
    ),
    "curved-surface": Study(
        "saltus.studies.kong.hilqr.curved_surface", "HiLQR for a ball inside a tube", False
    ),
    "quadcopter": Study("saltus.studies.kong.hilqr.quadcopter", "HiLQR for a perching quadcopter", False),
    "ball-mpc": Study(
        "saltus.studies.kong.ball_mpc.study", "MPC with and without the hybrid cost update", False
    ),
    "saltation-rigid-body": Study(
        "saltus.studies.kong.saltation_matrices.study", "closed-form saltation matrices against definitions"
    ),
    "floquet": Study("saltus.studies.kong.floquet.study", "Floquet multipliers against Poincare maps", False),
    "event-accuracy": Study(
        "saltus.studies.numerics.event_accuracy.study",
        "event times and orders of convergence against closed forms",
    ),
    "scipy": Study(
        "saltus.studies.numerics.scipy_comparison.study", "random systems beside solve_ivp with its events"
    ),
    "skf-particles": Study(
        "saltus.studies.kong.filters.particles", "salted filter and its bank beside particles, and the time"
    ),
    "skf-constant-flow": Study(
        "saltus.studies.kong.filters.constant_flow", "constant flow: Kalman filters with Xi or D_x R"
    ),
    "a1-faults": Study(
        "saltus.studies.a1.faults.study", "the emulated A1 over UDP, in real time, and what can go wrong"
    ),
    "skf-aslip": Study("saltus.studies.kong.filters.aslip", "two jumps: Kalman filters with Xi or D_x R"),
    "ess-order": Study(
        "saltus.studies.anderson_revzen.order",
        "event-selected integration: order of convergence in epsilon",
        False,
    ),
    "ess-contacts": Study(
        "saltus.studies.anderson_revzen.contacts.study", "event-selected integration: cost of a contact, and MuJoCo's"
    ),
    "impact-sets": Study(
        "saltus.studies.halm_posa.impact_sets.study", "all outcomes of simultaneous impacts with friction"
    ),
    "zeno-block": Study("saltus.studies.halm_posa.zeno_block", "a rocking block's infinitely many impacts"),
    "impact-compliance": Study(
        "saltus.studies.halm_posa.impact_compliance", "stiff contacts against the set of rigid outcomes"
    ),
    "uniqueness-rhex": Study(
        "saltus.studies.seghete_murphey.rhex_touchdown.study", "where a RHex's double touchdown has one outcome"
    ),
    "derivatives": Study(
        "saltus.studies.a1.derivatives.study",
        "derivatives of the planner: rigid, of soft contact, differences",
    ),
    "latency": Study(
        "saltus.studies.a1.latency.study", "which computer is needed: pushes against the time of a solve"
    ),
    "a1-touchdown": Study(
        "saltus.studies.a1.touchdown.study", "how unpredictable the A1's touchdowns are, by gait"
    ),
}
