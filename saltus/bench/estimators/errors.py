"""Errors of a filter against the truth: what `saltus bench estimators` counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.legs import slip_speeds
from robots.robot import load_robot
from saltus.metrics.run import squared_errors

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

IN_THE_AIR = 20  # ticks off the ground that make a contact a touchdown: a foot that lands bounces
AFTER_TOUCHDOWN = 50  # ticks
SLIPPING = 0.05  # speed of a contact point along the ground that counts as slipping [m/s]


class Errors(NamedTuple):
    """Errors at the n ticks of a run.

    Attributes:
        velocity: (n, 3) of the linear velocity in base axes [m/s].
        tilt: (n,) angle between the two ideas of which way is up [rad].
        height: (n,) [m].
        touchdown: (n,) within 50 ms of a true touchdown.
        drift: by how much the error of the horizontal position changed over the run [m].
        height_drift: by how much that of the height did [m].
        distance: horizontal length of the true path [m].
    """

    velocity: Array
    tilt: Array
    height: Array
    touchdown: Mask
    drift: float
    height_drift: float
    distance: float


def errors_of(q: Array, v: Array, contact: Mask, q_hat: Array, v_hat: Array) -> Errors:
    """Compare estimates with truths, q (n, 19) and v (n, 18), contact (n, 4)."""
    pairs = zip(q, v, q_hat, v_hat, strict=True)
    squared = np.array([squared_errors(*pair) for pair in pairs])
    offset = q_hat[:, :3] - q[:, :3]
    change = offset[-1] - offset[0]
    return Errors(
        velocity=v_hat[:, :3] - v[:, :3],
        tilt=np.sqrt(squared[:, 2]),
        height=offset[:, 2],
        touchdown=after_touchdown(contact),
        drift=float(np.linalg.norm(change[:2])),
        height_drift=float(abs(change[2])),
        distance=float(np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1).sum()),
    )


def joined(runs: list[Errors]) -> Errors:
    """The runs of a stream as one: ticks one after another, drifts and distances added up."""
    return Errors(
        velocity=np.concatenate([run.velocity for run in runs]),
        tilt=np.concatenate([run.tilt for run in runs]),
        height=np.concatenate([run.height for run in runs]),
        touchdown=np.concatenate([run.touchdown for run in runs]),
        drift=sum(run.drift for run in runs),
        height_drift=sum(run.height_drift for run in runs),
        distance=sum(run.distance for run in runs),
    )


def after_touchdown(contact: Mask) -> Mask:
    """The ticks (n,) of the 50 ms that begin when any foot of `contact` (n, 4) touches down.

    A touchdown is a contact after 20 ms or more in the air.
    """
    after = np.zeros(len(contact), dtype=bool)
    for foot in contact.T:
        for k in np.flatnonzero(foot[1:] & ~foot[:-1]) + 1:
            if k >= IN_THE_AIR and not foot[k - IN_THE_AIR : k].any():
                after[k : k + AFTER_TOUCHDOWN] = True
    return after


def rms(values: Array) -> float | None:
    """Root mean square of numbers (n,) or of the lengths of vectors (n, 3); None without any."""
    if not len(values):
        return None
    squares = values * values if values.ndim == 1 else (values * values).sum(axis=1)
    return float(np.sqrt(squares.mean()))


def slipping_share(q: Array, v: Array, contact: Mask, every: int = 5) -> float:
    """Share of the feet's true contact time in which the contact point slides, of every 5th tick.

    q (n, 19), v (n, 18), contact (n, 4); NaN where no foot ever touches the ground.
    """
    speeds = [
        slip_speeds(load_robot("a1").legs, *state)
        for state in zip(q[::every], v[::every], strict=True)
    ]
    touching = np.array(speeds)[contact[::every]]
    return float((touching > SLIPPING).mean()) if touching.size else float("nan")
