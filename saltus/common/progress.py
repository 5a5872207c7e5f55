"""Progress of a run on standard error: a bar on a terminal, a line now and then in a log."""

import time
from contextlib import suppress

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from saltus.common.console import say, stderr

LINE_EVERY_S = 5.0


class RunProgress:
    """Shows how far a run has come; a context manager. Inside another one it shows nothing."""

    _shown = False  # whether one is being shown in this process

    def __init__(self, total: float, unit: str) -> None:
        """``total`` in ``unit``, such as 6.0 and ``s simulated``."""
        self._total, self._unit, self._mine = total, unit, False
        self._last_line = time.monotonic()
        self._last_done = 0.0  # at the last line
        self._begin: tuple[float, float] | None = None  # when it began to move [s], and where
        self._bar = Progress(
            BarColumn(), TextColumn("{task.completed:.4g}/{task.total:.4g} " + unit),
            TextColumn("{task.description}", markup=False), TimeRemainingColumn(),
            console=stderr, transient=True,
        ) if stderr.is_terminal else None
        self._task = self._bar.add_task("", total=total) if self._bar else None

    def show(self, done: float, what: str) -> None:
        """Say that ``done`` of the total is done, and ``what`` besides."""
        if not self._mine:
            return
        if self._begin is None or done <= self._begin[1]:
            self._begin = time.monotonic(), done
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, description=what)
        elif time.monotonic() - self._last_line > LINE_EVERY_S:
            self._last_line = time.monotonic()
            stands = 0.0 < done == self._last_done
            left = ", standing still" if stands else self._left(done)
            self._last_done = done
            say(f"{done:.4g}/{self._total:.4g} {self._unit}  {what}{left}")

    def _left(self, done: float) -> str:
        """How long it will take at the pace since it began to move."""
        at, begin = self._begin or (0.0, done)
        if not begin < done < self._total:
            return ""
        seconds = (self._last_line - at) * (self._total - done) / (done - begin)
        return f", {seconds / 60:.0f} min left" if seconds > 90.0 else f", {seconds:.0f} s left"

    def __enter__(self) -> "RunProgress":
        self._mine = not RunProgress._shown
        if self._mine:
            RunProgress._shown = True
            if self._bar is not None:
                self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine:
            RunProgress._shown = False
            if self._bar is not None:
                with suppress(OSError):  # the terminal has gone; the summary counts
                    self._bar.stop()
