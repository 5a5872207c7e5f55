"""The bridge and the emulated A1 as their processes make them, in one misfortune after another."""

import numpy as np
import yaml

from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.states import RobotState
from hw_bridge.wire.low_command import damping
from saltus.common.compiled_code import signature_counts
from saltus.configuration.launch import load_launch
from saltus.launch import assembly, warmup
from tests.hw_bridge.rig import Rig, stand_command
from tests.hw_bridge.safety.safety_samples import limiter_of, pd_command, send
from tests.saltus.launch.warm_processes.trial import tell

# When the rig's robot stands; the heat has it damped.
EVENTS = yaml.safe_load("""
- {kind: cut, for: 0.008, at: 1.9}
- {kind: heat, motor: RR_calf, temperature: 66, at: 2.0}
- {kind: push, value: [0, 2, 0], at: 2.05}
- {kind: drive_joint, motor: FL_hip, torque: 60, for: 0.05, at: 2.1}
- {kind: remote, for: 0.1, buttons: [R2], at: 2.15}
- {kind: power_cut, at: 2.25}
""")


def bounce(tick, now):
    q = stand_command(0, 0.0).q + 0.15 * np.sin(6.0 * now) * np.tile([0.0, 1.0, -2.0], 4)
    return stand_command(tick, now, q=q)


def hard(tick, now):
    """More than any limit lets through, this way and that."""
    sign = 1.0 if tick % 40 < 20 else -1.0
    return stand_command(
        tick, now, tau=np.full(12, 60.0 * sign), q=np.full(12, 3.0 * sign), kp=np.full(12, 1e3)
    )


def told(rig):
    """What a rig has gone through."""
    decision = rig.bridge.decision
    late = {"late state"} if decision.monitor.late else set()
    states = {state.value for state in rig.states}
    return states | late | set(decision.limiter.counts) | {decision.machine.cause}


def misfortunes(rig):
    """What becomes of `rig`, which has no events, and of rigs to which something happens."""
    rig.run_until(RobotState.RUNNING).run(0.1)
    rig.command = hard
    rig.run(0.1)
    rig.command = stand_command
    rig.bridge.end()
    seen = told(rig.run(10.0))
    seen |= told(Rig(events=EVENTS).run(2.5))
    stuck = Rig(events=[{"kind": "stuck_encoder", "motor": "FR_thigh", "at": 2.0}])
    stuck.command = bounce
    seen |= told(stuck.run(3.0))
    spoiled = Rig().run_until(RobotState.RUNNING)
    spoiled.command = lambda tick, now: stand_command(tick, now, tau=np.full(12, np.nan))
    seen |= told(spoiled.run(0.2))
    dry = Rig(mode="dry_run").run(0.1)
    dry.command = hard
    return seen | told(dry.run(0.1))


def limit():
    """What the limiter says of commands that the bridge's own motions do not give."""
    limiter, q, nan = limiter_of(HardwareSafetyOptions()), pd_command().q, np.full(12, np.nan)
    cases = (
        (pd_command(), q, np.zeros(12), 1.0), (pd_command(), None, None, 1.001),
        (damping(3.0), None, None, 1.002), (pd_command(kp=np.nan), q, nan, 1.003),
        (pd_command(), q + 9.0, q, 0.5),
        (pd_command(kp=1e308)._replace(tau=np.full(12, 1e308)), q, np.full(12, -50.0), 9.0),
    )  # fmt: skip
    return {name for case in cases for name in send(limiter, *case).limited}


def main():
    config = load_launch("a1-emulated")
    assembly.make_tracker(config)
    assembly.make_simulation(config)
    warmup.warm_emulator(config)
    rig = Rig()
    before = signature_counts()
    tell(before, misfortunes(rig) | limit())


if __name__ == "__main__":
    main()
