"""Low-level frames: LowCmd to the robot, LowState from it."""
