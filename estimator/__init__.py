"""Estimators: from a `SensorReading` to a `StateEstimate`."""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())  # printed where a program asks for it
