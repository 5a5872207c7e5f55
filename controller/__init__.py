"""Planners, the tracker and its safety: a StateEstimate becomes a MotorCommand."""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())  # printed where a program asks for it
