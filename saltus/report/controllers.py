"""What controllers are called on the page, and their colours."""

from typing import NamedTuple


class Look(NamedTuple):
    """Name and colour of a controller."""

    name: str
    colour: str


# Colours that stay apart for colour-blind eyes: M. Okabe and K. Ito, Color Universal Design, 2008.
_LOOKS = {
    "hilqr": Look("HiLQR MPC", "#0072B2"),
    "convex_mpc": Look("Convex MPC", "#D55E00"),
    "instant_qp": Look("Instant QP", "#009E73"),
}
_OTHER = "#555555"


def look(controller: str) -> Look:
    """Name and colour of a controller; one that is not known here has its own name, in grey."""
    return _LOOKS.get(controller, Look(controller, _OTHER))


def in_order(controllers: set[str]) -> list[str]:
    """Controllers in the order of the thesis's tables, unknown ones last."""
    known = [name for name in _LOOKS if name in controllers]
    return known + sorted(controllers.difference(_LOOKS))
