"""Sentences about an IMU whose numbers seem to have another unit."""

from robots.conventions import GRAVITY

LEAST, MOST = 0.5, 2.0
"""Bounds of a mean acceleration, in gravities: no unit in use lies between, and no jump beyond."""
FASTEST_AT_REST = 0.2
"""Bound of the angular velocity's RMS while a robot stands still [rad/s]: sound noise is a tenth
of it, and that noise in degrees twice of it."""


def accelerometer_doubt(reads: float) -> str:
    """Words for a mean acceleration [m/s2] that is not gravity."""
    return (
        f"accelerometer reads {reads:.1f} m/s2 at rest, gravity is {GRAVITY:.2f}: are its units g?"
    )


def gyroscope_doubt(says: str) -> str:
    """Words for a gyroscope that contradicts the attitude; `says` is how."""
    return f"gyroscope {says}: are its units deg/s?"


def doubt_at_rest(acceleration: float, rate: float) -> str:
    """Impossible one of the mean acceleration [m/s2] and the RMS of the rate [rad/s], or ""."""
    if not LEAST * GRAVITY <= acceleration <= MOST * GRAVITY:
        return accelerometer_doubt(acceleration)
    if not rate <= FASTEST_AT_REST:
        return gyroscope_doubt(f"reads {rate:.2f} rad/s at rest")
    return ""
