"""The bridge and the emulated A1 in one process, a millisecond at a time, without a socket."""

import msgspec

from hw_bridge.bridge import Bridge
from hw_bridge.emulator.firmware import Firmware
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.link import Datagram
from hw_bridge.operator.operator import Operator
from hw_bridge.options import HardwareOptions, MotionOptions, OperatorOptions
from hw_bridge.states import RobotState
from hw_bridge.wire.layout import wire_of
from hw_bridge.wire.low_command import read_low_command
from sim_bridge.options import SimulationOptions, StartOptions
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1, stand_command

BRISK = MotionOptions(
    joint_speed=5.0, damping_s=0.1, damping_timeout_s=1.0, load_s=0.2, settle_s=0.05
)
SCRIPT = OperatorOptions(keyboard=False, script=True)


class Clock:
    """Time in the rig's hands."""

    paused = False

    def __init__(self):
        self.time = 100.0

    def now(self):
        return self.time


class Wire:
    """A link whose other end is a list each way."""

    def __init__(self, robot, clock, kind):
        self.robot, self.clock, self.wire = robot, clock, wire_of(kind)
        self.sent = []
        self.inbox = []
        self.last = None
        self.closed = False

    def send(self, frame):
        self.sent.append(frame)
        self.last = read_low_command(self.wire, frame)
        return True

    def receive(self):
        arrived, self.inbox = self.inbox, []
        return arrived

    def close(self):
        self.closed = True

    def deliver(self, frame):
        self.inbox.append(Datagram(frame, self.robot, self.clock.time))


class Rig:
    """Steps the loop of a tracker that stands, with the emulated robot at the other end."""

    def __init__(
        self, events = None, emulator = None, run_s = 0.0,
        operator = None, steering = None, watchdog=None,
        robot = A1, **hardware,
    ):  # fmt: skip
        plain = {"events": events or [], **(emulator or {})}
        world = SimulationOptions(start=StartOptions("folded"), timestep=0.001)
        self.simulation = SimulatedRobot(robot, world)
        self.firmware = Firmware(msgspec.convert(plain, EmulatorOptions), robot, self.simulation)
        options = HardwareOptions(**({"motion": BRISK, "operator": SCRIPT} | hardware))
        self.clock = Clock()
        self.wire = Wire(options.link.robot, self.clock, robot)
        self.statuses = []
        self.commands_sent = []
        self.bridge = Bridge(
            options, robot, self.wire, operator or Operator(options.operator), run_s,
            self.statuses.append, self.commands_sent.append, steering, watchdog,
        )  # fmt: skip
        self.readings = []
        self.tick = 0
        self.states = [RobotState.OFF]
        self.cut = False
        self.command = (
            lambda tick, now: stand_command(tick, now, q=robot.stand.copy())
        )  # fmt: skip
        connected = self.bridge.connect(self.clock, lambda: False, lambda _: self.robot_lives())
        assert connected

    def robot_lives(self):
        """One millisecond of the robot, with what was sent to it."""
        self.clock.time += 1e-3
        frames, self.wire.sent = self.wire.sent, []
        cut = self.firmware.is_cut or self.cut
        for reply in self.firmware.tick([] if cut else frames, self.clock.time):
            if not (self.firmware.is_cut or self.cut):
                self.wire.deliver(reply)

    def step(self):
        """One tick of the tracker's loop, then one of the robot."""
        self.readings += self.bridge.read(self.clock, self.tick, lambda: False)
        self.bridge.write(self.command(self.tick, self.clock.time))
        told = RobotState(self.statuses[-1].state)
        if told is not self.states[-1]:
            self.states.append(told)
        self.tick += 1
        self.robot_lives()

    def run(self, seconds):
        """Step for so long, or until the bridge is finished."""
        for _ in range(round(1e3 * seconds)):
            if self.bridge.is_finished:
                break
            self.step()
        return self

    def run_until(self, state, seconds=10.0):
        """Step until the machine is in `state`."""
        for _ in range(round(1e3 * seconds)):
            if self.bridge.machine.state is state:
                return self
            self.step()
        raise AssertionError(f"still {self.bridge.machine.state} after {seconds} s")
