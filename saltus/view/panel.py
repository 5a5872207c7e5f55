"""The panel of a page: what can be done to a launch, plots, the time line of a recording."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import numpy as np
from viser import ViserServer, uplot

from controller.gaits import GAITS as REFERENCES
from controller.planner_options import CostOptions, HilqrSection
from hw_bridge.operator.driving import KeyDriver, Pacer
from robots.robot_file import own_robots
from runtime.bus import Bus, Publisher
from runtime.endpoints import EndpointInUse
from runtime.topics import COMMAND, PACE, PUSH, TUNING, Topic
from saltus.common.errors import BadRequest
from saltus.common.files import find_file
from saltus.configuration.keys import keys_of
from saltus.configuration.launch import LaunchConfig, changed, write_config
from saltus.configuration.options import read_mapping
from saltus.configuration.planners import PLANNERS
from saltus.launch import assembly
from saltus.launch.announcement import RunningLaunch
from saltus.launch.driving import bounds_of
from saltus.launch.recorded import RecordedRun
from saltus.view.live import Measures
from saltus.view.scene import PUSH_SCALE, Array, Scene
from sim_bridge.terrain_options import Terrain

Body = Literal["base", "FR", "FL", "RR", "RL"]

REPEAT_S = 0.4  # after which the pace is sent again


class Levers:
    """Publishes what people ask for on a page.

    Attributes:
        refusal: why a page may only look on; empty where it may do more.
        pad: takes keys, as a keyboard that drives does.
    """

    def __init__(self, config: LaunchConfig, bus: Bus) -> None:
        """Bind the topics, where the launch allows it and they are free."""
        self.refusal = ""
        self._publishers: dict[str, Publisher[Any]] = {}
        self._sequence, self._speed, self._steps, self._due = 0, float("inf"), 0, 0.0
        self.pad = KeyDriver(config.sources.keys, bounds_of(config.drive, config.robot_model))
        self._pacer: Pacer | None = None
        if not config.controllable:
            self.refusal = "the launch file allows no control (view.control)"
            return
        simulated, paused = config.kind.simulated, config.mode == "paused"
        offered: dict[Topic[Any], bool] = {
            TUNING: config.solver is not None,
            PUSH: simulated,
            PACE: simulated and paused,
        }
        try:
            self._publishers = {topic.name: bus.publisher(topic)
                                for topic, here in offered.items() if here}  # fmt: skip
        except EndpointInUse:
            self.refusal = "another view has the controls"
            return
        if config.drive.source == "client":
            with suppress(EndpointInUse):
                publisher = self._publishers[COMMAND.name] = bus.publisher(COMMAND)
                self._pacer = Pacer(self.pad, publisher.send)

    def offers(self, topic: Topic[Any]) -> bool:
        """Whether something may be asked for on this topic."""
        return topic.name in self._publishers

    def push(self, body: Body, velocity: Array) -> None:
        """Push the simulated robot: `velocity` (3) in world is added to the body's [m/s]."""
        self._send(PUSH, body=body, velocity=velocity)

    def set_speed(self, speed: float) -> None:
        """Simulated seconds a second: 0 stops time, inf is as fast as possible."""
        self._speed, self._due = speed, 0.0

    def step(self, ticks: int = 1) -> None:
        """Let a robot whose time is stopped live through some ticks of 1 ms."""
        self._steps, self._due = self._steps + ticks, 0.0

    def tune(self, options: dict[str, Any]) -> None:
        """Change options of the planner; keys of its section of a launch file."""
        self._send(TUNING, options=msgspec.json.encode(options).decode())

    def tick(self) -> None:
        """Send what is due: commands, and the pace again."""
        now = time.monotonic()
        if self._pacer is not None:
            self._pacer.tick(now)
        if now >= self._due:
            self._due = now + REPEAT_S
            self._send(PACE, speed=self._speed, steps=self._steps)

    def close(self) -> None:
        """A robot that was driven from here shall stand."""
        if self._pacer is not None:
            self._pacer.end(time.monotonic())

    def _send(self, topic: Topic[Any], **fields: Any) -> None:
        if self.offers(topic):
            self._sequence += 1
            self._publishers[topic.name].send(
                topic.message(sequence=self._sequence, time=time.monotonic(), **fields)
            )


OWN_GROUND = "of this launch"


def grounds() -> dict[str, Terrain]:
    """Grounds by their names: the level floor, and those of the suite `config/terrain.yaml`."""
    groups = read_mapping(find_file("config", "terrain"))["groups"]
    found = {g["name"]: g["terrain"] for g in groups if g.keys() == {"name", "terrain"}}
    return msgspec.convert({"flat": "flat"} | found, dict[str, Terrain])


