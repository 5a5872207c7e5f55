"""The impacts of section 5.4 with the settings of Tables 4-8, and what Table 3 printed for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array
from studies.halm_posa.systems import (
    box_and_wall,
    compass_gait,
    disk_stacking,
    ramone,
    rocking_block,
)


class ImpactCase(NamedTuple):
    """One impact, and how its set of outcomes is sampled."""

    problem: Callable[[], ContactProblem]
    velocity: Callable[[], Array]  # before the impact (n,)
    step: float  # h [N s]
    steps: int  # N, trajectory length
    samples: int  # M, trajectory set size
    printed_lcps: float  # mean number of LCPs of a sample, Table 3
    printed_seconds: float  # mean time of a sample, Table 3 [s]


CASES = {
    "rocking block": ImpactCase(
        rocking_block.problem, rocking_block.velocity, 0.3, 10, 2**14, 2.67, 2.1e-3
    ),
    "compass gait": ImpactCase(
        compass_gait.problem, compass_gait.velocity, 0.25, 5, 2**20, 2.27, 1.9e-3
    ),
    "box and wall": ImpactCase(
        box_and_wall.problem, box_and_wall.velocity, 2.0, 5, 2**18, 1.97, 1.6e-3
    ),
    "RAMone": ImpactCase(ramone.problem, ramone.velocity, 1.0, 10, 2**20, 3.20, 2.2e-3),
    "disk stacking": ImpactCase(
        disk_stacking.problem, disk_stacking.velocity, 1.0, 10, 2**20, 9.04, 1.1e-2
    ),
}
