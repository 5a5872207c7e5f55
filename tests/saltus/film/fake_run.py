"""A recorded run that nobody ran: its folder as `saltus launch --record` leaves it."""

import numpy as np

from runtime.messages import Push, encode
from runtime.recording import Recorder
from runtime.topics import GROUND_TRUTH, MOTOR_COMMAND, PLAN, PUSH, STATE_ESTIMATE
from saltus.configuration.launch import AT_ORIGIN, load_launch, write_config
from tests.a1 import estimate, ground_truth, plan, stand_command

STANCE = np.tile([0.0, 0.8, -1.6], 4)  # [rad]
PUSH_AT = 0.4  # [s], to the left
HAND_AT, HAND_PUSH = 0.8, (0.0, 0.0, 2.0)  # a push of the front left leg by hand [s], [m/s]
HOLD_AT = 0.9  # [s]
END = 1.0  # [s]
STEP_AT = 20  # knot of the plan at which the front left foot touches down


def configuration(time, speed):
    """A stiff robot that glides forward and bends its knees: (19,)."""
    bend = np.tile([0.0, 0.3, -0.6], 4) * np.sin(5.0 * time) * (speed > 0.0)
    return np.concatenate([[speed * time, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], STANCE + bend])


def make_run(folder, speed=0.5, estimates_only=False, seconds=END, every=10, plans=(500,)):
    """A run with a push to the left, one by hand, plans that step aside, and a robot that holds.

    `every` so many ticks have a state, and `plans` are of these ticks.
    """
    folder.mkdir(parents=True)
    script = f"perturbations=[{{kind: base_velocity, at: {PUSH_AT}, value: [0, 1, 0]}}]"
    write_config(load_launch("sim", [script, AT_ORIGIN]), folder / "launch.yaml")
    origin = 1000.0 if estimates_only else 0.0  # a robot's clock begins anywhere
    with Recorder(folder / "run.mcap") as recorder:
        for tick in range(0, round(1e3 * seconds) + 1, every):
            time, q = 1e-3 * tick, configuration(1e-3 * tick, speed)
            if not estimates_only:
                truth = ground_truth(tick, q=q, foot_force=np.tile([0.0, 0.0, 50.0], (4, 1)))
                recorder.write(GROUND_TRUTH, encode(truth), tick)
            recorder.write(STATE_ESTIMATE, encode(estimate(tick, time=origin + time, q=q)), tick)
            command = stand_command(tick, time, status="hold" if time >= HOLD_AT else "ok")
            recorder.write(MOTOR_COMMAND, encode(command), tick)
            if time == HAND_AT:
                by_hand = Push(sequence=0, time=77.0, body="FL", velocity=np.array(HAND_PUSH))
                recorder.write(PUSH, encode(by_hand), tick)
        states = np.tile(configuration(0.0, speed), (51, 1))
        states[:, 1] = np.linspace(0.0, -0.5, 51)
        contacts = np.ones((50, 4))
        contacts[:STEP_AT, 1] = 0.0
        for tick in plans:
            at = origin + 1e-3 * tick
            aside = plan(tick, 50, id=1 + tick, time=at, states_q=states, contacts=contacts)
            recorder.write(PLAN, encode(aside), tick)
    return folder