class RunControls:
    """Begins the launch again: at its start, or with another robot, planner, gait or ground.

    Attributes:
        asked: it has been asked to.
    """

    def __init__(self, server: ViserServer, launch: RunningLaunch) -> None:
        """Begin with what the launch has."""
        self.asked, self._launch = False, launch
        gui, config = server.gui, launch.config
        self._choices: dict[str, Any] = {}
        for key, label, names in (
            ("robot", "robot", own_robots()), ("planner", "planner", PLANNERS),
            ("reference", "gait", REFERENCES),
        ):  # fmt: skip
            now = getattr(config, key)
            self._choices[key] = gui.add_dropdown(
                label, tuple(dict.fromkeys((*names, now))), initial_value=now
            )
        self._grounds = grounds() | {OWN_GROUND: config.terrain}
        now = next(name for name, ground in self._grounds.items() if ground == config.terrain)
        self._ground = gui.add_dropdown("ground", tuple(self._grounds), initial_value=now)
        gui.add_button("begin again").on_click(lambda _: self.begin())
        self._answer = gui.add_markdown("")

    def begin(self) -> None:
        """Ask for the launch with what is chosen, or say why it cannot be had."""
        keys = {key: handle.value for key, handle in self._choices.items()}
        try:
            config = changed(self._launch.config, **keys, terrain=self._grounds[self._ground.value])
            assembly.check(config)
            self._launch.begin_again(config)
            self.asked = True
            self._answer.content = "Begins again; another planner may be compiled first."
        except (BadRequest, OSError) as error:
            self._answer.content = f"Not begun: {error}"


SPEEDS = {"0.05": 0.05, "0.1": 0.1, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "most": math.inf}
DIRECTIONS = {"left": 90.0, "right": -90.0, "forward": 0.0, "back": 180.0}  # [deg]
MOST = 4.0  # of a push [m/s]
PAD = {"faster": "i", "slower": "k", "turn left": "j", "turn right": "l", "left": ",",
       "right": ".", "stand": "0"}  # fmt: skip
ARROWS = {"i": "arrowup", "k": "arrowdown", "j": "arrowleft", "l": "arrowright"}
SHIFTED = {",": "arrowleft", ".": "arrowright"}  # keys that the page takes with shift
GAITS = {"stand": "1", "walk": "2", "trot": "3", "bound": "4", "auto": "5"}


def add_visibility(server: ViserServer, scene: Scene) -> None:
    """Check boxes of what is drawn."""
    labels = {
        "follow": "camera follows", "estimate": "estimate (ghost)", "plan": "plan: path, footholds",
        "horizon": "plan: poses",
        "forces": "contact forces", "velocity": "velocity and command",
    }  # fmt: skip
    for field, label in labels.items():
        box = server.gui.add_checkbox(label, getattr(scene.visible, field))
        box.on_update(lambda event, field=field: setattr(scene.visible, field, event.target.value))


class PushControls:
    """Pushes of the simulated robot, by a button or by dragging a link of it."""

    def __init__(
        self, server: ViserServer, levers: Levers, scene: Scene,
        heading: Callable[[], float],
    ) -> None:  # fmt: skip
        """`heading` of the robot [rad]: directions of the button are the robot's own."""
        self._levers, self._scene, self._heading = levers, scene, heading
        gui = server.gui
        gui.add_markdown("Drag the trunk or a leg, or:")
        scene.on_drag(self._pull)
        bodies: tuple[str, ...] = ("base", "FR", "FL", "RR", "RL")
        self._body = gui.add_dropdown("body", bodies, hint="A leg: its foot")
        self._size = gui.add_slider("size [m/s]", 0.1, MOST, 0.1, 1.0)
        hint = "0 is forward, 90 to the left of the robot"
        self._direction = gui.add_slider("direction [deg]", -180.0, 180.0, 5.0, 90.0, hint=hint)
        group = gui.add_button_group("towards", tuple(DIRECTIONS))
        group.on_click(lambda event: self._point(event.target.value))
        gui.add_button("push", color="red").on_click(lambda _: self._push())

    def _point(self, name: str) -> None:
        self._direction.value = DIRECTIONS[name]

    def _push(self) -> None:
        angle = self._heading() + math.radians(self._direction.value)
        velocity = self._size.value * np.array((math.cos(angle), math.sin(angle), 0.0))
        self._scene.show_push(self._body.value, velocity)
        self._levers.push(cast(Body, self._body.value), velocity)

    def _pull(self, body: str, by: Array, done: bool) -> None:
        """The arrow follows the mouse; the push comes where it is let go."""
        velocity = np.array((by[0], by[1], 0.0)) / PUSH_SCALE
        velocity *= min(1.0, MOST / max(float(np.linalg.norm(velocity)), 1e-9))
        self._scene.show_push(body, velocity)
        if done:
            self._levers.push(cast(Body, body), velocity)


