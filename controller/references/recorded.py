"""References from files: saved trajectories (.npz) and recorded runs (.mcap)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from controller.references.trajectory import ReferenceTrajectory
from robots.planar_pose import PlanarPose
from robots.rotations import Array
from robots.state import difference, integrate
from runtime.messages import GroundTruth, SensorReading
from runtime.topics import GROUND_TRUTH, SENSOR_READING

MOST_SAMPLES = 1_000_000  # of a trajectory: 424 MB
LEAST_PERIOD = 1e-6  # between its own [s]
ROUNDING = 0.01  # of a quaternion's length
SHAPES = {"q": 19, "v": 18, "inputs": 12, "contacts": 4}  # columns of each array of a .npz


def save_reference(reference: ReferenceTrajectory, path: Path) -> None:
    """Write samples, period and loop to a .npz file."""
    arrays = {name: getattr(reference, name) for name in SHAPES}
    np.savez_compressed(
        path, period=reference.period, loop=reference.loop, loop_shift=reference.loop_shift,
        **arrays,
    )  # fmt: skip


def load_reference(path: Path, period: float) -> ReferenceTrajectory:
    """A recorded trajectory, resampled every `period` [s].

    A .npz file holds `period` [s] and rows of `q` (19), `v` (18), `inputs` (12) [N m] and
    `contacts` (4); its last `loop` rows repeat, each time moved by `loop_shift` (3) [m]. Of a
    recorded run (.mcap) the true motion and the measured torques are taken. Without a loop the
    last sample holds after the end.

    Raises:
        ValueError: the file is missing, is of another kind, holds no such trajectory or one that is
            too long, or its loop is no multiple of `period`.
    """
    if not path.is_file():
        raise ValueError(f"no such file: {path}")
    try:
        recording = _from_npz(path) if path.suffix == ".npz" else _from_mcap(path)
    except Exception as error:  # of a damaged archive zipfile and NumPy raise many kinds
        raise ValueError(f"{path} holds no trajectory: {' '.join(str(error).split())}") from error
    samples = recording.samples
    for name, columns in SHAPES.items():
        array = samples[name]
        if array.ndim != 2 or array.shape[1] != columns or not np.isfinite(array).all():
            raise ValueError(f"{path}: {name!r} must be finite rows of {columns} numbers")
    if len({len(array) for array in samples.values()}) != 1 or len(samples["q"]) < 2:
        raise ValueError(f"{path}: the arrays must have the same number of rows, at least 2")
    if (np.abs(np.linalg.norm(samples["q"][:, 3:7], axis=1) - 1.0) > ROUNDING).any():
        raise ValueError(f"{path}: 'q' must hold quaternions of length 1 in columns 3 to 6")
    longest = MOST_SAMPLES * period / len(samples["q"])
    if not LEAST_PERIOD <= recording.period <= longest:
        raise ValueError(
            f"{path}: period is {recording.period:g} s; give {LEAST_PERIOD:g} to {longest:g} s"
        )
    begin = PlanarPose.of(samples["q"][0])  # a reference begins at the origin, along x
    samples["q"] = begin.to_local(samples["q"])
    shift = PlanarPose(yaw=-begin.yaw).points_to_world(recording.loop_shift)
    recording = recording._replace(loop_shift=shift)
    return _looped(_resample(path.stem, recording.period, samples, period), recording)


class _Recording(NamedTuple):
    """Contents of a file: see `ReferenceTrajectory`."""

    period: float  # between samples [s]
    samples: dict[str, Array]
    loop: int = 1
    loop_shift: Array = np.zeros(3)


def _from_npz(path: Path) -> _Recording:
    with np.load(path, allow_pickle=False) as archive:
        samples = {name: np.array(archive[name], float) for name in SHAPES}
        found = _Recording(float(archive["period"]), samples)
        if "loop" not in archive:
            return found
        loop, shift = int(archive["loop"]), np.array(archive["loop_shift"], float)
    if not (1 <= loop <= len(samples["q"]) and shift.shape == (3,) and np.isfinite(shift).all()):
        raise ValueError("its loop does not fit its rows")
    return found._replace(loop=loop, loop_shift=shift)


def _looped(reference: ReferenceTrajectory, recording: _Recording) -> ReferenceTrajectory:
    """The resampled trajectory with its recording's loop."""
    if recording.loop == 1:
        return reference
    stride = recording.loop * recording.period
    loop = round(stride / reference.period)
    if abs(loop * reference.period - stride) > 1e-9 or loop > reference.size:
        raise ValueError(
            f"{reference.name}: the stride of {stride:g} s is no multiple of the planner's "
            f"{reference.period:g} s knots; change one of them"
        )
    return replace(reference, loop=loop, loop_shift=recording.loop_shift)


