"""Where the camera stands."""

from typing import NamedTuple

from saltus.common.errors import BadRequest

ASIDE = 0.3  # of its distance: how far aside the robot goes before the camera of a film goes along
DISTANCES = (0.3, 20.0)  # of a camera that a person describes [m]


class View(NamedTuple):
    """Where the camera stands. It follows the robot forward, so that a push aside is seen.

    Attributes:
        distance: from what it looks at [m].
        azimuth: direction in which it looks [deg]: 0 is forward, from behind the robot.
        elevation: of its direction above the ground [deg].
        sideways: where it looks [m].
        follow: it follows the robot sideways as well, beyond this distance from there [m].
        reference_path: draw the line that the reference walks along.
        quick: coarser shadows and edges, in half the time.
    """

    distance: float = 1.15
    azimuth: float = 155.0
    elevation: float = -16.0
    sideways: float = 0.0
    follow: float = float("inf")
    reference_path: bool = False
    quick: bool = False


def _film_view(azimuth: float, elevation: float, distance: float) -> View:
    return View(distance, azimuth, elevation, follow=ASIDE * distance, quick=True)


CAMERAS = {
    # A little ahead of the robot's right side: from there an arrow to the left has a length too.
    "side": _film_view(115.0, -14.0, 1.3),
    "front": _film_view(180.0, -14.0, 1.3),
    "top": _film_view(90.0, -89.0, 1.6),
}


def camera_view(text: str) -> View:
    """The view that a person names or describes: ``side``, or ``130,-20,1.5``.

    Raises:
        BadRequest: it is neither a name nor azimuth [deg], elevation [deg] and distance [m].
    """
    if text in CAMERAS:
        return CAMERAS[text]
    try:
        azimuth, elevation, distance = (float(part) for part in text.split(","))
    except ValueError:
        azimuth = elevation = distance = float("nan")
    nearest, furthest = DISTANCES
    if abs(azimuth) <= 360.0 and abs(elevation) < 90.0 and nearest <= distance <= furthest:
        return _film_view(azimuth, elevation, distance)
    raise BadRequest(
        f"--camera {text!r}: accepted: {', '.join(CAMERAS)}, or AZIMUTH,ELEVATION,DISTANCE such as "
        f"130,-20,1.5 (at most 360 degrees, less than 90 degrees, {nearest:g} to {furthest:g} m)"
    )
