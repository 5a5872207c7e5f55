"""Table 3.1: covariance through an event."""
