"""Records a launch: every frame, plans thinned, and the open channels beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime.messages import DecodeError, encode
from runtime.recording import Recorder
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PLAN,
    SENSOR_READING,
    STATE_ESTIMATE,
    Topic,
)
from runtime.wire import decode, decode_viewing
from saltus.configuration.launch import LaunchConfig
from saltus.recording.channels import OpenChannels
from saltus.recording.plans import PlanThinner, Sampling
from saltus.recording.start_axes import StartAxes

OPEN_EVERY_NS = 20_000_000  # of poses, joints and velocities
CHUNK_NS = 1_000_000_000  # that who kills this process takes at most


class RunRecorder(Recorder):
    """The recorder of a launch; takes frames as `Recorder` does, and never raises for one."""

    def __init__(self, path: Path, config: LaunchConfig) -> None:
        """Begin the file.

        Raises:
            OSError: it cannot be made or begun.
        """
        super().__init__(path)
        self._seen = StartAxes(config).to_local
        self._thinner = PlanThinner(config.recording)
        self._chunk_age = Sampling(CHUNK_NS)
        channels = self._open = OpenChannels(
            self, config.robot_model, not config.kind.real, config.speed
        )
        takers: dict[Topic[Any], Callable[[Any, int], None]] = {
            SENSOR_READING: channels.add_reading, STATE_ESTIMATE: channels.add_estimate,
            GROUND_TRUTH: channels.add_truth, MOTOR_COMMAND: channels.add_motor_command,
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
                frame = self._write_plan(frame, log_time_ns)
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

    def _write_plan(self, frame: bytes, log_time_ns: int) -> bytes:
        """Write what the open channels say about a plan; its frame as it is recorded."""
        plan = self._thinner.thin(decode_viewing(PLAN.message, frame), log_time_ns)
        self._open.add_plan(self._seen(plan), log_time_ns)
        return frame if self._thinner.keeps_all else encode(plan)
