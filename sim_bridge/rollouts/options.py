"""Options of the rollout backends that have any."""

import msgspec

# Where servers answer unless told otherwise: ours, and Isaac Gym's, which has one for each role.
SERVER_ADDRESS = "tcp://127.0.0.1:46200"
ISAAC_GYM_ADDRESS = "tcp://127.0.0.1:46210"
ISAAC_GYM_ROBOT_ADDRESS = "tcp://127.0.0.1:46211"


class WarpOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """MuJoCo Warp.

    Attributes:
        device: "auto" (the first CUDA device, the CPU where there is none), "cpu", or a device of
            Warp's such as "cuda:1".
        deterministic: sums in a fixed order on a GPU, which sorts in every iteration of the contact
            solver. MuJoCo Warp 4.0 does not order contacts yet: last digits may still differ from
            run to run. On the CPU device results repeat in any case.
    """

    device: str = "auto"
    deterministic: bool = False


class ServerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a physics server answers, and how long to wait for it.

    Attributes:
        address: of the server; on another machine it needs `key_file`.
        key_file: file of the server's public key, as `saltus serve --key-file` writes it; empty on
            loopback, where none is needed.
        timeout: in real time, after which an answer is too late and the local physics is asked [s].
        patience: the same in lock step, where nobody hurries, and before the first answer [s].
        retry: time from one look for a lost server to the next [s].
    """

    address: str = SERVER_ADDRESS
    key_file: str = ""
    timeout: float = 0.03
    patience: float = 30.0
    retry: float = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for times that cannot be waited and for what is no address."""
        for name in ("timeout", "patience", "retry"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{name} is {getattr(self, name):g}; give seconds > 0")
        if not self.address.startswith(("tcp://", "ipc://")):
            raise ValueError(f"address is {self.address!r}; give tcp://HOST:PORT or ipc://FILE")


class IsaacGymOptions(ServerOptions, frozen=True, forbid_unknown_fields=True):
    """The same of Isaac Gym's server of rollouts, which has a port of its own."""

    address: str = ISAAC_GYM_ADDRESS
