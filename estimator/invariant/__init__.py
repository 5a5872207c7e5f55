"""A contact-aided invariant Kalman filter (Hartley et al. 2020), rival of the leg odometry."""