def add_pad(server: ViserServer, levers: Levers) -> None:
    """Buttons and keys of the page that do what the keys of `saltus drive` do."""
    gui, press = server.gui, levers.pad.press
    gui.add_markdown("Keys: arrows, with shift sideways; i k j l; 0 stand; 1 to 5 gait.")
    for name, key in [*PAD.items(), *GAITS.items()]:
        keys = [(SHIFTED[key], "shift")] if key in SHIFTED else [(key.upper(), None)]
        keys += [(ARROWS[key], None)] if key in ARROWS else []
        for each, modifier in cast(Any, keys):
            command = gui.add_command(f"drive: {name}", hotkey=each, modifier=modifier)
            command.on_trigger(lambda _, key=key: press(key))
    for names in (("faster", "slower"), ("turn left", "turn right"), ("left", "right"), ("stand",)):
        group = gui.add_button_group(" ", names)
        group.on_click(lambda event: press(PAD[event.target.value]))
    gait = gui.add_dropdown("gait", tuple(GAITS), initial_value="auto")
    gait.on_update(lambda event: press(GAITS[event.target.value]))
    height = gui.add_button_group("height", ("higher", "lower"))
    height.on_click(lambda event: press("+" if event.target.value == "higher" else "-"))


def add_time(server: ViserServer, levers: Levers) -> None:
    """Pause, single steps and slow motion of a run in lock step."""
    gui, pause = server.gui, server.gui.add_checkbox("pause", False)
    speed = gui.add_dropdown(
        "speed", tuple(SPEEDS), initial_value="1", hint="Simulated seconds a second"
    )
    steps = gui.add_button_group("step", ("1 ms", "10 ms", "100 ms"))

    def set_speed(_: Any) -> None:
        levers.set_speed(0.0 if pause.value else SPEEDS[speed.value])

    pause.on_update(set_speed)
    speed.on_update(set_speed)
    steps.on_click(lambda event: levers.step(int(event.target.value.split()[0])))
    set_speed(None)


class TuningControls:
    """Cost weights and step sizes of the planner, and a launch file that keeps them."""

    def __init__(self, server: ViserServer, levers: Levers, config: LaunchConfig) -> None:
        """Begin with what the launch has."""
        self._levers, self._config = levers, config
        self._section = config.solver or config.hilqr
        gui, cost = server.gui, self._section.cost
        self._weights: dict[str, Any] = {}
        hints = {key.key: f"{key.description} [{key.unit}]" for key in keys_of(CostOptions)}
        for name in CostOptions.__struct_fields__:
            value = getattr(cost, name)
            label, hint = name.replace("_", " "), hints[name]
            if isinstance(value, tuple):
                self._weights[name] = gui.add_vector3(label, value, min=(0.0, 0.0, 0.0), hint=hint)
            else:
                self._weights[name] = gui.add_number(label, float(value), min=0.0, hint=hint)
            self._weights[name].on_update(lambda _: self._send())
        search = self._section.in_mode(config.mode).search
        self._steps = gui.add_text("step sizes", ", ".join(f"{s:g}" for s in search.step_sizes))
        self._steps.on_update(lambda _: self._send())
        self._file = gui.add_text("launch file", "tuned.yaml")
        gui.add_button("save as launch file").on_click(lambda _: self._save())
        self._answer = gui.add_markdown("")

    def _chosen(self) -> tuple[dict[str, Any], HilqrSection]:
        """Values on the page: keys and their values, and the planner's section with them.

        Raises:
            ValueError: the planner cannot run on them.
        """
        steps = [float(word) for word in self._steps.value.replace(",", " ").split()]
        cost = {name: handle.value for name, handle in self._weights.items()}
        changes = {"cost": cost, self._config.mode: {"step_sizes": steps}}
        now = msgspec.to_builtins(self._section)
        merged = now | {key: now[key] | values for key, values in changes.items()}
        return changes, msgspec.convert(merged, type(self._section))

    def _send(self) -> None:
        try:
            changes, _ = self._chosen()
            self._levers.tune(changes)
            self._answer.content = "In force from the next solve."
        except ValueError as error:
            self._answer.content = f"Not sent: {error}"

    def _save(self) -> None:
        path = Path(self._file.value).expanduser()
        try:
            if path.exists():
                raise ValueError(f"{path} exists; give another name")
            write_config(self._config.with_planner_options(self._chosen()[1]), path)
            self._answer.content = f"Saved: `saltus launch {path}`"
        except (OSError, ValueError) as error:
            self._answer.content = f"Not saved: {error}"


