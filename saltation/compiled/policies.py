"""Kernel that rolls affine policies out on a compiled system, references extended (5.3.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Array, Integers
from saltation.compiled.calls import put
from saltation.compiled.limits import OK, Limits
from saltation.compiled.piece import flow_for
from saltation.compiled.step import CROWD, NEXT, STEPS, TIME, Log, course_from, proceed
from saltation.compiled.tables import CompiledSystem
from saltation.kernels import kernel, unlocked_kernel


class Reference(NamedTuple):
    """A reference in S segments, and its extensions as far as they have been asked for.

    With no segments the reference is never extended.
    """

    states: Array  # (N+1, n)
    inputs: Array  # (N, m)
    mode: Integers  # (S,) index of the mode
    first: Integers  # (S,) first knot
    last: Integers  # (S,) last knot
    ends: Array  # (2, S, 1 + n) time and state before the closing event, and after the opening one;
    # time NaN: none
    extensions: Array  # (2, S, N, n) past the segment, and before it, going backward
    known: Integers  # (S, 2) how much of either is there


@kernel
def matching(r: Reference, ordinal, mode):
    """Segment of the same ordinal if its mode agrees, else the nearest whose mode does; or -1."""
    if ordinal >= len(r.mode):
        return -1
    if r.mode[ordinal] == mode:
        return ordinal
    best = -1
    for i in range(len(r.mode)):
        if r.mode[i] == mode and (best < 0 or abs(i - ordinal) < abs(best - ordinal)):
            best = i
    return best


@kernel
def extended(s: CompiledSystem, r: Reference, i, knot, dt, limits: Limits):
    """Reference state at a knot after segment i, or before it, where it flows backward.

    It flows on with the last input of the segment, or with its first.
    """
    side, end, sign = (0, r.last[i], 1) if knot > r.last[i] else (1, r.first[i], -1)
    if side == 0 and np.isnan(r.ends[0, i, 0]):
        return r.states[-1]
    n, u, extension = s.dims[r.mode[i]], r.inputs[min(end, r.last[i])], r.extensions[side, i]
    while r.known[i, side] < sign * (knot - end):
        j = r.known[i, side]
        time = (end + sign * (1 + j)) * dt
        if j > 0:
            x, t = extension[j - 1, :n].copy(), time - sign * dt
        else:
            x, t = r.ends[side, i, 1 : n + 1].copy(), r.ends[side, i, 0]
        put(extension[j], flow_for(s, r.mode[i], t, x, u, time - t, np.inf, limits))
        r.known[i, side] = j + 1
    return extension[sign * (knot - end) - 1]


@kernel
def reference_at(s: CompiledSystem, r: Reference, ordinal, mode, knot, dt, limits: Limits):
    """Reference state (n,) and the knot whose input, feedforward and gains apply."""
    if len(r.mode) == 0:
        return r.states[knot], knot
    i = matching(r, ordinal, mode)
    if i < 0:
        return r.states[-1], len(r.inputs) - 1
    if r.first[i] <= knot <= r.last[i]:
        return r.states[knot], knot
    held = r.last[i] if knot > r.last[i] else min(r.first[i], r.last[i])
    return extended(s, r, i, knot, dt, limits), held


class Policy(NamedTuple):
    """An affine policy, and the step sizes that it is tried with."""

    feedforward: Array  # (N, m)
    gains: Array  # (N, m, n)
    step_sizes: Array  # (C,)
    low: Array  # (m,) bounds of the input, infinite where there is none
    high: Array  # (m,)


class Candidates(NamedTuple):
    """C rollouts over N timesteps; row 0 of each one's states holds where it starts."""

    states: Array  # (C, N+1, n)
    inputs: Array  # (C, N, m)
    modes: Integers  # (C, N+1) indices of modes, -1 after a rollout has broken off
    codes: Integers  # (C,) how each has ended
    logs: Log  # with a leading axis C


@unlocked_kernel
def roll_out(s, r: Reference, policy: Policy, mode, dt, limits, out: Candidates):
    """Roll one policy out at every step size, into ``out``."""
    states, inputs, logs = out.states, out.inputs, out.logs
    until = np.zeros(len(s.source), np.bool_)
    for c in range(len(policy.step_sizes)):
        log = Log(
            logs.count[c], logs.knot[c], logs.edge[c], logs.time[c], logs.before[c],
            logs.after[c], logs.span[c], logs.C[c],
        )  # fmt: skip
        course = course_from(s, mode, 0.0, states[c, 0], dt)
        out.modes[c, :] = -1
        out.modes[c, 0], out.codes[c] = mode, OK
        for k in range(inputs.shape[1]):
            current = course.mode[0]
            x_reference, held = reference_at(s, r, log.count[0], current, k, dt, limits)
            u = inputs[c, k]
            for i in range(len(u)):
                u[i] = r.inputs[held, i] + policy.step_sizes[c] * policy.feedforward[held, i]
                for j in range(len(x_reference)):
                    u[i] += policy.gains[held, i, j] * (states[c, k, j] - x_reference[j])
                if u[i] < policy.low[i]:  # written so that NaN stays NaN
                    u[i] = policy.low[i]
                elif u[i] > policy.high[i]:
                    u[i] = policy.high[i]
            course.clock[TIME], course.clock[NEXT] = k * dt, dt
            course.counts[STEPS] = course.counts[CROWD] = 0
            code = proceed(s, course, k * dt + dt, u, k, np.inf, until, limits, log)
            out.codes[c] = code
            if code != OK:
                break
            n = s.dims[course.mode[0]]
            for j in range(states.shape[2]):
                states[c, k + 1, j] = course.state[j] if j < n else 0.0
            out.modes[c, k + 1] = course.mode[0]
