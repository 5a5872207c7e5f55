"""The simulated robot: physics, motors, sensors and perturbations of a robot in MuJoCo."""
