"""A simulated robot as its process makes it, which is commanded, pushed, blocked, and falls."""

import numpy as np

from saltus.common.compiled_code import signature_counts
from saltus.configuration.launch import load_launch
from saltus.launch import assembly, warmup
from tests.hw_bridge.rig import stand_command
from tests.saltus.launch.warm_processes.trial import on_wire, tell

PERTURBATIONS = (
    "perturbations=[{kind: base_velocity, at: 0.05, value: [0, 1.5, 0]}, "
    "{kind: base_force, at: 0.1, for: 0.1, value: [0, 80, 0]}, "
    "{kind: motor_block, at: 0.3, for: 0.15}, {kind: base_velocity, at: 0.5, value: [0, 6, 2]}]"
)


def command(tick):
    """One now and then is missing, and one holds no number."""
    if tick % 7 == 0:
        return None
    torque = np.full(12, np.nan if tick == 400 else 1.0)
    return on_wire(stand_command(tick, 1e-3 * tick, tau=torque))


def main():
    config = load_launch("stand", [PERTURBATIONS, "simulation.input_delay=0.004"], mode="realtime")
    robot = assembly.make_simulation(config)
    warmup.warm_simulation(config)
    before, seen = signature_counts(), set[str]()
    for tick in range(700):
        robot.advance(command(tick))
        on_wire(robot.reading(0.1))
        seen |= {"blocked"} if robot.blocked else set()
        seen |= {"in the air"} if not on_wire(robot.truth(0.1)).contact.any() else set()
    tell(before, seen | ({"fell"} if robot.fell else set()))


if __name__ == "__main__":
    main()
