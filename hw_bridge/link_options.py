"""The two ends of the link to the robot, and which address of this machine is ours."""

import socket
from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, Final

from runtime.options import Options, Range

AUTO: Final = "auto"
SUBNET_BITS: Final = 24  # the robot's network is 192.168.123.0/24
SPARE_HOST: Final = 222  # in the remedy: an address that no computer of the robot has


class LinkOptions(Options, frozen=True):
    """Addresses of the robot and of this machine, IPv4, in numbers.

    The defaults are those of unitree_legged_sdk v3.3.1 udp.h, but for one: the vendor's library
    listens on all interfaces, and this does not unless `local_address` is written as 0.0.0.0.

    Attributes:
        robot_address: address of the robot's low-level controller.
        robot_port: the port that it listens on.
        local_address: what to listen on; ``auto`` is the address that faces the robot.
        local_port: the port to listen on; 0 takes a free one.
    """

    robot_address: str = "192.168.123.10"
    robot_port: Annotated[int, Range("-", 1, 65535)] = 8007
    local_address: str = AUTO
    local_port: Annotated[int, Range("-", 0, 65535)] = 8080

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        robot = _address("robot_address", self.robot_address, "such as 192.168.123.10")
        if robot.is_unspecified or robot.is_multicast or int(robot) == 0xFFFFFFFF:
            raise ValueError(f"robot_address is {robot}; give that of one machine")
        if self.local_address != AUTO:
            _address("local_address", self.local_address, f"or {AUTO!r}")

    @property
    def robot(self) -> tuple[str, int]:
        """Address and port of the robot, as the kernel names a sender."""
        return str(IPv4Address(self.robot_address)), self.robot_port

    @property
    def local(self) -> tuple[str, int]:
        """Address and port to listen on.

        Raises:
            ValueError: ``auto``, and this machine has no address in the robot's network.
        """
        if self.local_address != AUTO:
            return str(IPv4Address(self.local_address)), self.local_port
        return _facing(self.robot), self.local_port


def _address(option: str, text: str, accepted: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except ValueError:
        raise ValueError(
            f"{option} is {text!r}; give an IPv4 address in numbers, {accepted}"
        ) from None


def _facing(robot: tuple[str, int]) -> str:
    """The address of the interface that routes to the robot; one of the robot's own network."""
    network = IPv4Interface(f"{robot[0]}/{SUBNET_BITS}").network
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(robot)  # sends nothing: the kernel looks up its routes
            ours = IPv4Address(probe.getsockname()[0])
        found = f"packets to it would leave from {ours}"
    except OSError as error:
        ours, found = None, f"there is no route to it: {error.strerror}"
    if ours is not None and (ours.is_loopback or ours in network):
        return str(ours)
    raise ValueError(
        f"link: no address of this machine is in {network}, the network of the robot at {robot[0]} "
        f"({found}); plug the cable in and run `sudo ip address add "
        f"{network[SPARE_HOST]}/{SUBNET_BITS} dev INTERFACE`, or set local_address"
    )
