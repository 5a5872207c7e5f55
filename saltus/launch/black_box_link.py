"""The link to a robot outside a launch, with a black box that keeps its frames."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hw_bridge.black_box.link import RecordedLink
from hw_bridge.black_box.pipe import PipeWriter
from hw_bridge.black_box.ring import segments
from hw_bridge.link import Link
from saltus.common.children import Child
from saltus.common.console import say
from saltus.configuration.launch import LaunchConfig, write_config
from saltus.launch.hardware import hardware_options, open_link
from saltus.launch.process_table import (
    BLACK_BOX,
    GRACE_S,
    black_box_command,
    black_box_folder,
    black_box_pipe,
)
from saltus.launch.run_folder import RunFolder, preparing

READY_S = 5.0
POLL_S = 0.02


@contextmanager
def black_box_link(config: LaunchConfig) -> Iterator[Link]:
    """The UDP socket to the robot; what goes through it is kept in the black box meanwhile.

    What others send to its port comes too, for a survey to say so. A black box that cannot
    be written costs a line.

    Raises:
        BadRequest: the addresses cannot be had, or nothing temporary can be written.
    """
    with preparing():
        folder = tempfile.TemporaryDirectory(prefix="saltus-")
    with folder as temporary:
        path = Path(temporary)
        pipe, files = black_box_pipe(path), RunFolder(path / "run")
        with preparing():
            write_config(config, files.configuration)
            os.mkfifo(pipe)
        ring = black_box_folder(config, files.path)
        report, log = files.report(BLACK_BOX), files.log(BLACK_BOX)
        box = Child(
            BLACK_BOX, black_box_command(config, path, files.path, report, os.getpid()), log
        )
        robot = hardware_options(config).link.robot
        link = RecordedLink(open_link(config, hears_all=True), robot, PipeWriter(pipe))
        try:
            _start(box, ring)
            yield link
        finally:
            link.close()
            ended = box.stop(GRACE_S)
        if box.status or not ended:
            say(f"no black box: {box.last_words()}")
        else:
            say(f"frames are kept in {ring}: saltus black-box")


def _start(box: Child, ring: Path) -> None:
    """Start the black box, and wait until it has begun a file in its `ring`, or has ended."""
    before, end = segments(ring), time.monotonic() + READY_S
    box.start()
    while segments(ring) == before and box.status is None and time.monotonic() < end:
        time.sleep(POLL_S)
