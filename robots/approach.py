"""How slowly a foot may come down for its touchdown to have a time that can be differentiated."""

MINIMUM_APPROACH_SPEED = 1e-3  # [m/s] below it (3.2) divides by nearly nothing
