"""The controls of a page that shows a launch."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import viser

from controller.planner_options import CostOptions, HilqrSection
from saltus.configuration.launch import LaunchConfig, write_config
from saltus.view.levers import Body, Levers
from saltus.view.scene import Scene

SPEEDS = {"0.05": 0.05, "0.1": 0.1, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "most": math.inf}
DIRECTIONS = {"left": 90.0, "right": -90.0, "forward": 0.0, "back": 180.0}  # [deg]
PAD = {"faster": "i", "slower": "k", "turn left": "j", "turn right": "l", "left": ",",
       "right": ".", "stand": "0"}  # fmt: skip
GAITS = {"stand": "1", "walk": "2", "trot": "3", "bound": "4", "auto": "5"}


def add_visibility(server: viser.ViserServer, scene: Scene) -> None:
    """Check boxes of what is drawn."""
    labels = {
        "follow": "camera follows", "estimate": "estimate (ghost)", "plan": "plan: path, footholds",
        "horizon": "plan: poses", "candidates": "line search: candidates",
        "forces": "contact forces", "velocity": "velocity and command",
    }  # fmt: skip
    for field, label in labels.items():
        box = server.gui.add_checkbox(label, getattr(scene.visible, field))
        box.on_update(lambda event, field=field: setattr(scene.visible, field, event.target.value))


class PushControls:
    """Pushes of the simulated robot."""

    def __init__(
        self, server: viser.ViserServer, levers: Levers, heading: Callable[[], float]
    ) -> None:
        """`heading` of the robot [rad]: directions are the robot's own."""
        self._levers, self._heading = levers, heading
        gui = server.gui
        bodies: tuple[str, ...] = ("base", "FR", "FL", "RR", "RL")
        self._body = gui.add_dropdown("body", bodies, hint="A leg: its foot")
        self._size = gui.add_slider("size [m/s]", 0.1, 4.0, 0.1, 1.0)
        hint = "0 is forward, 90 to the left of the robot"
        self._direction = gui.add_slider("direction [deg]", -180.0, 180.0, 5.0, 90.0, hint=hint)
        group = gui.add_button_group("towards", tuple(DIRECTIONS))
        group.on_click(lambda event: self._point(event.target.value))
        gui.add_button("push", color="red").on_click(lambda _: self._push())

    def _point(self, name: str) -> None:
        self._direction.value = DIRECTIONS[name]

    def _push(self) -> None:
        angle = self._heading() + math.radians(self._direction.value)
        size = self._size.value
        self._levers.push(
            cast(Body, self._body.value), (size * math.cos(angle), size * math.sin(angle), 0.0)
        )


def add_pad(server: viser.ViserServer, levers: Levers) -> None:
    """Buttons that do what the keys of `saltus drive` do, which work on the page too."""
    gui, press = server.gui, levers.pad.press
    for names in (("faster", "slower"), ("turn left", "turn right"), ("left", "right"), ("stand",)):
        group = gui.add_button_group(" ", names)
        group.on_click(lambda event: press(PAD[event.target.value]))
    gait = gui.add_dropdown("gait", tuple(GAITS), initial_value="auto")
    gait.on_update(lambda event: press(GAITS[event.target.value]))
    height = gui.add_button_group("height", ("higher", "lower"))
    height.on_click(lambda event: press("+" if event.target.value == "higher" else "-"))


def add_time(server: viser.ViserServer, levers: Levers, first: float) -> None:
    """Pause, single steps and slow motion of a run in lock step that begins at a speed `first`."""
    gui, speeds = server.gui, SPEEDS | {f"{first:g}": first}
    names = sorted(speeds, key=lambda name: speeds[name])
    pause = gui.add_checkbox("pause", False)
    speed = gui.add_dropdown(
        "speed", names, initial_value=f"{first:g}", hint="Simulated seconds a second"
    )
    steps = gui.add_button_group("step", ("1 ms", "10 ms", "100 ms"))

    def set_speed(_: Any) -> None:
        levers.set_speed(0.0 if pause.value else speeds[speed.value])

    pause.on_update(set_speed)
    speed.on_update(set_speed)
    steps.on_click(lambda event: levers.step(int(event.target.value.split()[0])))
    set_speed(None)


class TuningControls:
    """Cost weights and step sizes of the planner, and a launch file that keeps them."""

    def __init__(self, server: viser.ViserServer, levers: Levers, config: LaunchConfig) -> None:
        """Begin with what the launch has."""
        self._levers, self._config = levers, config
        self._section = config.solver or config.hilqr
        gui, cost = server.gui, self._section.cost
        self._weights: dict[str, Any] = {}
        for name in CostOptions.__struct_fields__:
            value = getattr(cost, name)
            label = name.replace("_", " ")
            if isinstance(value, tuple):
                self._weights[name] = gui.add_vector3(label, value, min=(0.0, 0.0, 0.0))
            else:
                self._weights[name] = gui.add_number(label, float(value), min=0.0)
            self._weights[name].on_update(lambda _: self._send())
        search = self._section.in_mode(config.mode).search
        self._steps = gui.add_text("step sizes", ", ".join(f"{s:g}" for s in search.step_sizes))
        self._steps.on_update(lambda _: self._send())
        self._file = gui.add_text("launch file", "tuned.yaml")
        gui.add_button("save as launch file").on_click(lambda _: self._save())
        self._answer = gui.add_markdown("")

    def options(self) -> HilqrSection:
        """The planner's section of the launch with what the page has.

        Raises:
            ValueError: the planner cannot run on them.
        """
        now = msgspec.to_builtins(self._section)
        changes = self._changes()
        merged = now | {key: now[key] | values for key, values in changes.items()}
        return msgspec.convert(merged, type(self._section))

    def _changes(self) -> dict[str, Any]:
        """Keys of the section and their values."""
        steps = [float(word) for word in self._steps.value.replace(",", " ").split()]
        cost = {name: handle.value for name, handle in self._weights.items()}
        return {"cost": cost, self._config.mode: {"step_sizes": steps}}

    def _send(self) -> None:
        try:
            self.options()
        except (ValueError, msgspec.ValidationError) as error:
            self._answer.content = f"Not sent: {error}"
            return
        self._levers.tune(self._changes())
        self._answer.content = "In force from the next solve."

    def _save(self) -> None:
        path = Path(self._file.value).expanduser()
        try:
            if path.exists():
                raise ValueError(f"{path} exists; give another name")
            tuned = self._config.with_planner_options(self.options())
            write_config(tuned, path)
        except (OSError, ValueError, msgspec.ValidationError) as error:
            self._answer.content = f"Not saved: {error}"
            return
        self._answer.content = f"Saved: `saltus launch {path}`"
