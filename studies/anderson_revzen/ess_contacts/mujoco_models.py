"""The hopper and the plate on springs as MuJoCo models, for ``ess-contacts``.

The tips are fixed spheres and the plate is a box that slides and turns. Their contacts are without
friction (``condim`` 1) and are springs: MuJoCo's contact force f, at the depth -r and with the
acceleration a of the contact, is

    f = (-k r - b v - a) / R,    R = (1 - d) w / d,    k = stiffness / d,    b = damping / d,

with a constant impedance d, solref = (-stiffness, -damping), and the approximate inverse inertia w
of the pair of bodies. So stiffness = (1 - d) w K makes a spring of stiffness K; -a / R is a mass
that every contact adds, 1 / R = d / ((1 - d) w). MuJoCo keeps d above 1e-4, which with the
model's own w would let 100 contacts add 1.5 % to the plate; a larger w takes that away.
"""

from __future__ import annotations

import mujoco
import numpy as np

from hybrid.systems import Array
from studies.anderson_revzen.ess_contacts.spring_bed import SpringBed
from studies.anderson_revzen.ess_contacts.spring_hopper import SpringHopper

TIMESTEP = 0.002  # MuJoCo's own, and 5.1's [s]
IMPEDANCE = 1e-4  # d, the smallest that MuJoCo takes
ADDED_MASS = 1e-7  # of all contacts together, over the body's own mass
_PLATE = "3 1 1"  # half sizes of the plate [m]: long enough for any tilt, and never sunk through


def plate_model(bed: SpringBed, timestep: float = TIMESTEP) -> mujoco.MjModel:
    """The plate on its bed: coordinates x, z, theta as in ``SpringBed``."""
    joints = (
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        '<joint type="hinge" axis="0 -1 0"/>'
    )
    return _model(bed, joints, timestep)


def hopper_model(hopper: SpringHopper, timestep: float = TIMESTEP) -> mujoco.MjModel:
    """The hopper: a plate that only slides up and down, on one spring; coordinate z."""
    bed = SpringBed(1, hopper.stiffness, hopper.length, mass=hopper.mass, gravity=hopper.gravity)
    return _model(bed, '<joint type="slide" axis="0 0 1"/>', timestep)


def simulate(model: mujoco.MjModel, data: mujoco.MjData, start: Array, steps: int) -> None:
    """Step from ``start`` (2 nv,), positions and velocities, in one call of MuJoCo."""
    _reset(model, data, start)
    mujoco.mj_step(model, data, nstep=steps)


def trajectory(model: mujoco.MjModel, start: Array, steps: int) -> Array:
    """States (steps + 1, 2 nv) at every timestep, positions and velocities."""
    data = mujoco.MjData(model)
    _reset(model, data, start)
    states = np.empty((steps + 1, 2 * model.nv))
    states[0] = start
    for state in states[1:]:
        mujoco.mj_step(model, data)
        state[: model.nv], state[model.nv :] = data.qpos, data.qvel
    return states


def _reset(model: mujoco.MjModel, data: mujoco.MjData, start: Array) -> None:
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = start[: model.nv], start[model.nv :]


def _model(bed: SpringBed, joints: str, timestep: float) -> mujoco.MjModel:
    model = mujoco.MjModel.from_xml_string(_xml(bed, joints, timestep))
    added = ADDED_MASS * bed.mass / bed.springs  # by one contact
    w = IMPEDANCE / ((1.0 - IMPEDANCE) * added)
    model.body_invweight0[1:] = w
    model.pair_solref[:, 0] = -(1.0 - IMPEDANCE) * w * bed.spring_stiffness
    return model


def _xml(bed: SpringBed, joints: str, timestep: float) -> str:
    height, filtered = bed.length - bed.tip_radius, 'contype="0" conaffinity="0"'
    tips = "\n".join(
        f'<geom name="tip{i}" size="{bed.tip_radius}" pos="{x!r} 0 {height!r}" {filtered}/>'
        for i, x in enumerate(bed.positions.tolist())
    )
    pairs = "\n".join(
        f'<pair geom1="tip{i}" geom2="plate" condim="1" solref="-1 0"'
        f' solimp="{IMPEDANCE} {IMPEDANCE} 1"/>'
        for i in range(bed.springs)
    )
    return f"""
<mujoco>
  <option timestep="{timestep}" gravity="0 0 {-bed.gravity}"/>
  <worldbody>
    {tips}
    <body>
      <inertial pos="0 0 0" mass="{bed.mass}" diaginertia="{" ".join([str(bed.inertia)] * 3)}"/>
      {joints}
      <geom name="plate" type="box" size="{_PLATE}" pos="0 0 1" {filtered}/>
    </body>
  </worldbody>
  <contact>{pairs}</contact>
</mujoco>"""
