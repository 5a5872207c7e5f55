"""Limits of what reaches the motors, and the check of the robot: last before the wire."""
