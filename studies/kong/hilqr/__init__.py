"""Chapter 5: HiLQR with saltation matrices and with reset Jacobians."""
