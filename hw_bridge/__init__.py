"""The bridge to a real robot over UDP, and an emulator of the robot."""
