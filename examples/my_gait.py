"""A gait of one's own: `saltus launch sim --planner examples/my_gait.py:crawl`.

HiLQR tracks a slow walk in which every foot stands for 85 % of the stride.
"""

from controller.gaits import Gait
from controller.hilqr_planner import HilqrPlanner
from controller.references.kinematic import make_kinematic_reference
from saltus.configuration.launch import LaunchConfig
from saltus.launch.planners import make_derivatives, make_rollout, planning

# Lift-offs in the order rear left, front left, rear right, front right, as shares of the stride.
CRAWL = Gait("crawl", period=1.0, duty=0.85, offsets=(0.75, 0.25, 0.5, 0.0), swing_height=0.05)


def crawl(config: LaunchConfig) -> HilqrPlanner:
    """HiLQR on the crawl, with the options and the speed of the launch."""
    options = planning(config)
    robot = config.robot_model
    reference = make_kinematic_reference(robot, CRAWL, config.speed, options.period)
    backend, derivatives = make_rollout(config), make_derivatives(options, robot)
    return HilqrPlanner(options, robot, reference, backend, derivatives)
