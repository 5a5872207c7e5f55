"""An emulated A1 in a thread, on a body that lies still: bytes and timing without physics."""

import tempfile
from contextlib import closing, contextmanager

import numpy as np

from hw_bridge.emulator import node
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.link import UdpLink
from hw_bridge.options import LinkOptions
from hw_bridge.wire.low_command import read_low_command
from runtime.clock import RealTimeClock
from tests.a1 import A1, WIRE, ground_truth, reading
from tests.hw_bridge.emulator.emulator_plant import FreeJoints
from tests.sim_bridge.physics.served_world import in_a_thread

REST = np.array([-0.5, 1.33, -2.69, 0.5, 1.33, -2.69] * 2)  # joints of a robot on its belly [rad]
UP_Q = np.concatenate([[0.0, 0.0, 0.06, 0.0, 0.0, 0.0, 1.0], REST])


class StillBody(FreeJoints):
    """A robot on its belly that nothing moves."""

    def reading(self, stamp=None):
        return reading(self.tick, joint_position=REST, foot_force=np.zeros(4))

    def truth(self, stamp=None):
        return ground_truth(self.tick, q=UP_Q, contact=np.zeros(4), trunk_contact=True)


class EarsOpen(UdpLink):
    """Remembers every datagram that came."""

    def __init__(self):
        super().__init__(LinkOptions(local_address="127.0.0.1", local_port=0), hears_all=True)
        self.heard = []
        self.folder = tempfile.TemporaryDirectory()  # of the black box

    def receive(self):
        received = super().receive()
        self.heard += [each.data for each in received]
        return received

    @property
    def commands(self):
        return [read_low_command(WIRE, frame) for frame in self.heard]

    @property
    def settings(self):
        """Arguments of a launch on this robot."""
        values = {
            "link.robot_address": "127.0.0.1", "link.robot_port": self.local[1],
            "link.local_port": 0, "black_box.folder": self.folder.name,
            "connect_timeout_s": 60,  # the first answer may have to be compiled
        }  # fmt: skip
        return [x for k, v in values.items() for x in ("--set", f"hardware.{k}={v}")]


@contextmanager
def emulated_robot(**options):
    """An emulated A1 on a free port of loopback."""
    socket = EarsOpen()
    made = EmulatorOptions(**options), A1, StillBody(), socket, RealTimeClock(1e-3)
    with socket.folder, closing(socket), in_a_thread(lambda ended: node.run(*made, ended)):
        yield socket
