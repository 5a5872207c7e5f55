"""The operator: requests and commands by keyboard, gamepad, the robot's own remote, or a script."""
