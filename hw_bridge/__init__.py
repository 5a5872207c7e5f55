"""The real A1 over UDP, and its emulator: the other implementation of the robot bridge."""
