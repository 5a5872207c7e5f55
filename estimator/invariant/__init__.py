"""A contact-aided invariant Kalman filter (Hartley et al. 2020)."""
