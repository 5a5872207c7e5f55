"""Everything that can be chosen about the black box."""

from typing import Annotated

from runtime.options import Options, Range


class BlackBoxOptions(Options, frozen=True):
    """The ring in which the frames and logs of all launches on a robot are kept.

    Attributes:
        folder: of its files. None: ``runs/black_box``, and of an emulated robot ``black_box`` in
            the folder of the run.
        size_mb: room that it takes at most; the oldest files make room for new ones.
    """

    folder: str | None = None
    size_mb: Annotated[int, Range("MB", 16, 1_000_000)] = 2000