SPAN_S = 10.0  # that a plot shows [s]
PLOT_EVERY_S = 0.2  # by the wall clock, between two updates [s]


COMMANDED, MADE = ("command", "#eb8c28"), ("robot", "#3caa5a")
# Label and colour of each curve, by title and field of `Measures`.
PLOTS = {
    "solve time [ms]": {"solve_ms": ("solve", "#3c78dc")},
    "age of the newest plan [ms]": {"plan_age_ms": ("age", "#3c78dc")},
    "forward velocity [m/s]": {"forward_command": COMMANDED, "forward": MADE},
    "yaw rate [rad/s]": {"yaw_rate_command": COMMANDED, "yaw_rate": MADE},
}


class Plots:
    """The last ten seconds of each measure."""

    def __init__(self, server: ViserServer) -> None:
        """Add the plots where the caller's container is."""
        self._measures: deque[Measures] = deque(maxlen=round(60 * SPAN_S))
        self._due = 0.0
        empty = np.zeros(1)
        self._handles = {
            title: server.gui.add_uplot(
                (empty, *[empty] * len(curves)),
                (uplot.Series(label="s"), *[
                    uplot.Series(label=label, stroke=colour, width=1.5)
                    for label, colour in curves.values()
                ]),
                title=title, height=150, scales={"x": uplot.Scale(time=False)},
                padding=(10, 10, 0, 0),
            )
            for title, curves in PLOTS.items()
        }  # fmt: skip

    def add(self, measures: Measures) -> None:
        """Take the measures of one instant; time that went back begins anew."""
        if self._measures and measures.time < self._measures[-1].time:
            self._measures.clear()
        self._measures.append(measures)
        while measures.time - self._measures[0].time > SPAN_S:
            self._measures.popleft()

    def update(self, now: float) -> None:
        """Send changed values, at most five times a second; `now` is the wall clock's [s]."""
        if now < self._due or not self._measures:
            return
        self._due = now + PLOT_EVERY_S
        columns = dict(zip(Measures._fields, np.array(self._measures).T, strict=True))
        for title, curves in PLOTS.items():
            self._handles[title].data = (columns["time"], *(columns[field] for field in curves))


PLAYBACK = {"0.1": 0.1, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}
MOST_MARKS = 12  # below the time line: more would cover each other
LINE_EVERY_S = 0.1  # by the wall clock, between two updates of the time line [s]


class TimeLine:
    """Plays a recording: a slider of its time, playback speed, and its marks.

    Attributes:
        time: since the first state [s].
    """

    def __init__(self, server: ViserServer, run: RecordedRun) -> None:
        """Begin at the first state, playing."""
        self.time = 0.0
        self._run, self._due = run, 0.0
        gui = server.gui
        self._slider = gui.add_slider(
            "time [s]", 0.0, max(run.duration, 0.01), 0.01, 0.0,
            marks=tuple((round(m.time, 2), m.kind) for m in run.marks[:MOST_MARKS]) or None,
        )  # fmt: skip
        self._slider.on_update(self._drag)
        self._play = gui.add_checkbox("play", True)
        self._speed = gui.add_dropdown("speed", tuple(PLAYBACK), initial_value="1")
        self._text = gui.add_markdown("")

    def advance(self, elapsed: float, now: float) -> float:
        """Play on for `elapsed` [s] by the wall clock, which says `now`; returns the time."""
        if self._play.value:
            self.time += elapsed * PLAYBACK[self._speed.value]
            if self.time > self._run.duration:
                self.time = 0.0
        if now >= self._due:
            self._due = now + LINE_EVERY_S
            self._show()
        return self.time

    def _drag(self, event: Any) -> None:
        """A person moved the slider: playback stops there."""
        if event.client is not None:
            self._play.value, self.time = False, self._slider.value

    def _show(self) -> None:
        """Slider and text of this time."""
        self._slider.value = round(min(self.time, self._run.duration), 2)
        past = [mark for mark in self._run.marks if mark.time <= self.time + 0.005]
        text = f"{past[-1].time:.2f} s: {past[-1].kind} {past[-1].text}" if past else ""
        if self._text.content != text:
            self._text.content = text
