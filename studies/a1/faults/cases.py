"""The faults of `saltus study faults`: what fails, how it is caused, how it must end."""

from collections.abc import Mapping
from typing import Any, NamedTuple

AT_S = 10.0  # of the emulator's time: after standing up (6 s) and some seconds of walking [s]
RUN_S = 8.0  # for which the robot walks when nothing stops it [s]
LONG = {"duration": 20.0}  # the silence ends it; on a busy machine it may begin late [s]
DOWN = frozenset({"lying", "fallen", "sinking"})  # damped, on the ground or on the way there
FAILING = "studies.a1.faults.failing"  # module of a process whose messages go wrong
HANG, STOP = 15.0, 3.0  # ticks of 1 ms until damping
SEATED = frozenset({"lying"})  # sat down in order at the end


class Fault(NamedTuple):
    """One row of the table.

    Attributes:
        name: of the fault.
        ends: postures accepted at the end.
        caused: words that the reported cause contains; "" where the robot must walk on.
        within: ticks of 1 ms from the harm or the button to the first damping command; 0: any.
        emulator: options of the emulator, over the launch file's.
        harm: actions from outside while the robot walks, each a verb and its objects; comma between
            two.
        spoiled: process that goes wrong: planner, estimator or tracker, and the way, see `failing`.
        launch: other keys over the launch file's.
    """

    name: str
    ends: frozenset[str] = SEATED
    caused: str = ""
    within: float = 0.0
    emulator: Mapping[str, Any] = {}
    harm: str = ""
    spoiled: str = ""
    launch: Mapping[str, Any] = {}


def _event(kind: str, **what: Any) -> dict[str, Any]:
    return {"events": [{"kind": kind, "at": AT_S, **what}]}


FAULTS = (
    Fault("none, but for a push of 1.0 m/s", emulator=_event("push", value=[0.0, 1.0, 0.0])),
    Fault("planner killed", caused="planner died", harm="kill planner"),
    Fault("estimator killed", caused="estimator died", harm="kill estimator"),
    Fault("tracker killed", DOWN, "tracker died", HANG, harm="kill tracker"),
    Fault("watchdog killed", caused="watchdog died", harm="kill watchdog"),
    Fault("black box killed", caused="black_box died", harm="kill black_box"),
    *(
        Fault(f"tracker stopped for {ms} ms", DOWN, "hung", HANG, harm=f"pause {ms} tracker")
        for ms in (20, 60, 200)
    ),
    Fault("tracker stopped for ever", DOWN, "hung", HANG, harm="pause 0 tracker"),
    Fault(
        "a thread of the tracker keeps Python's lock", DOWN, "hung", HANG, harm="hog tracker",
        spoiled="tracker",
    ),
    Fault(
        "gap in sending: the machine stands still for 60 ms", DOWN, "no command was sent",
        harm="pause 60 tracker watchdog",
    ),
    Fault("5 % of packets lost", emulator={"network": {"loss": 0.05}}),
    Fault("packets late by 0 to 20 ms", DOWN, emulator={"network": {"jitter_s": 0.02}}),
    Fault("30 % of packets doubled", emulator={"network": {"duplicate": 0.3}}),
    Fault("30 % of packets out of order", emulator={"network": {"reorder": 0.3}}),
    Fault("5 % of packets corrupted", emulator={"network": {"corrupt": 0.05}}),
    Fault("cable cut for 50 ms", DOWN, "protection", emulator=_event("cut", **{"for": 0.05})),
    Fault("cable cut for 2 s", DOWN, "ms old", emulator=_event("cut", **{"for": 2.0})),
    Fault("power cut", DOWN, "ms old", emulator=_event("power_cut")),
    Fault("encoder stuck", DOWN, "stuck", emulator=_event("stuck_encoder", motor=4)),
    Fault("NaN from the planner", caused="plan not finite", spoiled="planner NaN"),
    Fault(
        "plan states out of bounds", caused="plan states out of bounds", spoiled="planner states",
    ),
    Fault(
        "plan inputs out of bounds", caused="plan inputs out of bounds", spoiled="planner inputs",
    ),
    Fault("plan gains out of bounds", caused="plan gains out of bounds", spoiled="planner gains"),
    Fault(
        "estimate contradicts the encoders", caused="estimate contradicts encoders",
        spoiled="estimator joints",
    ),
    Fault(
        "estimate contradicts the gyroscope", caused="estimate contradicts gyroscope",
        spoiled="estimator turn",
    ),
    Fault(
        "estimated velocity out of bounds", caused="estimate too fast", spoiled="estimator speed",
    ),
    Fault(
        "velocity sensor stuck at zero", DOWN, "the speed is stuck at 0.00",
        emulator=_event("stuck_velocity", motor="FL_thigh"),
    ),
    # As it stands up: a planner walks on with a jammed joint and presses for 10 ms at most.
    Fault(
        "joint jammed", DOWN, "is jammed",
        emulator={"events": [{"kind": "jam", "at": 3.5, "motor": "FL_calf"}]},
    ),
    Fault(
        "joint driven to its limit", DOWN, "limit",
        emulator=_event("drive_joint", motor="FL_hip", torque=40.0, **{"for": 0.5}),
    ),
    Fault("motor overheated", caused="degC", emulator=_event("heat", motor=7, temperature=61.0)),
    Fault("disk full while recording", harm="fill disk"),
    Fault("a stranger's packets", harm="stranger"),
    Fault(
        "stop by the A1's remote", DOWN, "remote", STOP,
        emulator=_event("remote", buttons=["R2"], **{"for": 0.2}),
    ),
    Fault("stop by the keyboard", DOWN, "space key", STOP, harm="press key"),
    Fault("stop by the gamepad", DOWN, "gamepad button", STOP, harm="press gamepad"),
    Fault(
        "stop by the keyboard while the tracker hangs", DOWN, "space key", STOP,
        harm="pause 0 tracker, press key",
    ),
    Fault(
        "stop by the gamepad while the tracker hangs", DOWN, "gamepad button", STOP,
        harm="pause 0 tracker, press gamepad",
    ),
    Fault(
        "gamepad silent", caused="gamepad has been silent", harm="silence gamepad", launch=LONG,
    ),
    Fault(
        "terminal frozen", caused="terminal has been silent", harm="silence terminal", launch=LONG,
    ),
)  # fmt: skip
