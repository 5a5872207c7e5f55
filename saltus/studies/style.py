"""How the figures of the studies look: colours and labels beside the general ``figure``."""

from saltus.common.figures import figure, save

__all__ = ["COLOURS", "GUARD", "LABELS", "TARGET", "figure", "save"]

COLOURS = {
    "xi": "goldenrod",
    "dxr": "tab:red",
    "seed": "tab:gray",
    "initial": "tab:blue",
    "final": "tab:green",
    "actual": "black",
    "guard": "black",
    "target": "magenta",
    "direct": "teal",
}
LABELS = {
    "seed": "seed",
    "xi": r"$\Xi$-iLQR",
    "dxr": r"$D_xR$-iLQR",
    "direct": "direct collocation",
    "no_extension": r"$\Xi$, no extension",
}  # of the trajectories and methods, as the thesis writes them
GUARD = {"color": COLOURS["guard"], "linestyle": "--", "linewidth": 1.0}  # of a guard surface
TARGET = {"color": COLOURS["target"], "marker": "+", "markersize": 12, "markeredgewidth": 2.0,
          "linestyle": "none"}  # fmt: skip
