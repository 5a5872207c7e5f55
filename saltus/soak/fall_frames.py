"""Keeps the frames around a fall after which a launch goes on: its black box is a ring."""

from __future__ import annotations

import os
from pathlib import Path

from hw_bridge.black_box.ring import segments
from saltus.common.console import say

AFTER_S = 20.0  # of the run, so that the file with the fall is whole
FILES = 4  # of some 17 s each: half a minute before the fall, and all after it


class FallFrames:
    """Keeps the black box's files around the first fall of one launch."""

    def __init__(self, ring: Path, folder: Path) -> None:
        """Keep files of the `ring` in the `folder`, which is made at a fall."""
        self._ring, self._folder, self._due = ring, folder, True

    def look(self, fell_at_s: float | None, running_s: float) -> None:
        """Keep them once, some time after a fall; links cost the disk no work."""
        if not self._due or fell_at_s is None or running_s < fell_at_s + AFTER_S:
            return
        self._due = False
        try:
            self._folder.mkdir()
            for file in segments(self._ring)[-FILES:]:
                os.link(file, self._folder / file.name)
        except OSError as error:
            say(f"soak: the frames of a fall are not kept: {self._folder}: {error.strerror}")
