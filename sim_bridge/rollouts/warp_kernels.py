"""The policies on the device, in Warp: what `kernel.py` is for MuJoCo on the CPU, in float32.

Imported by the Warp backend alone. States are ours, x = [q, v] (37) (`robots.state`); qpos and
qvel are MuJoCo's, quaternion w first, linear velocity in the world. C candidates, N knots, P
policies. Every candidate counts its own knots, so that one recorded knot can be replayed N times.

One thread a candidate and motor: neighbouring threads then read neighbouring gains (rows of the
transposed matrix) and write neighbouring numbers; each works the difference of the base out again,
some hundred operations, which costs less than to share it.
"""

# Warp translates these functions to C++ and CUDA; its annotations are no Python types.
# pyright: reportIndexIssue=false, reportAssignmentType=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false, reportOptionalOperand=false, reportReturnType=false

import warp as wp

LARGEST = wp.constant(1.0e10)  # MuJoCo's own bound on a sound position or velocity (mjMAXVAL)
NAN = wp.constant(wp.float32(float("nan")))


@wp.func
def _quaternion(qpos: wp.array2d[wp.float32], c: int) -> wp.quatf:
    return wp.quatf(qpos[c, 4], qpos[c, 5], qpos[c, 6], qpos[c, 3])


@wp.func
def _log3_between(reference: wp.quatf, quaternion: wp.quatf) -> wp.vec3f:
    """log3(R_ref' R), the short way round: accurate for small and for large angles."""
    relative = wp.quat_inverse(reference) * quaternion
    if relative[3] < 0.0:
        relative = -relative
    axis = wp.vec3f(relative[0], relative[1], relative[2])
    sine = wp.length(axis)
    scale = 2.0 / relative[3]
    if sine > 1.0e-9:
        scale = 2.0 * wp.atan2(sine, relative[3]) / sine
    return scale * axis


@wp.func
def _record_state(
    c: int,
    i: int,
    k: int,
    qpos: wp.array2d[wp.float32],
    qvel: wp.array2d[wp.float32],
    diverged: wp.array[wp.int32],
    states: wp.array3d[wp.float32],
):
    """Thread i of candidate c writes its part of x at knot k; NaN once c has diverged."""
    spoilt = wp.float32(0.0)
    if diverged[c] != 0:
        spoilt = NAN
    states[c, k, 7 + i] = qpos[c, 7 + i] + spoilt
    states[c, k, 25 + i] = qvel[c, 6 + i] + spoilt
    if i == 0:
        quaternion = _quaternion(qpos, c)
        linear = wp.vec3f(qvel[c, 0], qvel[c, 1], qvel[c, 2])
        linear = wp.quat_rotate_inv(quaternion, linear)
        for j in range(3):
            states[c, k, j] = qpos[c, j] + spoilt
            states[c, k, 19 + j] = linear[j] + spoilt
            states[c, k, 22 + j] = qvel[c, 3 + j] + spoilt
        for j in range(4):
            states[c, k, 3 + j] = quaternion[j] + spoilt


@wp.kernel(enable_backward=False)
def begin(
    start: wp.array[wp.float32],
    qpos: wp.array2d[wp.float32],
    qvel: wp.array2d[wp.float32],
    warm_start: wp.array2d[wp.float32],
    time: wp.array[wp.float32],
    overflow: wp.array[wp.int32],
    diverged: wp.array[wp.int32],
    knot: wp.array[wp.int32],
):
    """Candidate c, number i of [qpos, qvel] (37): put it at `start`, with no memory."""
    c, i = wp.tid()
    if i < 19:
        qpos[c, i] = start[i]
    else:
        qvel[c, i - 19] = start[i]
        warm_start[c, i - 19] = 0.0
    if i == 0:
        time[c] = 0.0
        overflow[c] = 0
        diverged[c] = 0
        knot[c] = 0


@wp.kernel(enable_backward=False)
def place_solids(
    poses: wp.array2d[wp.float32],
    geoms: wp.array[wp.int32],
    geom_xpos: wp.array2d[wp.vec3f],
    geom_xmat: wp.array2d[wp.mat33f],
):
    """Candidate c, solid s of the ground: MuJoCo Warp places what is fixed to the world once."""
    c, s = wp.tid()
    g = geoms[s]
    geom_xpos[c, g] = wp.vec3f(poses[s, 0], poses[s, 1], poses[s, 2])
    geom_xmat[c, g] = wp.mat33f(
        poses[s, 3], poses[s, 4], poses[s, 5],
        poses[s, 6], poses[s, 7], poses[s, 8],
        poses[s, 9], poses[s, 10], poses[s, 11],
    )  # fmt: skip


