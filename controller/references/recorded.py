"""References from files: saved trajectories (.npz) and recorded runs (.mcap)."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from controller.references.trajectory import ReferenceTrajectory
from robots.state import difference, integrate
from runtime.messages import GroundTruth, SensorReading
from runtime.recording import read_recording
from runtime.topics import GROUND_TRUTH, SENSOR_READING

Array = NDArray[np.float64]

SHAPES = {"q": 19, "v": 18, "inputs": 12, "contacts": 4}  # columns of each array of a .npz


def save_reference(reference: ReferenceTrajectory, path: Path) -> None:
    """Write samples and period to a .npz file; a loop is written once."""
    arrays = {name: getattr(reference, name) for name in SHAPES}
    np.savez_compressed(path, period=reference.period, **arrays)


def load_reference(path: Path, period: float) -> ReferenceTrajectory:
    """A recorded trajectory, resampled every `period` [s]; after its end the last sample holds.

    A .npz file holds `period` [s] and rows of `q` (19), `v` (18), `inputs` (12) [N m] and
    `contacts` (4). Of a recorded run (.mcap) the true motion and the measured torques are taken.

    Raises:
        ValueError: the file is missing, is of another kind, or holds no such trajectory.
    """
    if not path.is_file():
        raise ValueError(f"no such file: {path}")
    try:
        own, samples = _from_npz(path) if path.suffix == ".npz" else _from_mcap(path)
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} holds no trajectory: {' '.join(str(error).split())}") from error
    for name, columns in SHAPES.items():
        array = samples[name]
        if array.ndim != 2 or array.shape[1] != columns or not np.isfinite(array).all():
            raise ValueError(f"{path}: {name!r} must be finite rows of {columns} numbers")
    if len({len(array) for array in samples.values()}) != 1 or len(samples["q"]) < 2:
        raise ValueError(f"{path}: the arrays must have the same number of rows, at least 2")
    return _resample(path.stem, own, samples, period)


def _from_npz(path: Path) -> tuple[float, dict[str, Array]]:
    with np.load(path, allow_pickle=False) as archive:
        return float(archive["period"]), {name: np.array(archive[name], float) for name in SHAPES}


def _from_mcap(path: Path) -> tuple[float, dict[str, Array]]:
    """Truth and torque of a recorded run, matched by tick."""
    truths: dict[int, GroundTruth] = {}
    readings: dict[int, SensorReading] = {}
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
        "inputs": np.array([readings[tick].joint_torque for tick in ticks]),
        "contacts": np.array([truths[tick].contact for tick in ticks]),
    }
    return float((times[-1] - times[0]) / (len(times) - 1)), samples


def _resample(
    name: str, own: float, samples: dict[str, Array], period: float
) -> ReferenceTrajectory:
    """Samples every `period`: states interpolated on the manifold, the rest held."""
    count = int((len(samples["q"]) - 1) * own / period + 1e-6) + 1
    q, v, index = np.empty((count, 19)), np.empty((count, 18)), np.empty(count, dtype=np.int64)
    for k in range(count):
        place = k * period / own
        i = min(int(place + 1e-6), len(samples["q"]) - 2)
        a, b = (samples["q"][i], samples["v"][i]), (samples["q"][i + 1], samples["v"][i + 1])
        q[k], v[k] = integrate(*a, (place - i) * difference(*a, *b))
        index[k] = min(int(place + 1e-6), len(samples["q"]) - 1)
    return ReferenceTrajectory(
        name, period, q, v, samples["inputs"][index], samples["contacts"][index]
    )
