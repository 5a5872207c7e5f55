"""The peer of `saltus bench planner`: one FDDP iteration of Crocoddyl on the A1.

Runs in an environment of its own (`make peers`), where Saltus is not installed, so it imports
nothing of it. Usage: `python crocoddyl_peer.py CASES.npz THREADS REPEAT`; see
`planner_cases.save_cases` for the file. It prints one JSON object: its versions, and `ms`, the time
of each iteration, so many in each case.
"""

# Run by another interpreter, whose packages the project's type checker does not see.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import json
import sys
from time import perf_counter

import crocoddyl
import numpy as np
import pinocchio as pin

BAUMGARTE = np.array([0.0, 50.0])  # as in Crocoddyl's own quadruped examples [1/s^2, 1/s]
FRICTION, CONE_FACETS = 0.8, 4  # the floor of the MJCF; a pyramid, as in Saltus's physics
CONE_WEIGHT = 1e-2  # [1/N^2] of a violation
REGULARISATION = 1e-9  # FDDP's default


class Peer:
    """Shooting problems: contact dynamics on the gait's stance feet, tracking costs."""

    def __init__(self, cases) -> None:
        """Take the mapping of arrays that `save_cases` wrote."""
        self.cases = {name: cases[name] for name in cases.files}
        self.period = float(self.cases["period"])
        self.model = pin.buildModelFromMJCF(str(self.cases["mjcf"]))
        self.model.names[1] = "root_joint"  # by which Crocoddyl finds the floating base
        self.state = crocoddyl.StateMultibody(self.model)
        self.actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        feet = self.cases["feet"]
        self.frames = [self.model.getFrameId(str(foot), pin.FrameType.BODY) for foot in feet]
        count = len(self.cases["x0"])
        self.solvers = [self._solver(case) for case in range(count)]

    def iterate(self, case: int, threads: int) -> float:
        """Solve for one iteration from the reference, its first state moved to x0.

        Returns:
            The time [ms] of `solve(maxiter=1)`, which evaluates the warm start, differentiates it,
            makes the backward pass and searches along the step lengths 1, 1/2, 1/4 ... until one
            is accepted.
        """
        solver = self.solvers[case]
        solver.problem.nthreads = threads  # stays 1 in a build without OpenMP
        states = [x.copy() for x in self.cases["states"][case]]
        states[0] = self.cases["x0"][case].copy()
        inputs = [u.copy() for u in self.cases["inputs"][case]]
        begin = perf_counter()
        solver.solve(states, inputs, 1, False, REGULARISATION)
        return 1e3 * (perf_counter() - begin)

    def _solver(self, case: int):
        """FDDP on the problem of one case."""
        states, inputs = self.cases["states"][case], self.cases["inputs"][case]
        contacts = self.cases["contacts"][case]
        knots = [
            self._knot(np.flatnonzero(stance > 0.5), x, u)
            for stance, x, u in zip(contacts, states, [*inputs, None], strict=True)
        ]
        problem = crocoddyl.ShootingProblem(self.cases["x0"][case].copy(), knots[:-1], knots[-1])
        return crocoddyl.SolverFDDP(problem)

    def _knot(self, feet, x_reference, u_reference):
        """One knot with the feet that stand; the terminal one has no input."""
        costs = self._costs(x_reference, u_reference)
        if u_reference is not None:
            self._add_cones(costs, feet)
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, self._contacts(feet), costs, 0.0, True
        )
        period = self.period if u_reference is not None else 0.0
        return crocoddyl.IntegratedActionModelEuler(dynamics, period)

    def _contacts(self, feet):
        """Point contacts."""
        nu, contacts = self.actuation.nu, crocoddyl.ContactModelMultiple(self.state, 12)
        for foot in feet:
            contact = crocoddyl.ContactModel3D(
                self.state, self.frames[foot], np.zeros(3), pin.LOCAL_WORLD_ALIGNED, nu, BAUMGARTE
            )
            contacts.addContact(f"foot{foot}", contact)
        return contacts

    def _costs(self, x_reference, u_reference):
        """Tracking of state and input with our weights; Crocoddyl's own factor is one half."""
        costs = crocoddyl.CostModelSum(self.state, self.actuation.nu)
        state_weights = 2.0 * self.cases["state_weights"]
        tracking = crocoddyl.ResidualModelState(self.state, x_reference.copy(), self.actuation.nu)
        if u_reference is None:
            state_weights = float(self.cases["terminal_scale"]) * state_weights
            self._add(costs, "state", tracking, state_weights, 1.0)
            return costs
        # Crocoddyl integrates a running cost over the period; ours is summed over the knots.
        self._add(costs, "state", tracking, state_weights, 1.0 / self.period)
        effort = crocoddyl.ResidualModelControl(self.state, u_reference.copy())
        self._add(costs, "input", effort, 2.0 * self.cases["input_weights"], 1.0 / self.period)
        return costs

    def _add(self, costs, name: str, residual, weights, scale: float) -> None:
        """Add scale/2 * sum_i weights_i residual_i^2."""
        activation = crocoddyl.ActivationModelWeightedQuad(weights)
        cost = crocoddyl.CostModelResidual(self.state, activation, residual)
        costs.addCost(name, cost, scale)

    def _add_cones(self, costs, feet) -> None:
        """Keep each standing foot's force in its friction cone: what our physics does by itself."""
        cone = crocoddyl.FrictionCone(np.eye(3), FRICTION, CONE_FACETS, False)
        bounds = crocoddyl.ActivationBounds(cone.lb, cone.ub)
        for foot in feet:
            residual = crocoddyl.ResidualModelContactFrictionCone(
                self.state, self.frames[foot], cone, self.actuation.nu
            )
            barrier = crocoddyl.ActivationModelQuadraticBarrier(bounds)
            cost = crocoddyl.CostModelResidual(self.state, barrier, residual)
            costs.addCost(f"cone{foot}", cost, CONE_WEIGHT / self.period)


def main(path: str, threads: int, repeat: int) -> None:
    """Measure all cases, after one iteration of each that warms up."""
    with np.load(path) as cases:
        peer = Peer(cases)
    count = len(peer.solvers)
    for case in range(count):
        peer.iterate(case, threads)
    taken = [peer.iterate(case, threads) for case in range(count) for _ in range(repeat)]
    print(json.dumps(
        {"crocoddyl": crocoddyl.__version__, "pinocchio": pin.__version__, "ms": taken}
    ))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
