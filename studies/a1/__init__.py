"""Studies of the Unitree A1 in this project's own stack."""
