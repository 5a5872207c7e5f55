"""The A1's low-level UDP frames: LowCmd (610 bytes) to the robot, LowState (771 bytes) from it."""
