"""Section 6.5.1: HiLQR as a model predictive controller of a bouncing ball."""
