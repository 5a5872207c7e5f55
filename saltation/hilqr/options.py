"""Options of the HiLQR solver, and the regularisation schedule that they set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from saltation.hilqr.riccati import Variant
from saltation.options import LineSearch, check_choice


@dataclass(frozen=True)
class RegularisationOptions:
    """Schedule of Tassa et al. 2012, section II-F."""

    target: Literal["state", "input", "both"] = "state"  # V'_xx, Q_uu, or each
    initial: float = 0.0
    minimum: float = 1e-6  # below it, mu is zero
    maximum: float = 1e10  # above it, the solver gives up
    factor: float = 2.0  # growth of the growth


@dataclass(frozen=True)
class HilqrOptions:
    """Options of the search, and of its end.

    ``variant``: "xi" composes saltation matrices, "dxr" the Jacobians of the resets (5.32),
    "no_extension" is "xi" without reference extensions over mode mismatches (5.3.4).

    ``line_search``: "exhaustive" rolls all step sizes out at once; "two_stage" the first two, and
    where neither brings ``sufficient_ratio`` the others; "backtracking" one after the other until
    one does. The cheapest of those is taken.

    ``at_once``: candidates that are rolled out together, whole groups of the search, at least one.
    Those that the search does not come to are not looked at, so the result is the same.
    """

    step_sizes: tuple[float, ...] = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.028, 0.0)
    max_iterations: int = 200
    tolerance: float = 1e-6  # converged when |dJ| of (5.19) at step size one is below it [cost]
    # A reduction of the cost by less than this share of it is the last, and a step that would bring
    # less with `sufficient_ratio` of its promise is not tried.
    enough: float = 0.0
    minimum_ratio: float = 1e-4  # actual over expected reduction that a step must reach
    line_search: LineSearch = "exhaustive"
    at_once: int = 1
    sufficient_ratio: float = 0.3  # actual over expected reduction that ends a search
    variant: Variant = "xi"
    regularisation: RegularisationOptions = field(default_factory=RegularisationOptions)

    def __post_init__(self) -> None:
        """Check the variant and the line search."""
        check_choice("variant", self.variant, Variant)
        check_choice("line_search", self.line_search, LineSearch)


class Regularisation:
    """The damping mu, which grows quadratically in trouble and shrinks quadratically out of it."""

    def __init__(self, options: RegularisationOptions) -> None:
        """Start at ``options.initial``."""
        self.options = options
        self.reset()

    def reset(self) -> None:
        """Back to the initial damping."""
        self.mu = self.options.initial
        self._growth = 1.0

    @property
    def mu_state(self) -> float:
        """Part that is added to V'_xx."""
        return 0.0 if self.options.target == "input" else self.mu

    @property
    def mu_input(self) -> float:
        """Part that is added to Q_uu."""
        return 0.0 if self.options.target == "state" else self.mu

    @property
    def exhausted(self) -> bool:
        """Whether mu has passed its maximum."""
        return self.mu > self.options.maximum

    def increase(self) -> None:
        """After an indefinite input Hessian or a failed line search."""
        factor = self.options.factor
        self._growth = max(factor, self._growth * factor)
        self.mu = max(self.options.minimum, self.mu * self._growth)

    def decrease(self) -> None:
        """After an accepted step."""
        factor = self.options.factor
        self._growth = min(1.0 / factor, self._growth / factor)
        mu = self.mu * self._growth
        self.mu = mu if mu >= self.options.minimum else 0.0
