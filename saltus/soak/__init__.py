"""Hours of the emulated A1 under random commands, pushes, terrain and faults."""
