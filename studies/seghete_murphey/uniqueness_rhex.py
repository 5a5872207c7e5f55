"""Double touchdowns of a planar RHex: where the outcome is unique.

The source prints neither parameters nor numbers: the robot is ours, and what is compared is the
picture: two minima of s, A and B, that are one stance with its legs swapped, and a maximum, C, with
body and knee in the ground. Primed points are copies: with the hips at the centre of mass, s
repeats after half a turn of both legs. O is an exactly orthogonal stance outside the contour.

Both knees have the same angle, and theta = 0. The angle of the other hip puts the left foot on the
ground with the legs apart; the second solution, with both feet in one place, is not used.
spread: distance of the outcomes of all orders in the kinetic metric over |p|, for a fall with all
joints at rest. least_s is that of the contour. Over random impacts first_order is the range of the
spread over that of first order (16)-(20); towards O the spread falls as |s| to the power of slope.
enumerated is the share of impacts of which all orders were.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize

from saltation.impacts.surface_cosines import surface_cosines
from saltation.systems import Array
from studies.figures import Panel, dots, draw
from studies.halm_posa.systems.planar_links import Link, body_inertia, point, point_jacobian
from studies.seghete_murphey.systems.momenta import all_orders, deviation, order_sensitivity
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

_THETA = np.eye(7)[2]


# Parameters, ours. The hips are at the centre of mass; the links are thin uniform rods.
BODY_MASS, BODY_INERTIA = 7.0, 0.15  # [kg], about the centre of mass [kg m^2]
LEG = (0.05, 0.1), (0.12, 0.1)  # length [m] and mass [kg] of thigh and shin


def joints(q: Array) -> Array:
    """Positions (2, 3, 2) [m] of hip, knee and foot of each leg, for pictures."""
    return np.array([[point(q, _path(leg)[:k]) for k in range(3)] for leg in range(2)])


def leg_pitch(hip: float, knee: float) -> float:
    """Angle [rad] of the line from hip to foot, in the body."""
    (thigh, _), (shin, _) = LEG
    return hip + np.arctan2(shin * np.sin(knee), thigh + shin * np.cos(knee))


def other_hip(hip: float, knee: float) -> float:
    """Left hip's angle [rad] that puts both feet on the ground at equal knee angles, (21)."""
    return hip - 2.0 * leg_pitch(hip, knee)


def configuration(hip: float, knee: float) -> Array:
    """q (7,) with theta = x = 0 and both feet at height zero, from right hip and knees [rad]."""
    q = np.array([0.0, 0.0, 0.0, hip, other_hip(hip, knee), knee, knee])
    q[1] = -joints(q)[0, 2, 1]
    return q


def inertia_and_normals(q: Array) -> tuple[Array, Array]:
    """M (7, 7) and the feet's D phi (2, 7) at q (7,), (23)."""
    M, paths = body_inertia(q, [Link(0.0, _THETA)], BODY_MASS, BODY_INERTIA), [_path(0), _path(1)]
    for path in paths:
        for k, (length, mass) in enumerate(LEG):
            middle = [*path[:k], path[k]._replace(length=0.5 * length)]
            M = M + body_inertia(q, middle, mass, mass * length**2 / 12.0)
    return M, np.stack([point_jacobian(q, path)[1] for path in paths])


def measure(hip: float, knee: float) -> float:
    """s of (22) at the configuration of right hip and knees [rad]; 0: the outcome is unique."""
    return surface_cosines(*inertia_and_normals(configuration(hip, knee)))[0, 1]


def _path(leg: int) -> list[Link]:
    """Links from the hip over the knee to the foot of leg 0 (right) or 1 (left)."""
    thigh = _THETA + np.eye(7)[3 + leg]
    turns = thigh, thigh + np.eye(7)[5 + leg]
    return [Link(length, angles) for (length, _), angles in zip(LEG, turns, strict=True)]


KNEES = (30.0, 120.0)  # of the contour [deg]
_STEP = 1e-3  # of differences for the curvature [rad]
OFFSETS = (-_STEP, 0.0, _STEP)
_BEYOND = 170.0  # knee to which a zero of s is looked for [deg]


class Point(NamedTuple):
    """A local extremum of s, found by optimisation, or a zero."""

    kind: str  # "minimum" | "maximum" | "orthogonal"
    hip: float  # of the right leg [rad]
    knee: float  # [rad]
    curvatures: Any = None  # (2,) eigenvalues of the Hessian, the smaller first [1/rad^2]


