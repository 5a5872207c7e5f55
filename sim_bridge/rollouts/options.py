"""Options of the rollout backends that have any."""

from typing import Annotated

from runtime.options import Options, positive

# Where servers answer unless told otherwise: ours, and Isaac Gym's, which has one for each role.
SERVER_ADDRESS = "tcp://127.0.0.1:46200"
ISAAC_GYM_ADDRESS = "tcp://127.0.0.1:46210"
ISAAC_GYM_ROBOT_ADDRESS = "tcp://127.0.0.1:46211"


class WarpOptions(Options, frozen=True):
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


class ServerOptions(Options, frozen=True):
    """Where a physics server answers, and how long to wait for it.

    Attributes:
        address: where the server answers; on another machine it needs `key_file`.
        key_file: file of the server's public key, as `saltus serve --key-file` writes it; empty on
            loopback, where none is needed.
        timeout: in real time, after which an answer is too late and the local physics is asked.
        patience: the same in lock step, where nobody hurries, and before the first answer.
        retry: time from one look for a lost server to the next.
    """

    address: str = SERVER_ADDRESS
    key_file: str = ""
    timeout: Annotated[float, positive("s", 86_400.0)] = 0.03
    patience: Annotated[float, positive("s", 86_400.0)] = 30.0
    retry: Annotated[float, positive("s", 86_400.0)] = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for times out of range and for what is no address."""
        Options.__post_init__(self)
        if not self.address.startswith(("tcp://", "ipc://")):
            raise ValueError(f"address is {self.address!r}; give tcp://HOST:PORT or ipc://FILE")


class IsaacGymOptions(ServerOptions, frozen=True):
    """The same of Isaac Gym's server of rollouts, which has a port of its own."""

    address: str = ISAAC_GYM_ADDRESS
