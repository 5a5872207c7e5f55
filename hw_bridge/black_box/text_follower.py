"""What comes to the text files of a run, piece by piece."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

CONFIGURATION: Final = "launch.yaml"
FILES: Final = (CONFIGURATION, "logs/*.log", "reports/*.json")
MOST: Final = 1 << 20  # [bytes] of a file at once


class TextFollower:
    """Reads on in each file where it has stopped; a file that is cut is read from its start."""

    def __init__(self, folder: Path) -> None:
        """Follow `FILES` in the folder of a run."""
        self._folder = folder
        self._places: dict[Path, int] = {}

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Path from the folder on, and new text, of every file that has some. Never raises."""
        for pattern in FILES:
            for file in sorted(self._folder.glob(pattern)):
                with suppress(OSError):
                    if text := self._read_on(file):
                        yield str(file.relative_to(self._folder.parent)), text

    def read_again(self, name: str) -> None:
        """Take a file from its start with the next pieces."""
        self._places.pop(self._folder / name, None)

    def _read_on(self, file: Path) -> str:
        place = self._places.get(file, 0)
        with file.open("rb") as stream:
            place = place if place <= stream.seek(0, 2) else 0
            stream.seek(place)
            data = stream.read(MOST)
        self._places[file] = place + len(data)
        return data.decode(errors="replace")
