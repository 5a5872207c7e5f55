"""The Unitree A1."""
