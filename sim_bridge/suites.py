"""Reading perturbation suites and lists of events, with one clear line for each mistake."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sim_bridge.perturbations import KINDS, Perturbation

Parsed = TypeVar("Parsed")


class SuiteError(ValueError):
    """A suite or list of events that cannot be used; the message is one line that says why."""


class Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of trials, each one run with one perturbation.

    Attributes:
        reference: what the robot is asked to do (stand, walk, trot, ...).
        duration: length of every trial [simulated s].
        trials: one event per trial.
        command: what the reference takes, such as velocity_x [m/s].
        input_delay: time between command and motor [s].
    """

    reference: str
    duration: float
    trials: tuple[Perturbation, ...]
    command: dict[str, float] = {}
    input_delay: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for times out of range or a suite without trials."""
        if not 0.0 < self.duration < float("inf"):
            raise ValueError(f"duration is {self.duration}; give seconds > 0")
        if not 0.0 <= self.input_delay < float("inf"):
            raise ValueError(f"input_delay is {self.input_delay}; give seconds >= 0")
        if not self.trials:
            raise ValueError("trials is empty; give at least one event")


def read_suite(path: Path) -> Suite:
    """Read a suite from a YAML file.

    Raises:
        SuiteError: the file cannot be read or is not a suite; one line that names the file.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path}: {error.strerror or error}") from error
    try:
        return parse_suite(text)
    except SuiteError as error:
        raise SuiteError(f"{path}: {error}") from error


def parse_suite(text: str | bytes) -> Suite:
    """Parse a suite from YAML text.

    Raises:
        SuiteError: the text is not YAML or not a suite.
    """
    try:
        data = msgspec.yaml.decode(text)
    except msgspec.DecodeError as error:
        raise SuiteError(f"not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise SuiteError(f"a suite is a mapping with the keys {', '.join(_keys(Suite))}")
    _check_keys("", data, _keys(Suite))
    _check_events(data.get("trials"))
    return _convert(data, Suite)


def parse_events(data: Any) -> tuple[Perturbation, ...]:
    """Turn a list of plain mappings (from a launch file) into the events of one run.

    Raises:
        SuiteError: an entry is not an event.
    """
    if not isinstance(data, list):
        raise SuiteError("perturbations: give a list of events")
    _check_events(data)
    return _convert(data, tuple[Perturbation, ...])


def _convert(data: Any, kind: type[Parsed]) -> Parsed:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise SuiteError(str(error).replace("$.", "").replace("`$[", "`[")) from error


def _check_events(events: Any) -> None:
    """Name the accepted kinds and keys, which the parser alone would not."""
    for index, event in enumerate(events if isinstance(events, list) else []):
        if not isinstance(event, dict):
            raise SuiteError(f"event {index} is {event!r}; give a mapping with a kind")
        if str(event.get("kind")) not in KINDS:
            wrong = f"unknown kind {event['kind']!r}" if "kind" in event else "no kind"
            raise SuiteError(f"event {index}: {wrong}; accepted: {', '.join(KINDS)}")
        _check_keys(f"event {index}: ", event, ("kind", *_keys(KINDS[event["kind"]])))


def _keys(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return kind.__struct_encode_fields__


def _check_keys(where: str, data: dict[Any, Any], accepted: tuple[str, ...]) -> None:
    unknown = [key for key in data if key not in accepted]
    if unknown:
        raise SuiteError(f"{where}unknown key {unknown[0]!r}; accepted: {', '.join(accepted)}")
