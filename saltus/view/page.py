"""A page in the browser, and the loop that feeds it."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import rich

from runtime.bus import Bus
from runtime.topics import COMMAND, PACE, PUSH, TUNING
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.launch.announcement import RunningLaunch, launch_of
from saltus.launch.assembly import make_ground
from saltus.launch.recorded import Instant, RecordedRun
from saltus.view.gate import Browsers, guarded_server
from saltus.view.live import LiveFeed, measures_of
from saltus.view.panel import (
    Levers,
    Plots,
    PushControls,
    RunControls,
    TimeLine,
    TuningControls,
    add_pad,
    add_time,
    add_visibility,
)
from saltus.view.scene import Scene

PORT = 8080
Outcome = dict[str, Any]
FRAME_S = 1.0 / 30.0
ALIVE_S = 0.5  # between two looks whether the launch lives [s]
LAST_WORDS_S = 0.1  # in which the last command may leave


class Page:
    """The server of a page, its scene and its plots; a context manager.

    Attributes:
        url: to open.
        frames: that were drawn.
        again: the button that begins a launch again; shown after a fall.
        speed: of the launch file's command [m/s]; NaN for a robot that is driven.
    """

    def __init__(self, port: int | None = None) -> None:
        """Serve an empty page to this machine.

        Args:
            port: None takes 8080, or any other where that is occupied.

        Raises:
            BadRequest: the port is occupied.
        """
        rich.get_console().quiet = True  # viser's own words on standard output
        self.server = guarded_server(PORT if port is None else port)
        found = self.server.get_port()
        if port not in (None, 0, found):
            self.server.stop()
            raise BadRequest(f"port {port} cannot be had; give another with --port")
        self.url = f"http://localhost:{found}/"
        self.browsers = Browsers(self.server)
        self.frames = 0
        self._begin = time.monotonic()
        self._clocks: deque[tuple[float, float]] = deque(maxlen=60)  # wall and launch [s]

    def begin(self, title: str, config: LaunchConfig) -> None:
        """Show the empty scene of a launch, in place of what was shown."""
        gui = self.server.gui
        gui.reset()
        self.server.scene.reset()
        gui.set_panel_label(title)
        gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        self.status = gui.add_markdown("starting")
        self.again = gui.add_button("begin again", visible=False, color="red")
        self.tabs = gui.add_tab_group()
        self.speed = math.nan if config.is_driven else config.speed
        self.scene = Scene(
            self.server,
            config.robot_model,
            config.simulation.floor_slope,
            self.speed,
            make_ground(config),
        )

    def add_common(self) -> None:
        """The tabs that every page has."""
        with self.tabs.add_tab("Plots"):
            self.plots = Plots(self.server)
        with self.tabs.add_tab("Show"):
            add_visibility(self.server, self.scene)

    def draw(self, instant: Instant, note: str = "") -> bool:
        """Show an instant, and its state in words; False while the browsers are not ready."""
        if not self.browsers.want_frame:
            return False
        with self.server.atomic():
            self.scene.draw(instant)
            self.plots.update(time.monotonic())
            self.status.content = words_of(instant, self._factor(instant.time), note)
        self.frames += 1
        self.browsers.note_frame()
        return True

    def _factor(self, now: float) -> float:
        """Seconds of the launch, or the recording, a second, over the last frames; NaN at first."""
        if self._clocks and now < self._clocks[-1][1]:
            self._clocks.clear()
        self._clocks.append((time.monotonic(), now))
        wall, shown = np.subtract(self._clocks[-1], self._clocks[0])
        return float(shown / wall) if wall > 0.0 else math.nan

    def outcome(self) -> Outcome:
        """Its address, for how long it was served [s], and the frames that were drawn."""
        seconds = time.monotonic() - self._begin
        return {"address": self.url, "seconds": seconds, "frames": self.frames}

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()


def words_of(instant: Instant, factor: float, note: str) -> str:
    """Time, share of real time, plan, and the state of the robot's state machine with its cause."""
    words = [f"**{instant.time:.2f} s**"] if instant.state is not None else ["starting"]
    if instant.status is not None:
        words.append(
            instant.status.state + (f": {instant.status.cause}" * bool(instant.status.cause))
        )
    elif instant.estimate is not None and instant.estimate.status != "ok":
        words.append(f"estimate {instant.estimate.status}")
    if instant.plan is not None:
        words.append(f"plan {instant.plan.status}")
    if instant.state is not None and factor > 0.0:
        words.append(f"{factor:.2f} of real time")
    return ", ".join([*words, *([note] if note else [])])


