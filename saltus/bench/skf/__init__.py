"""The salted Kalman filter, ours beside hybrid-tools'."""
