"""Accuracy of the simulator."""
