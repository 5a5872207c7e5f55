"""Estimators: from a `SensorReading` to a `StateEstimate`."""
