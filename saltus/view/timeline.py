"""The time line of a page that shows a recording."""

from __future__ import annotations

import viser

from saltus.view.recorded import RecordedRun

SPEEDS = {"0.1": 0.1, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}
MOST_MARKS = 12  # below the time line: more would cover each other
EVERY_S = 0.1  # by the wall clock, between two updates of the time line [s]


class TimeLine:
    """Plays a recording: a slider of its time, playback speed, and its marks.

    Attributes:
        time: since the first state [s].
    """

    def __init__(self, server: viser.ViserServer, run: RecordedRun) -> None:
        """Begin at the first state, playing."""
        self.time = 0.0
        self._run, self._due = run, 0.0
        gui = server.gui
        notable = [mark for mark in run.marks if mark.kind != "touchdown"][:MOST_MARKS]
        self._slider = gui.add_slider(
            "time [s]", 0.0, max(run.duration, 0.01), 0.01, 0.0,
            marks=tuple((round(mark.time, 2), mark.kind) for mark in notable) or None,
        )  # fmt: skip
        self._slider.on_update(lambda event: self._drag(event.client is not None))
        self._play = gui.add_checkbox("play", True)
        self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1")
        kinds = ["any", *dict.fromkeys(mark.kind for mark in run.marks)]
        self._kind = gui.add_dropdown("marks", tuple(kinds))
        jump = gui.add_button_group("go to mark", ("previous", "next"))
        jump.on_click(lambda event: self._jump(event.target.value == "next"))
        self._text = gui.add_markdown("")

    def advance(self, elapsed: float, now: float) -> float:
        """Play on for `elapsed` [s] by the wall clock, which says `now`; returns the time."""
        if self._play.value:
            self.time += elapsed * SPEEDS[self._speed.value]
            if self.time > self._run.duration:
                self.time = 0.0
        if now >= self._due:
            self._due = now + EVERY_S
            self._show()
        return self.time

    def _drag(self, by_hand: bool) -> None:
        """A person moved the slider: playback stops there."""
        if by_hand:
            self._play.value, self.time = False, self._slider.value

    def _jump(self, forward: bool) -> None:
        """To the mark after this time, or before it."""
        marks = [m for m in self._run.marks if self._kind.value in ("any", m.kind)]
        later = [mark for mark in marks if mark.time > self.time + 0.005]
        earlier = [mark for mark in marks if mark.time < self.time - 0.005]
        choice = later[:1] if forward else earlier[-1:]
        for target in choice:
            self._play.value, self.time = False, target.time
            self._show()

    def _show(self) -> None:
        """Slider and text of this time."""
        self._slider.value = round(min(self.time, self._run.duration), 2)
        past = [mark for mark in self._run.marks if mark.time <= self.time + 0.005]
        text = f"{past[-1].time:.2f} s: {past[-1].kind} {past[-1].text}" if past else ""
        if self._text.content != text:
            self._text.content = text
