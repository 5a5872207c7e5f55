"""Derivatives of the discrete step along a trajectory, shared with a helper process.

Pinocchio's Python functions hold Python's lock, so threads cannot share them; a process can.
"""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import multiprocessing
import signal
import weakref
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import RawArray
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from robots.contact_dynamics import ContactDynamics
from robots.rotations import Array

ANSWER_S = 1.0  # longest time that it may take over a trajectory [s]

COLUMNS = {"states": 37, "inputs": 12, "contacts": 4, "A": 36 * 36, "B": 36 * 12}


class TrajectoryDerivatives:
    """A and B of `ContactDynamics.step` at every knot, bit for bit as computed one by one.

    A helper takes part as soon as it has started, which takes seconds. One that dies or does not
    answer in time is given up for good, and the caller does all.
    """

    def __init__(self, dynamics: ContactDynamics, knots: int = 0, helper: bool = False) -> None:
        """With `helper`, start a process that takes part in trajectories of up to `knots`."""
        self._dynamics, self._helper = dynamics, None
        if helper:
            self._helper = _Helper(dynamics, knots)
        self._share = 0

    @property
    def helper_pid(self) -> int | None:
        """Number of the helper process; None without one."""
        return None if self._helper is None else self._helper.pid

    def wait_for_helper(self, timeout_s: float) -> bool:
        """Wait until the helper has started; False when it has not after `timeout_s` [s]."""
        return self._helper is not None and self._helper.ready(timeout_s)

    def start(
        self, states: Array, inputs: Array, contacts: Array, dt: float, meanwhile: int = 0
    ) -> None:
        """Let the helper begin with its share; `finish` must follow.

        Args:
            states: x = [q, v] (N or more, 37).
            inputs: joint torques (N, 12) [N m].
            contacts: (N, 4), 1 where a foot stands.
            dt: length of the step [s].
            meanwhile: how many knots' worth of other work the caller has until `finish`.
        """
        self._arguments = (states, inputs, contacts, dt)
        self._share = 0
        helper = self._helper
        if helper is not None and len(inputs) <= helper.knots and helper.ready(0.0):
            share = min((len(inputs) + meanwhile) // 2 + 1, len(inputs))
            self._share = share if helper.ask(share, states, inputs, contacts, dt) else 0

    def finish(self) -> tuple[Array, Array]:
        """A (N, 36, 36) and B (N, 36, 12) as new arrays, when both shares are done."""
        states, inputs, contacts, dt = self._arguments
        A, B = np.empty((len(inputs), 36, 36)), np.empty((len(inputs), 36, 12))
        first = self._share
        _derive(self._dynamics, slice(first, len(inputs)), states, inputs, contacts, dt, A, B)
        if first and not (self._helper and self._helper.take(first, A, B)):
            self._helper = None
            _derive(self._dynamics, slice(0, first), states, inputs, contacts, dt, A, B)
        return A, B


def _derive(
    dynamics: ContactDynamics, part: slice, states: Array, inputs: Array, contacts: Array,
    dt: float, A: Array, B: Array,
) -> None:  # fmt: skip
    """Fill `part` of A and B."""
    rows = (states[:, :19], states[:, 19:], inputs, contacts, A, B)
    for q, v, tau, feet, *out in zip(*(row[part] for row in rows), strict=True):
        dynamics.step_derivatives_into(q, v, tau, feet, dt, *out)


class _Shared(NamedTuple):
    """Arrays that both processes see, one row a knot."""

    states: Any
    inputs: Any
    contacts: Any
    A: Any
    B: Any

    def views(self, knots: int) -> dict[str, Array]:
        """The arrays as (knots, columns)."""
        return {
            name: np.frombuffer(raw).reshape(knots, COLUMNS[name])
            for name, raw in self._asdict().items()
        }


class _Helper:
    """The helper process as the caller sees it."""

    def __init__(self, dynamics: ContactDynamics, knots: int) -> None:
        self.knots = knots
        shared = _Shared(**{name: RawArray("d", knots * n) for name, n in COLUMNS.items()})
        self._views = shared.views(knots)
        # Not forked: the caller may have threads, whose locks a fork would freeze.
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._number = 0  # of the request; an answer to an older one is passed over
        frames = dynamics.sets.foot_frames
        process = context.Process(
            target=_serve, args=(theirs, shared, knots, dynamics.model, frames), daemon=True
        )
        process.start()
        self.pid = process.pid
        # The shared arrays go back to a common heap when this object goes, and the next helper
        # gets them: nobody may still be writing there.
        weakref.finalize(self, _end, process)
        theirs.close()
        self._ready = False

    def ready(self, patience: float) -> bool:
        """Whether it has started, waiting for it up to `patience` [s]."""
        self._ready = self._ready or self._answered(patience)
        return self._ready

    def ask(self, share: int, states: Array, inputs: Array, contacts: Array, dt: float) -> bool:
        """Hand the first `share` knots over; False when nobody is there."""
        for name, rows in (("states", states), ("inputs", inputs), ("contacts", contacts)):
            self._views[name][:share] = rows[:share]
        self._number += 1
        try:
            self._line.send((self._number, share, dt))
        except OSError:
            return False
        return True

    def take(self, share: int, A: Array, B: Array) -> bool:
        """Wait for the first `share` knots of A and B; False when they do not come."""
        if not self._answered(ANSWER_S):
            return False
        A[:share] = self._views["A"][:share].reshape(share, 36, 36)
        B[:share] = self._views["B"][:share].reshape(share, 36, 12)
        return True

    def _answered(self, patience: float) -> bool:
        try:
            while self._line.poll(patience):
                if self._line.recv() == self._number:
                    return True
            return False
        except (OSError, EOFError):
            return False


def _end(process: BaseProcess) -> None:
    process.kill()
    process.join()


def _serve(
    line: Connection, shared: _Shared, knots: int, model: pin.Model, frames: tuple[int, ...]
) -> None:
    """Work for the caller until its end of the line is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller's end is ours
    dynamics, views = ContactDynamics(model, frames), shared.views(knots)
    A, B = views["A"].reshape(knots, 36, 36), views["B"].reshape(knots, 36, 12)
    views["states"][0, : model.nq] = pin.neutral(model)
    try:
        # The first call compiles, or loads what has been compiled.
        arrays = (views["states"], views["inputs"], views["contacts"])
        _derive(dynamics, slice(0, 1), *arrays, 0.01, A, B)
        line.send(0)
        while True:
            number, share, dt = line.recv()
            _derive(dynamics, slice(0, share), *arrays, dt, A, B)
            line.send(number)
    except (OSError, EOFError):
        return
