"""Rollouts of inputs alone, without feedback."""

import numpy as np

from saltation.hilqr import Policies


def open_loop(inputs, n=2):
    """Policies of the inputs (N, m) for n states."""
    steps, m = np.shape(inputs)
    return Policies.of(np.zeros((steps + 1, n)), np.array(inputs), np.zeros((steps, m, n)))


def roll(model, x0, inputs):
    rollouts = model.roll_out(x0, open_loop(inputs, model.system.state_dim))
    assert rollouts.ok[0]
    return rollouts.select(0)
