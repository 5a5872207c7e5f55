"""An A1 without an A1: firmware behaviour behind real UDP bytes, on a simulated robot."""
