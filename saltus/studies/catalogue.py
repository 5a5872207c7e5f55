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
        "saltus.studies.table_2_1", "eleven planners on a hill, and how uncertainty shrinks"
    ),
    "table-2.2": Study("saltus.studies.table_2_2", "the planners of table 2.1 against each other"),
    "rotary-pendulum": Study(
        "saltus.studies.rotary_pendulum", "swing-ups of a rotary cart pole, pushed at every step"
    ),
    "convergent-hybrid": Study(
        "saltus.studies.convergent_hybrid", "HiLQR plans that shrink uncertainty through impacts"
    ),
    "rollout-drift": Study(
        "saltus.studies.rollout_drift", "how far float32 rollouts drift from MuJoCo on the CPU"
    ),
    "table-3.1": Study(
        "saltus.studies.table_3_1", "covariance through an event: particles against saltation"
    ),
    "table-5.1": Study(
        "saltus.studies.table_5_1", "bouncing ball: HiLQR with saltation or reset Jacobian", False
    ),
    "spring-damper": Study(
        "saltus.studies.spring_damper", "HiLQR onto a spring-damper floor", False
    ),
    "curved-surface": Study(
        "saltus.studies.curved_surface", "HiLQR for a ball inside a tube", False
    ),
    "quadcopter": Study("saltus.studies.quadcopter", "HiLQR for a perching quadcopter", False),
    "ball-mpc": Study(
        "saltus.studies.ball_mpc", "MPC with and without the hybrid cost update", False
    ),
    "saltation-rigid-body": Study(
        "saltus.studies.saltation_rigid_body", "closed-form saltation matrices against definitions"
    ),
    "floquet": Study("saltus.studies.floquet", "Floquet multipliers against Poincare maps", False),
    "event-accuracy": Study(
        "saltus.studies.event_accuracy",
        "event times and orders of convergence against closed forms",
    ),
    "scipy": Study(
        "saltus.studies.scipy_comparison", "random systems beside solve_ivp with its events"
    ),
    "skf-particles": Study(
        "saltus.studies.skf_particles", "salted filter and its bank beside particles, and the time"
    ),
    "skf-constant-flow": Study(
        "saltus.studies.skf_constant_flow", "constant flow: Kalman filters with Xi or D_x R"
    ),
    "a1-faults": Study(
        "saltus.studies.a1_faults", "the emulated A1 over UDP, in real time, and what can go wrong"
    ),
    "skf-aslip": Study("saltus.studies.skf_aslip", "two jumps: Kalman filters with Xi or D_x R"),
    "ess-order": Study(
        "saltus.studies.ess_order",
        "event-selected integration: order of convergence in epsilon",
        False,
    ),
    "ess-contacts": Study(
        "saltus.studies.ess_contacts", "event-selected integration: cost of a contact, and MuJoCo's"
    ),
    "impact-sets": Study(
        "saltus.studies.impact_sets", "all outcomes of simultaneous impacts with friction"
    ),
    "zeno-block": Study("saltus.studies.zeno_block", "a rocking block's infinitely many impacts"),
    "impact-compliance": Study(
        "saltus.studies.impact_compliance", "stiff contacts against the set of rigid outcomes"
    ),
    "uniqueness-rhex": Study(
        "saltus.studies.uniqueness_rhex", "where a RHex's double touchdown has one outcome"
    ),
    "derivatives": Study(
        "saltus.studies.derivatives",
        "derivatives of the planner: rigid, of soft contact, differences",
    ),
    "latency": Study(
        "saltus.studies.latency", "which computer is needed: pushes against the time of a solve"
    ),
    "a1-touchdown": Study(
        "saltus.studies.a1_touchdown", "how unpredictable the A1's touchdowns are, by gait"
    ),
}
