"""What may reach the motors, and whether the robot is fit to go on: last before the wire."""
