"""One reading of the invariant filter, from its row to the estimate's."""

from __future__ import annotations

from numba import njit

from estimator.health.layout import ACCELERATION, GYRO
from estimator.intake import lose, take_in
from estimator.invariant.advance import advance
from estimator.invariant.start import restart
from estimator.record import CONTACT, SENSORS, STATUS, TIME, Q, Record, V
from robots.rotations import Array, quaternion_from_rotation
from robots.terrain import Ground


@njit(cache=True)
def tick(
    memory: Record, reading: Array, estimate: Array, options: Record, robot: Record, ground: Ground
) -> None:
    """Take a reading's row in and write the estimate's; memory, options and robot (1).

    A reading as old as the last one adds its measurements without prediction.
    """
    m, parameters, row, legs = memory[0], options[0], reading[SENSORS:], robot[0].legs
    if not take_in(m, robot[0], reading, estimate):
        return
    dt = reading[TIME] - m.time
    largest_gap = parameters.legs.largest_gap
    if not (0.0 <= dt <= largest_gap and advance(m, legs, row, dt, ground, parameters)):
        lose(m, estimate)
        restart(m, legs, row, m.place, ground, parameters)
    m.time = reading[TIME]
    estimate[Q : Q + 3], estimate[Q + 3 : Q + 7] = (
        m.vectors[1],
        quaternion_from_rotation(m.rotation),
    )
    estimate[V : V + 3] = m.rotation.T @ m.vectors[0]
    estimate[V + 3 : V + 6] = row[GYRO:ACCELERATION] - m.biases[0]
    estimate[CONTACT:STATUS] = m.contact[1]