def landscape(hips: int, knees: int, options: StudyOptions) -> tuple[Array, Array, Array]:
    """s (j, i) over j knees' and i hips' angles [rad], legs apart: hips (i,), knees (j,), s.

    The right hip's angle goes a full turn round, without its end.
    """
    over = np.linspace(-np.pi, np.pi, hips, endpoint=False)
    up = np.radians(np.linspace(*KNEES, knees))
    s = [[measure(hip, knee) for hip in over] for knee in options.track(up, "s over hip and knee")]
    return over, up, np.array(s)


def extrema(hips: Array, knees: Array, s: Array) -> list[Point]:
    """Local extrema inside a landscape, each refined from its best point.

    A start is below all eight neighbours, and not on the border.
    """
    points, around = [], [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    for kind, sign in (("minimum", 1.0), ("maximum", -1.0)):
        lower = np.all([sign * s < np.roll(sign * s, at, axis=(1, 0)) for at in around], axis=0)
        for j, i in np.argwhere(lower[1:-1]) + (1, 0):
            start = np.array([hips[i], knees[j]])
            end = minimize(
                lambda x, sign=sign: sign * measure(*x) / 1e-3, start, method="Nelder-Mead",
                options={"initial_simplex": start + [[0.0, 0.0], [0.05, 0.0], [0.0, 0.05]],
                         "xatol": 1e-9, "fatol": 1e-15}
            )  # fmt: skip
            # The Hessian by central differences.
            near = np.array([[measure(*(end.x + (a, b))) for b in OFFSETS] for a in OFFSETS])
            mixed = (near[2, 2] - near[2, 0] - near[0, 2] + near[0, 0]) / (4.0 * _STEP**2)
            along = (near[2, 1] - 2.0 * near[1, 1] + near[0, 1]) / _STEP**2
            across = (near[1, 2] - 2.0 * near[1, 1] + near[1, 0]) / _STEP**2
            curvatures = np.linalg.eigvalsh([[along, mixed], [mixed, across]])
            points.append(Point(kind, end.x[0], end.x[1], curvatures))
    return points


def named(points: list[Point]) -> dict[str, Point]:
    """A and B: minima with the body above its feet; C: a maximum, its right leg forward.

    The others are copies, by half a turn of both legs, and have a prime.
    """
    names: dict[str, Point] = {}
    for each in sorted(points, key=lambda e: leg_pitch(e.hip, e.knee)):
        pitch = wrapped(leg_pitch(each.hip, each.knee))
        letter = "C" if each.kind == "maximum" else ("A" if np.sin(2.0 * pitch) > 0.0 else "B")
        first = 0.0 < pitch if letter == "C" else abs(pitch) < 0.5 * np.pi
        names[letter if first else letter + "'"] = each
    return dict(sorted(names.items()))


def orthogonal() -> tuple[float, float]:
    """Hip and knee [rad] of a configuration with s = 0, beyond the contour's knees.

    Found along the leg pitch of 66 deg; the bracket is checked by the root finder.
    """
    pitch = np.radians(66.0)

    def s(knee: float) -> float:
        return measure(pitch - leg_pitch(0.0, knee), knee)

    knee: Any = brentq(s, *np.radians((KNEES[1], _BEYOND)), xtol=1e-15)
    return pitch - leg_pitch(0.0, knee), knee


def mirror_error(one: Point, other: Point) -> float:
    """Distance of ``one`` with its legs swapped from ``other``, the larger of both angles [deg]."""
    hip = wrapped(other_hip(one.hip, one.knee) - other.hip)
    return np.degrees(max(abs(hip), abs(one.knee - other.knee)))


def wrapped(angle: float) -> float:
    """The angle within -pi to pi."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


TRIALS = 400  # random impacts
GRID = (120, 46)  # hips, knees of the contour
DROP = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # body and legs fall as one [m/s]
RATES = np.array([0.3, 0.3, 2.0, 10.0, 10.0, 10.0, 10.0])  # spread of random speeds [m/s, rad/s]
MIRROR = 1e-3  # largest error of a mirror image [deg]
_SMALL = 1e-4  # |s| up to which the fall's spread is fitted
SWAPPED = {"A": "B", "B": "A", "C": "C'", "A'": "B'", "B'": "A'", "C'": "C"}


@study("Seghete and Murphey, figure 2", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows: A, B, C of figure 2, their copies with a prime, and O, where s = 0."""
    hips, knees, s = landscape(*GRID, options)
    points, root = named(extrema(hips, knees, s)), orthogonal()
    rng, random = np.random.default_rng(options.seed), []
    while len(random) < options.count(TRIALS):  # over the whole contour, of what closes both feet
        hip, knee = rng.uniform(-np.pi, np.pi), np.radians(rng.uniform(*KNEES))
        v = DROP + RATES * rng.normal(size=7)
        if (inertia_and_normals(configuration(hip, knee))[1] @ v < 0.0).all():
            random.append(touchdown(hip, knee, v))
    approach = [touchdown(root[0], root[1] - d, DROP) for d in np.geomspace(1e-9, 0.3, 30)]
    near = [(abs(s), spread) for s, spread, *_ in approach if abs(s) < _SMALL]
    ratio = [spread / predicted for _, spread, predicted, _ in random]
    every = [*random, *approach]
    beside: Row = {
        "least_s": s.min(),
        "slope": np.polyfit(*np.log(near).T, deg=1)[0],
        "first_order": [min(ratio), max(ratio)],
        "random_s": [min(random)[0], max(random)[0]],
        "enumerated": sum(complete for *_, complete in every) / len(every),
    }
    rows = [stance(key, one, points[SWAPPED[key]]) | beside for key, one in points.items()]
    rows.append(stance("O", Point("orthogonal", *root), None) | beside)
    named_points = {key: dots(np.degrees([[wrapped(at.hip), at.knee]]), markersize=8)
                    for key, at in points.items()}  # fmt: skip
    contours = draw(Panel(named_points, "right hip [deg]", "knees [deg]"), width=7.2, height=3.8)
    levels = np.geomspace(max(s.min(), 1e-9), s.max(), 16)
    contours.axes[0].contour(np.degrees(hips), np.degrees(knees), s, levels, zorder=0)
    panels = []
    for key in "ABC":
        right, left = joints(configuration(points[key].hip, points[key].knee))
        panels.append(Panel({"right": right, "left": left}, "x [m]", "y [m]", ((), (0.0,)),
                            {"title": key, "aspect": "equal"}))  # fmt: skip
    figures = {"figure-2": contours, "figure-3": draw(*panels, width=3.0)}
    columns = (
        "point, kind, hip_deg, knee_deg, hip_height_mm, lowest_knee_mm, s, spread_elastic, slope,"
        " first_order"
    )
    A, B, C = (points[key] for key in "ABC")
    criteria = [
        Criterion("least curvature at A", A.curvatures[0], ">", 0.0),
        Criterion("least curvature at B", B.curvatures[0], ">", 0.0),
        Criterion("largest curvature at C", C.curvatures[1], "<", 0.0),
        Criterion("error of A and B as mirror images [deg]", mirror_error(A, B), "<", MIRROR),
    ]
    return StudyResult(rows, figures, columns, criteria)


def touchdown(hip: float, knee: float, v: Array) -> tuple[Any, Any, Any, bool]:
    """Both feet at once with velocity v (7,), elastic.

    Returns:
        s, the largest distance of two outcomes over all orders, over |p|; the same to first order,
        eps |dp_vu - dp_uv|; whether all orders were enumerated.
    """
    M, J_n = inertia_and_normals(configuration(hip, knee))
    p = M @ v
    outcomes, (at_u, at_v, epsilon) = all_orders(M, J_n, p), deviation(M, *J_n)
    rate, size = order_sensitivity(M, at_u, at_v, at_u, p).spread, np.sqrt(p @ v)
    s, complete = surface_cosines(M, J_n)[0, 1], outcomes.status == "complete"
    return s, outcomes.largest_distance, abs(epsilon) * rate / size, complete


def stance(key: str, one: Point, twin: Point | None) -> Row:
    """A row: angles [deg], what lies under the ground [mm], s, and the spread of a fall over |p|.

    ``twin`` is the point that has its legs swapped. Outcomes are elastic (e = 1) and plastic
    (e = 0).
    """
    kind, hip, knee, curvatures = one
    q = configuration(hip, knee)
    at, (M, J_n) = joints(q), inertia_and_normals(q)
    elastic, plastic = (all_orders(M, J_n, M @ DROP, e) for e in (1.0, 0.0))
    return {
        "point": key,
        "kind": kind,
        "hip_deg": np.degrees(wrapped(hip)),
        "knee_deg": np.degrees(knee),
        "other_hip_deg": np.degrees(wrapped(other_hip(hip, knee))),
        "leg_pitch_deg": np.degrees(wrapped(leg_pitch(hip, knee))),
        "hip_height_mm": 1e3 * at[0, 0, 1],
        "lowest_knee_mm": 1e3 * at[:, 1, 1].min(),
        "s": measure(hip, knee),
        "curvatures": curvatures,
        "mirror_error_deg": None if twin is None else mirror_error(one, twin),
        "spread_elastic": elastic.largest_distance,
        "spread_plastic": plastic.largest_distance,
    }
