"""A launch in lock step that somebody watches: stopped, stepped, pushed, tuned, and let go."""

import math
import os
import threading
import time

import numpy as np
import pytest
from pytest import approx

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.messages import Pace, Push, Tuning
from runtime.recording import read_recording
from runtime.topics import PACE, PLAN_OUTLINE, PUSH, TUNING
from saltus.configuration.launch import changed, load_launch
from saltus.launch import launcher
from saltus.launch.announcement import running_launches

TICKS = 300
STALL_S = 0.5  # the launcher's, while time is stopped
STOPPED_S = 2.0


class Watcher:
    """Stops time at the first tick, pushes and tunes, steps two ticks, and lets time go."""

    def __init__(self, bus, monkeypatch):
        self._patch = monkeypatch
        self._pushes, self._paces = bus.publisher(PUSH), bus.publisher(PACE)
        self._tunings, self.outlines = bus.publisher(TUNING), bus.subscriber(PLAN_OUTLINE)
        self._next, self._began = 0.0, math.inf
        self._ticks = list[int]()
        self.stopped_at, self.stepped_to, self.plans = -1, -1, 0

    def __call__(self, _, listener):
        """Act as somebody would who looks fifty times a second."""
        now, tick = time.monotonic(), listener.ticks["ground_truth"]
        self.plans += self.outlines.newest() is not None
        if now < self._next:
            return
        self._next = now + 0.2
        stopped = now - self._began < STOPPED_S
        if self._began == math.inf:
            self._pace(0.0, 0)
            self._ticks.append(tick)
            # Stopped where it stays for a while; the first readings may take long.
            if tick >= 0 and len(self._ticks) > 5 and len(set(self._ticks[-5:])) == 1:
                self._began, self.stopped_at = now, tick
                self._patch.setattr(launcher, "STALL_S", STALL_S)
                self._pushes.send(
                    Push(sequence=1, time=now, body="base", velocity=np.array([0.0, 0.4, 0.0]))
                )
                self._tunings.send(Tuning(sequence=1, time=now, options='{"damping": 0.03}'))
                self._tunings.send(Tuning(sequence=2, time=now, options='{"knots": 3}'))
        elif stopped:
            self.stepped_to = tick
            self._pace(0.0, 0 if now - self._began < 0.5 * STOPPED_S else 2)
        else:
            self._patch.setattr(launcher, "STALL_S", 200.0)
            self._pace(math.inf, 2)

    def _pace(self, speed, steps):
        self._paces.send(Pace(sequence=1, time=0.0, speed=speed, steps=steps))


@pytest.mark.realtime
def test_a_launch_lives_through_a_stop_and_does_what_who_watches_asks(tmp_path, monkeypatch):
    config = load_launch(
        "stand", [f"bus={{folder: {tmp_path / 'bus'}}}"], mode="paused", duration=1e-3 * TICKS
    )
    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:  # there before the launch
        watcher = Watcher(bus, monkeypatch)
        outcome = launcher.launch(config, tmp_path / "run", watcher)
    assert outcome.ok and outcome.reports["simulation"]["ticks"] == TICKS
    assert watcher.stepped_to == watcher.stopped_at + 2
    assert outcome.reports["simulation"]["pushes"] == {"applied": 1}
    assert outcome.reports["planner"]["tunings"] == {"applied": 1, "refused": 1}
    assert outcome.reports["planner"]["errors"] == 0 and watcher.plans > 0
    messages = list(read_recording(tmp_path / "run" / "run.mcap"))
    recorded = {topic: [m for name, m in messages if name == topic] for topic, _ in messages}
    assert {"push", "pace", "tuning", "state_covariance"} <= set(recorded)
    assert "plan_outline" not in recorded
    assert [m.tick for m in recorded["state_covariance"]] == list(range(0, TICKS + 1, 20))
    velocity = {m.tick: m.v for m in recorded["ground_truth"]}
    assert sorted(velocity) == list(range(TICKS + 1))
    jump = velocity[watcher.stopped_at + 1][1] - velocity[watcher.stopped_at][1]
    assert jump == approx(0.4, abs=0.05)


@pytest.mark.realtime
def test_after_a_fall_a_launch_waits_until_a_viewer_begins_it_again(tmp_path):
    push = "perturbations=[{kind: base_velocity, at: 0.05, value: [0.0, 9.0, 0.0]}]"
    config = load_launch("stand", [push, "planner=instant_qp"], mode="paused", duration=4.0)

    def own():
        return next((each for each in running_launches() if each.pid == os.getpid()), None)

    def begin_again():
        while not ((found := own()) and found.fell):
            time.sleep(0.05)
        found.begin_again(changed(found.config, perturbations=()))

    threading.Thread(target=begin_again, daemon=True).start()
    outcome = launcher.launch(config, tmp_path / "run", record=False, stay=True)
    assert outcome.completed and outcome.summary["fell"] and not outcome.ok
    assert outcome.next.perturbations == ()
    assert outcome.next.simulation.start == config.simulation.start
