"""Planners, the tracker and its safety: a StateEstimate becomes a MotorCommand."""
