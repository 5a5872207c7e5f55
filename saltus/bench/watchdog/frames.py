"""What tracker and robot of the bench send."""

from hw_bridge.setpoints import damping
from hw_bridge.wire.low_command import LowCommandEncoder
from hw_bridge.wire.low_state import encode_low_state, zero_low_state
from hw_bridge.wire.remote import REMOTE, encode_remote
from robots.robot import load_robot

LOCALHOST = "127.0.0.1"
DAMPING = LowCommandEncoder().encode(damping(5.0))
_MOTION = damping(5.0)._replace(q=load_robot("a1").stand, kp=damping(80.0).kd)
MOTION = LowCommandEncoder().encode(_MOTION)
STATE = encode_low_state(zero_low_state())
STATE_WITH_STOP = STATE[: REMOTE.start] + encode_remote(["R2"]) + STATE[REMOTE.stop :]
