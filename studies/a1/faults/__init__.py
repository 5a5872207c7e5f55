"""Faults of the emulated A1."""
