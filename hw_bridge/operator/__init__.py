"""Who may say what the robot does: keyboard, gamepad, the A1's own remote, or a script."""
