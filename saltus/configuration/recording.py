"""What a recording keeps of plans, by far the largest messages."""

from typing import Literal

from runtime.options import Options


class RecordingOptions(Options, frozen=True):
    """How much of the plans is recorded; every other message is, to the last bit.

    Attributes:
        plans: ``sampled``: knots of twenty plans a second and gains of two, of the others what
            stands before the knots. ``all``: knots and gains of every plan.
        gains: ``float32``, ``float64`` as the planner sent them, or ``none``, which NaN stands for.
    """

    plans: Literal["sampled", "all"] = "sampled"
    gains: Literal["float32", "float64", "none"] = "float32"