@wp.kernel(enable_backward=False)
def apply_policies(
    limits: wp.array[wp.float32],  # (12,) of the motors' torques
    qpos: wp.array2d[wp.float32],
    qvel: wp.array2d[wp.float32],
    nominal_states: wp.array3d[wp.float32],  # (P, N+1, 37)
    nominal_inputs: wp.array3d[wp.float32],  # (P, N, 12)
    feedforward: wp.array3d[wp.float32],  # (P, N, 12)
    gains: wp.array4d[wp.float32],  # (P, N, 36, 12): transposed
    policy_index: wp.array[wp.int32],
    step_size: wp.array[wp.float32],
    knot: wp.array[wp.int32],
    diverged: wp.array[wp.int32],
    states: wp.array3d[wp.float32],
    inputs: wp.array3d[wp.float32],
    ctrl: wp.array2d[wp.float32],
):
    """Candidate c, motor i: record knot k, and set u = u_nominal + step k_ff + K dx, (5.17)."""
    c, i = wp.tid()
    k, p = knot[c], policy_index[c]
    _record_state(c, i, k, qpos, qvel, diverged, states)
    reference = wp.quatf(
        nominal_states[p, k, 3], nominal_states[p, k, 4],
        nominal_states[p, k, 5], nominal_states[p, k, 6],
    )  # fmt: skip
    quaternion = _quaternion(qpos, c)
    away = wp.vec3f()
    linear = wp.vec3f()
    for j in range(3):
        away[j] = qpos[c, j] - nominal_states[p, k, j]
        linear[j] = qvel[c, j]
    away = wp.quat_rotate_inv(reference, away)
    turn = _log3_between(reference, quaternion)
    linear = wp.quat_rotate_inv(quaternion, linear)
    u = nominal_inputs[p, k, i] + step_size[c] * feedforward[p, k, i]
    for j in range(3):
        u += gains[p, k, j, i] * away[j] + gains[p, k, 3 + j, i] * turn[j]
        u += gains[p, k, 18 + j, i] * (linear[j] - nominal_states[p, k, 19 + j])
        u += gains[p, k, 21 + j, i] * (qvel[c, 3 + j] - nominal_states[p, k, 22 + j])
    for j in range(12):
        u += gains[p, k, 6 + j, i] * (qpos[c, 7 + j] - nominal_states[p, k, 7 + j])
        u += gains[p, k, 24 + j, i] * (qvel[c, 6 + j] - nominal_states[p, k, 25 + j])
    limit = limits[i]
    if u > limit:  # written so that NaN stays NaN and its candidate is found out
        u = limit
    elif u < -limit:
        u = -limit
    if diverged[c] != 0:
        inputs[c, k, i] = NAN
        ctrl[c, i] = 0.0
    else:
        inputs[c, k, i] = u
        ctrl[c, i] = u


@wp.kernel(enable_backward=False)
def end_knot(
    touch: int,
    parking: wp.array[wp.float32],
    qpos: wp.array2d[wp.float32],
    qvel: wp.array2d[wp.float32],
    ctrl: wp.array2d[wp.float32],
    sensordata: wp.array2d[wp.float32],
    knot: wp.array[wp.int32],
    diverged: wp.array[wp.int32],
    normal_forces: wp.array3d[wp.float32],
):
    """Candidate c: record the feet's forces, find divergence, go on to the next knot.

    A diverged candidate is parked in the air: the contact solver runs until its last candidate has
    converged, which one full of NaN never does.
    """
    c = wp.tid()
    k = knot[c]
    for foot in range(4):
        normal_forces[c, k, foot] = sensordata[c, touch + foot]
    lost = int(diverged[c])  # in a register: a write in between would make every read wait
    for i in range(19):
        if not (wp.abs(qpos[c, i]) <= LARGEST):
            lost = 1
    for i in range(18):
        if not (wp.abs(qvel[c, i]) <= LARGEST):
            lost = 1
    for i in range(12):
        if not (wp.abs(ctrl[c, i]) <= LARGEST):
            lost = 1
    if lost != 0:
        diverged[c] = lost
        for i in range(19):
            qpos[c, i] = parking[i]
        for i in range(18):
            qvel[c, i] = 0.0
    knot[c] = k + 1


@wp.kernel(enable_backward=False)
def finish(
    qpos: wp.array2d[wp.float32],
    qvel: wp.array2d[wp.float32],
    knot: wp.array[wp.int32],
    diverged: wp.array[wp.int32],
    overflow: wp.array[wp.int32],
    states: wp.array3d[wp.float32],
    flags: wp.array2d[wp.int32],
):
    """Candidate c, motor i: record the last state, and (diverged, overflow) in `flags` (C, 2)."""
    c, i = wp.tid()
    _record_state(c, i, knot[c], qpos, qvel, diverged, states)
    if i == 0:
        flags[c, 0] = diverged[c]
        flags[c, 1] = overflow[c]
