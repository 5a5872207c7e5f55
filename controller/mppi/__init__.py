"""MPPI: model predictive path integral control."""
