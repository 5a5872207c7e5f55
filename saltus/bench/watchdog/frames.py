"""What tracker and robot of the bench send."""

from hw_bridge.setpoints import damping
from hw_bridge.wire.layout import wire_of
from hw_bridge.wire.low_command import LowCommandEncoder
from hw_bridge.wire.low_state import encode_low_state, zero_low_state
from hw_bridge.wire.remote import encode_remote
from robots.robot import load_robot

LOCALHOST = "127.0.0.1"
A1 = load_robot("a1")
WIRE = wire_of(A1)
DAMPING = LowCommandEncoder(WIRE).encode(damping(5.0))
_MOTION = damping(5.0)._replace(q=A1.stand, kp=damping(80.0).kd)
MOTION = LowCommandEncoder(WIRE).encode(_MOTION)
STATE = encode_low_state(WIRE, zero_low_state(WIRE))
STATE_WITH_STOP = STATE[: WIRE.remote.start] + encode_remote(["R2"]) + STATE[WIRE.remote.stop :]