def view_launch(page: Page, launch: RunningLaunch, stop: Callable[[], bool]) -> Outcome:
    """Show a launch on a page until it ends and is not begun again, or `stop()`."""
    say(f"view: {page.url}")
    following: RunningLaunch | None = launch
    while following is not None:
        again = _show(page, following, stop)
        following = launch_of(launch.pid, stop) if again else None
    end = "closed" if stop() else "the launch has ended"
    outcome = page.outcome()
    say(f"view: {end}; {outcome['frames']} frames in {outcome['seconds']:.1f} s")
    return outcome


def _show(page: Page, launch: RunningLaunch, stop: Callable[[], bool]) -> bool:
    """Show a launch until it ends, or `stop()`; whether this page has asked to begin it again."""
    config, instant = launch.config, Instant()
    page.begin(f"Saltus: {config.connection} {config.robot}", config)
    with Bus(launch.endpoints) as bus:
        levers, feed = Levers(config, bus), LiveFeed(launch, bus)
        run = _add_controls(page, levers, launch, lambda: instant.heading)
        page.add_common()
        look_at, drawn, note = 0.0, True, levers.refusal
        while not stop():
            begin = time.monotonic()
            if begin > look_at:
                if not launch.alive:
                    break
                look_at = begin + ALIVE_S
                if launch.fell and not page.again.visible:
                    page.again.visible = run is not None
                    note, drawn = "the robot fell", False
            levers.tick()
            news = feed.newest()
            if news is not None:
                instant, drawn = news, False
                page.plots.add(measures_of(news, page.speed))
            drawn = drawn or page.draw(instant, note)
            time.sleep(max(0.001, begin + FRAME_S - time.monotonic()))
        levers.close()
        bus.close(LAST_WORDS_S)
    return run is not None and run.asked


def view_recording(page: Page, run: RecordedRun, name: str, stop: Callable[[], bool]) -> Outcome:
    """Show a recording on a page until `stop()`."""
    page.begin(f"Saltus: {name}", run.config)
    with page.tabs.add_tab("Time"):
        line = TimeLine(page.server, run)
    page.add_common()
    say(f"view: {page.url}")
    last, shown, drawn, instant = time.monotonic(), None, True, Instant()
    while not stop():
        begin = time.monotonic()
        at = line.advance(begin - last, begin)
        last = begin
        if at != shown:
            shown, drawn, instant = at, False, run.at(at)
            page.plots.add(measures_of(instant, page.speed))
        drawn = drawn or page.draw(instant)
        time.sleep(max(0.001, begin + FRAME_S - time.monotonic()))
    return page.outcome()


def _add_controls(
    page: Page, levers: Levers, launch: RunningLaunch, heading: Callable[[], float]
) -> RunControls | None:
    """The tabs of what may be done to a launch; returns what begins it again, if that may be."""
    server, config = page.server, launch.config
    if levers.offers(PUSH):
        with page.tabs.add_tab("Push"):
            PushControls(server, levers, page.scene, heading)
    if levers.offers(COMMAND):
        with page.tabs.add_tab("Drive"):
            add_pad(server, levers)
    if levers.offers(PACE):
        with page.tabs.add_tab("Time"):
            add_time(server, levers)
    if levers.offers(TUNING):
        with page.tabs.add_tab("Planner"):
            TuningControls(server, levers, config)
    if not levers.offers(PUSH):
        return None
    with page.tabs.add_tab("Run"):
        run = RunControls(server, launch)
    page.again.on_click(lambda _: run.begin())
    return run
