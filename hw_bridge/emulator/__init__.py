"""The emulated robot: firmware behaviour behind real UDP bytes, on a simulated body."""