def _from_mcap(path: Path) -> _Recording:
    """Truth and torque of a recorded run, matched by tick."""
    truths: dict[int, GroundTruth] = {}
    readings: dict[int, SensorReading] = {}
    from runtime.recording import read_recording  # few references are recorded runs

    for topic, message in read_recording(path):
        if topic == GROUND_TRUTH.name and isinstance(message, GroundTruth):
            truths[message.tick] = message
        elif topic == SENSOR_READING.name and isinstance(message, SensorReading):
            readings[message.tick] = message
    ticks = sorted(truths.keys() & readings.keys())
    if len(ticks) < 2:
        raise KeyError("a recording needs the ground_truth and sensor_reading topics")
    times = np.array([truths[tick].time for tick in ticks])
    samples = {
        "q": np.array([truths[tick].q for tick in ticks]),
        "v": np.array([truths[tick].v for tick in ticks]),
        # A reading tells the torque of the tick that has ended: the next one's acts from here on.
        "inputs": np.array([readings[tick].joint_torque for tick in [*ticks[1:], ticks[-1]]]),
        "contacts": np.array([truths[tick].contact for tick in ticks]),
    }
    return _Recording(float((times[-1] - times[0]) / (len(times) - 1)), samples)


def _resample(
    name: str, own: float, samples: dict[str, Array], period: float
) -> ReferenceTrajectory:
    """Samples every `period`: states interpolated on the manifold, the rest averaged from there on.

    Torques at 1 kHz hold the tracker's feedback and the noise of sensors; what a knot should feed
    forward is what gives the same impulse, their mean. A foot is in contact that stands on the
    ground for half of the knot.
    """
    count = int((len(samples["q"]) - 1) * own / period + 1e-6) + 1
    q, v = np.empty((count, 19)), np.empty((count, 18))
    for k in range(count):
        place = k * period / own
        i = min(int(place + 1e-6), len(samples["q"]) - 2)
        a, b = (samples["q"][i], samples["v"][i]), (samples["q"][i + 1], samples["v"][i + 1])
        q[k], v[k] = integrate(*a, (place - i) * difference(*a, *b))
    inputs = _means(samples["inputs"], own, period, count)
    contacts = _means(samples["contacts"], own, period, count) > 0.5 - 1e-6
    return ReferenceTrajectory(name, period, q, v, inputs, contacts.astype(float))


def _means(samples: Array, own: float, period: float, count: int) -> Array:
    """Mean over each of `count` periods of rows (K, n) held for `own` [s] each: (count, n).

    A period that the rows end in is averaged up to there.
    """
    edges = np.minimum(np.arange(count + 1) * period / own, len(samples))  # in rows
    whole = np.minimum((edges + 1e-6).astype(np.int64), len(samples) - 1)
    sums = np.vstack([np.zeros(samples.shape[1]), np.cumsum(samples, axis=0)])
    integrals = sums[whole] + (edges - whole)[:, None] * samples[whole]
    return np.diff(integrals, axis=0) / np.diff(edges)[:, None]
