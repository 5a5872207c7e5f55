"""Plans as they are recorded: knots and gains of a few of them, the rest of all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace

from runtime.messages import DecodeError, Plan, encode
from runtime.recording import Recorder
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    PLAN,
    SENSOR_READING,
    STATE_ESTIMATE,
    Topic,
)
from runtime.wire import decode, decode_viewing
from saltus.common.compiled_code import code_version
from saltus.configuration.launch import LaunchConfig, RecordingOptions, config_text
from saltus.recording.channels import OpenChannels
from saltus.recording.reading import StartAxes

KNOTS_EVERY_NS = 50_000_000
GAINS_EVERY_NS = 500_000_000
Share = Literal["head", "knots", "gains", "all"]  # of a plan that is kept; each holds those before


class Sampling:
    """Says which messages of a stream are taken: the first one in each period of time."""

    def __init__(self, period_ns: int) -> None:
        """Take one message in `period_ns` [ns]."""
        self._period_ns, self._due_ns = period_ns, -1

    def take(self, time_ns: int) -> bool:
        """Whether the message of `time_ns` [ns] is taken."""
        if time_ns < self._due_ns:
            return False
        self._due_ns = (time_ns // self._period_ns + 1) * self._period_ns
        return True


class PlanThinner:
    """Leaves out what a recording does not keep of plans.

    A plan that keeps its first state alone has no knots (N = 0), and says how long it took, what it
    cost and how it ended. Gains that are left out are NaN.

    Attributes:
        keeps_all: plans are recorded as they are.
    """

    def __init__(self, options: RecordingOptions) -> None:
        """With the options of a launch file."""
        self.keeps_all = options.plans == "all"
        self._knots, self._gains = Sampling(KNOTS_EVERY_NS), Sampling(GAINS_EVERY_NS)

    def thin(self, plan: Plan, time_ns: int) -> Plan:
        """The plan that arrived at `time_ns` [ns], as it is recorded."""
        return self.keep(plan, self.share(time_ns))

    def share(self, time_ns: int) -> Share:
        """Share of the plan that arrived at `time_ns` [ns], the next one in order, that is kept."""
        if self.keeps_all:
            return "all"
        if not self._knots.take(time_ns):
            return "head"
        return "gains" if self._gains.take(time_ns) else "knots"

    def keep(self, plan: Plan, share: Share) -> Plan:
        """A plan of which `share` is kept."""
        if share == "head":
            return replace(
                plan, states_q=plan.states_q[:1], states_v=plan.states_v[:1],
                inputs=plan.inputs[:0], gains=plan.gains[:0], contacts=plan.contacts[:0],
            )  # fmt: skip
        if share == "knots":
            return replace(plan, gains=np.full_like(plan.gains, np.nan))
        if share == "gains":
            # Still float64 on the wire: the zeros that end each number compress away.
            rounded = plan.gains.astype(np.float32).astype(np.float64)
            return replace(plan, gains=rounded)
        return plan


OPEN_EVERY_NS = 20_000_000  # of poses, joints and velocities
CHUNK_NS = 1_000_000_000  # of a recording, which a kill of this process costs at most


class RunRecorder(Recorder):
    """The recorder of a launch; takes frames as `Recorder` does, and never raises for one."""

    def __init__(self, path: Path, config: LaunchConfig) -> None:
        """Begin the file.

        Raises:
            OSError: it cannot be made or begun.
        """
        launch = config_text(config).decode()
        super().__init__(path, {"launch": launch, "robot": config.robot, "code": code_version()})
        self._seen = StartAxes(config).to_local
        self._thinner = PlanThinner(config.recording)
        self._chunk_age = Sampling(CHUNK_NS)
        channels = self._open = OpenChannels(
            self, config.robot_model, not config.kind.real, config.speed
        )
        takers: dict[Topic[Any], Callable[[Any, int], None]] = {
            SENSOR_READING: channels.add_reading, STATE_ESTIMATE: channels.add_estimate,
            GROUND_TRUTH: channels.add_truth,
        }  # fmt: skip
        self._sampled = {
            topic.name: (Sampling(OPEN_EVERY_NS), take) for topic, take in takers.items()
        }

    def write(self, topic: Topic[Any], frame: bytes, log_time_ns: int) -> None:
        """Append a frame, and what the open channels say about it."""
        if self.failure:
            return
        try:
            if topic is PLAN:
                plan = self._thinner.thin(decode_viewing(PLAN.message, frame), log_time_ns)
                self._open.add_plan(self._seen(plan), log_time_ns)
                if not self._thinner.keeps_all:
                    frame = encode(plan)
            elif topic is COMMAND:
                self._open.add_command(decode(COMMAND.message, frame))
            elif topic.name in self._sampled:
                sampling, take = self._sampled[topic.name]
                if sampling.take(log_time_ns):
                    take(self._seen(decode(topic.message, frame)), log_time_ns)
        except DecodeError:
            pass  # recorded as it came
        super().write(topic, frame, log_time_ns)
        if self._chunk_age.take(log_time_ns):
            self.flush()
