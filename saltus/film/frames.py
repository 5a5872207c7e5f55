"""What the frames of a film show."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ARROW_COLOUR = (0.95, 0.35, 0.05, 1.0)  # red, green, blue, opacity
PLAN_COLOUR = (0.05, 0.45, 0.85, 1.0)

Array = NDArray[np.float64]


class Frame(NamedTuple):
    """One picture; the fields are as in `Frames`, without their first axis."""

    q: Array
    caption: str
    arrow: Array
    arrow_label: str
    plan_path: Array


class Frames(NamedTuple):
    """n pictures.

    Attributes:
        q: (n, 19) configurations.
        caption: (n,) text in the corner.
        arrow: (n, 3) of the push that acts on the base, in world [m]; zero where none does.
        arrow_label: (n,) text beside it.
        plan_path: (n, K, 3) positions of the base that the newest plan goes through, in world [m];
            K = 0 where there are no plans.
    """

    q: Array
    caption: NDArray[np.str_]
    arrow: Array
    arrow_label: NDArray[np.str_]
    plan_path: Array

    @classmethod
    def plain(cls, q: Array, caption: NDArray[np.str_] | None = None) -> "Frames":
        """The robot in the configurations q (n, 19), with captions (n,), and nothing else."""
        n = len(q)
        no_text = np.full(n, "")
        caption = no_text if caption is None else caption
        return cls(q, caption, np.zeros((n, 3)), no_text, np.zeros((n, 0, 3)))

    def each(self) -> list[Frame]:
        """The frames one by one."""
        return [Frame(q, str(caption), arrow, str(label), path)
                for q, caption, arrow, label, path in zip(*self, strict=True)]  # fmt: skip
