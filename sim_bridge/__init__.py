"""The simulated robot: physics, motors, sensors and perturbations of an A1 in MuJoCo."""
