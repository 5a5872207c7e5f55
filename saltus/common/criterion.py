"""Bounds on what studies and benches measure, and checks of machines and robots."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

COMPARISONS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


class Criterion(NamedTuple):
    """A bound on a number that a study or a bench computes.

    Attributes:
        what: the number, in words.
        value: None where it does not exist.
        op: relation of value to bound: one of `COMPARISONS`.
        bound: the number required.
    """

    what: str
    value: float | None
    op: str
    bound: float

    @property
    def met(self) -> bool:
        """Whether the value exists and satisfies the bound; NaN never does."""
        return self.value is not None and bool(COMPARISONS[self.op](self.value, self.bound))

    def record(self) -> dict[str, Any]:
        """JSON values."""
        return self._asdict() | {"met": self.met}

    def __str__(self) -> str:
        """Such as ``order is 1.9; >= 2 is required``."""
        value = "none" if self.value is None else f"{self.value:.4g}"
        return f"{self.what} is {value}; {self.op} {self.bound:g} is required"


class Check(NamedTuple):
    """One line of the report.

    Attributes:
        check: its name; ok: passed or not; essential: nothing works without it.
        found: what was seen, with the remedy where there is one.
    """

    check: str
    ok: bool
    essential: bool
    found: str


def guarded(name: str, essential: bool, check: Callable[[], tuple[bool, str]]) -> Check:
    """The outcome of a check; one that breaks has failed."""
    try:
        ok, found = check()
    except Exception as error:  # a diagnosis must not die of what it diagnoses
        ok, found = False, " ".join(f"{type(error).__name__}: {error}".split())
    return Check(name, ok, essential, found)
