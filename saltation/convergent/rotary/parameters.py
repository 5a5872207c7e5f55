"""Numbers of the Quanser QUBE-Servo 2 with its pendulum, and the voltage of its motor.

The thesis prints the motor alone, Table 2.3. Masses and lengths are those of Quanser's tables: the
Qube-Servo 3 manual has them for the same arm and pendulum, with the encoders and the amplifier. The
moments of inertia and the damping are from the parameter scripts of the QUBE-Servo 2 courseware, of
which there are two editions, seen here as users copied them. They differ much:

    edition   J_r               D_r      D_p
    first     m_r L_r^2 / 12    0.0015   0.0005    in the form of (2.25) and (2.26)
    later     m_r L_r^2 / 3     0.0010   0.00005   its damping was tuned to the machine's response

The first is taken, as its equations are the thesis's.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class RotaryPendulum(NamedTuple):
    """Arm and pendulum; fields may be arrays (k,), for k machines at once.

    The first edition calls its J_r the moment about the pivot, though it is that of a rod about
    its middle; the later one's is that about its end.
    """

    m_p: Any = 0.024  # mass of the pendulum [kg]; manual
    L_p: Any = 0.129  # its length [m]; manual
    m_r: Any = 0.095  # mass of the arm [kg]; manual
    L_r: Any = 0.085  # its length, axis to the end of the rod [m]; manual
    J_r: Any = 0.095 * 0.085**2 / 12.0  # of the arm [kg m^2]; first edition
    J_p: Any = 0.024 * 0.129**2 / 12.0  # of the pendulum about its middle [kg m^2]; first edition
    D_r: Any = 0.0015  # damping of the arm [N m s/rad]; first edition
    D_p: Any = 0.0005  # damping of the pendulum [N m s/rad]; first edition
    g: Any = 9.81  # [m/s^2]


class Motor(NamedTuple):
    """The direct-current motor, Table 2.3; the hub's radius is called a mass there."""

    R_m: float = 8.4  # terminal resistance [ohm]
    k_t: float = 0.042  # torque constant [N m/A]
    k_m: float = 0.042  # back-emf constant [V/(rad/s)]
    J_m: float = 4.0e-6  # of the rotor [kg m^2]; part of no J_r above
    L_m: float = 1.16e-3  # inductance [H]
    J_h: float = 0.6e-6  # of the load hub [kg m^2]; part of no J_r above

    def voltage(self, torque: Any, theta_dot: Any) -> Any:
        """The voltage [V] for a torque [N m] at the arm's speed [rad/s].

        The inductance is left out: L_m / R_m = 0.14 ms.
        """
        return self.R_m * torque / self.k_t + self.k_m * theta_dot


QUBE_SERVO_2 = RotaryPendulum()
QUBE_MOTOR = Motor()
QUBE_ENCODER = 2048  # counts per turn of both encoders, in quadrature; manual
