"""Several arrays that travel between the host and a Warp device in one copy."""

from __future__ import annotations

import math

import numpy as np

from sim_bridge.rollouts.warp_device import WarpDevice


class Block:
    """Arrays of float32 ("f") and int32 ("i") that lie in one block on the host and the device.

    Attributes:
        on: the device's arrays by name; host: numpy views of the host's.
    """

    def __init__(self, here: WarpDevice, arrays: dict[str, tuple[tuple[int, ...], str]]) -> None:
        self._warp = warp = here.warp
        size = sum(math.prod(shape) for shape, _ in arrays.values())
        self._device = warp.zeros(size, dtype=warp.float32)
        self._host = warp.zeros(size, dtype=warp.float32, device="cpu", pinned=here.device.is_cuda)
        numbers, self.on, self.host, at = self._host.numpy(), {}, {}, 0
        for name, (shape, kind) in arrays.items():
            until = at + math.prod(shape)
            on, host = self._device[at:until], numbers[at:until]
            if kind == "i":
                on, host = on.view(warp.int32), host.view(np.int32)
            self.on[name], self.host[name] = on.reshape(shape), host.reshape(shape)
            at = until

    def to_device(self) -> None:
        """Copy the whole block there."""
        self._warp.copy(self._device, self._host)

    def to_host(self) -> None:
        """Copy the whole block back; on a CUDA device it has arrived once that is synchronised."""
        self._warp.copy(self._host, self._device)
