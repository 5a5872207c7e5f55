"""The last policy of a rollout request, which need not travel again while it stays the same.

It is the reference's, in every line search of a solve, and half of the bytes of a request.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from hybrid.hilqr import Policies
from runtime.checked import Array
from runtime.physics_messages import RolloutRequest

MOST_CLIENTS = 16  # remembered: of each, the policies of one request


class Arrays(NamedTuple):
    """P policies over N knots, as in `Policies`."""

    states: Array  # (P, N+1, 37)
    inputs: Array  # (P, N, 12)
    feedforward: Array  # (P, N, 12)
    gains: Array  # (P, N, 12, 36)

    @classmethod
    def of(cls, source: Policies | RolloutRequest) -> Arrays:
        """Those of `source`, not copied."""
        return cls(source.states, source.inputs, source.feedforward, source.gains)

    def part(self, which: slice) -> Arrays:
        """Some of the policies, not copied."""
        return Arrays(*(array[which] for array in self))


class SentPolicy:
    """A client's memory of the one policy that was joined last to those of an answered request."""

    def __init__(self) -> None:
        """Nothing was sent yet."""
        self._id = 0
        self._joined: Policies | None = None

    def reduced(self, policies: Policies) -> tuple[int, Arrays]:
        """What to send: the id of the request to repeat from (0: none), and the policies."""
        whole = Arrays.of(policies)
        known = self._joined is not None and policies.joined is self._joined
        return (self._id, whole.part(slice(None, -1))) if known else (0, whole)

    def answered(self, id: int, policies: Policies) -> None:
        """Request `id`, which carried all of `policies`, was answered."""
        joined = policies.joined
        one = joined is not None and len(joined.inputs) == 1
        self._id, self._joined = id, joined if one else None

    def forget(self) -> None:
        """The server may be another one from now on."""
        self._joined = None


class ReceivedPolicies:
    """A server's memory of its clients' policies, in arrays that the next request reuses."""

    def __init__(self) -> None:
        """Nobody has sent any yet."""
        self._kept: OrderedDict[bytes, tuple[int, Arrays]] = OrderedDict()

    def complete(self, request: RolloutRequest, client: bytes) -> Policies | None:
        """All policies of a request, the repeated one included; None where it is not known.

        Valid until the client's next request.
        """
        given = Arrays.of(request)
        count = len(given.inputs) + (request.repeats != 0)
        id, arrays = self._kept.get(client, (0, None))
        shapes = [(count, *array.shape[1:]) for array in given]
        fits = arrays is not None and [array.shape for array in arrays] == shapes
        if request.repeats and (id != request.repeats or not fits):
            return None
        if arrays is None or not fits:
            arrays = Arrays(*(np.empty(shape) for shape in shapes))
        for own, sent in zip(arrays, given, strict=True):
            own[: len(sent)] = sent
        self._kept[client] = (request.repeats or request.id, arrays)
        self._kept.move_to_end(client)
        while len(self._kept) > MOST_CLIENTS:
            self._kept.popitem(last=False)
        index = np.array(request.policy_index, dtype=np.int64)
        return Policies(*arrays, index, request.step_size)
