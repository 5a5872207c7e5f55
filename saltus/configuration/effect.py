"""Keys that a launch does not use: who sets one expects something that does not happen."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from controller.gaits import GAITS
from saltus.configuration.connections import connections_where
from saltus.configuration.estimators import ESTIMATORS
from saltus.configuration.keys import keys_of, values_of
from saltus.configuration.launch import LaunchConfig
from saltus.configuration.planners import PLANNERS, is_plugin
from saltus.configuration.settings import DEFAULT, FILE, ROBOT, Settings

Reason = Callable[[LaunchConfig], str]  # empty where a key has an effect
_CHOSEN_BY = {"command": "drive.source", "reference_from": "planner"}


class Rule(NamedTuple):
    """Keys, or sections of them, and why a launch does not use them; empty where it does."""

    keys: tuple[str, ...]
    reason: Reason


def reason_without_effect(key: str, config: LaunchConfig) -> str:
    """Why a key has no effect in a launch, in a few words; empty where it has one."""
    for keys, reason in RULES:
        here = any(key == each or key.startswith(f"{each}.") for each in keys)
        if here and (why := reason(config)):
            return why
    return ""


def keys_without_effect(config: LaunchConfig, settings: Settings) -> dict[str, str]:
    """Keys that somebody set and that the launch does not use, and why.

    In a file, a key that repeats the default does not count: a resolved launch file has them all.
    Nor does its command where the command line names who drives, nor what the walk is made from
    where it names the planner: the file cannot know.
    """
    defaults = {key.key: key.default for key in keys_of()}
    found = {}
    for key, value in values_of(config).items():
        source = settings.source(key)
        chosen = settings.words(_CHOSEN_BY.get(key.partition(".")[0], ""))
        if source in (DEFAULT, ROBOT) or (source == FILE and (chosen or value == defaults[key])):
            continue
        if reason := reason_without_effect(key, config):
            found[key] = reason
    return found


def warnings(without_effect: dict[str, str]) -> list[str]:
    """A line for each key."""
    return [f"{key} has no effect: {reason}" for key, reason in without_effect.items()]


def _only(path: str, *values: str) -> Reason:
    """There is an effect only where a key of the launch has one of these values."""
    get = attrgetter(path)
    return lambda config: "" if get(config) in values else f"{path} is {get(config)}"


def _planner_runs(config: LaunchConfig) -> str:
    return "connection emulator: another launch moves it" if not config.kind.planned else ""


def _is_driven(config: LaunchConfig) -> str:
    return "" if config.is_driven else "drive.source is none"


def _has_driver(config: LaunchConfig) -> str:
    return "" if config.drive.source != "none" else "drive.source is none"


def _commands_move(config: LaunchConfig) -> str:
    if config.drive.source != "none":
        return f"drive.source is {config.drive.source}"
    if config.is_driven or config.reference in GAITS:
        stands = config.reference == "stand" and not config.is_driven
        return "reference stand does not move" if stands else ""
    return "a recorded reference has its own speed"


def _from_a_gait(config: LaunchConfig) -> str:
    return "" if config.reference in GAITS else "the reference is a recorded file"


def _rolls_out(config: LaunchConfig) -> str:
    return "" if config.planner_entry.rolls_out else f"planner is {config.planner}"


def _convex_mpc_walks(config: LaunchConfig) -> str:
    """Undisturbed, it makes what a planner by rollouts may track."""
    recorded = config.planner_entry.rolls_out and config.reference_from == "convex_mpc"
    if recorded and config.reference in GAITS:
        return ""
    return _only("planner", "convex_mpc")(config)


def _plugin_runs(config: LaunchConfig) -> str:
    here = is_plugin(config.planner) or is_plugin(config.estimator)
    return "" if here else "planner and estimator are Saltus's own"


def _plugin_plans(config: LaunchConfig) -> str:
    return "" if is_plugin(config.planner) else f"planner is {config.planner}"


_DRIVEN_BY = "drive.source"
_LINK = "hardware.link"

# All rules of a key are asked in this order; the first reason counts.
RULES = (
    Rule(("planner", *PLANNERS, "reference", "reference_from", "command", "drive", "sources",
          "tracker", "estimator", *ESTIMATORS, "plugin", "rollout", "warp", "isaacgym", "remote"),
         _planner_runs),
    Rule(("command",), _commands_move),
    Rule(("drive",), _is_driven),
    Rule(("drive.silence", "sources"), _has_driver),
    Rule(("sources.keys",), _only(_DRIVEN_BY, "keyboard", "client")),
    Rule(("sources.sticks",), _only(_DRIVEN_BY, "gamepad", "remote", "client")),
    Rule(("sources.gamepad",), _only(_DRIVEN_BY, "gamepad", "client")),
    Rule(("timing", "view.speed"), _only("mode", "paused")),
    Rule(("realtime",), _only("mode", "realtime")),
    Rule(("reference_from", "rollout", "warp", "isaacgym", "remote"), _rolls_out),
    Rule(("reference_from",), _from_a_gait),
    Rule(("hilqr.paused", "ilqr_fd.paused"), _only("mode", "paused")),
    Rule(("hilqr.realtime", "ilqr_fd.realtime"), _only("mode", "realtime")),
    *(Rule((f"{name}.variant", f"{name}.touchdown_order"), _only(f"{name}.derivatives", "rigid"))
      for name in ("hilqr", "ilqr_fd")),
    Rule(("convex_mpc",), _convex_mpc_walks),
    Rule(("convex_mpc.time_limit",), _only("planner", "convex_mpc")),
    *(Rule((name,), _only("planner", name)) for name in PLANNERS if name != "convex_mpc"),
    Rule(("convex_mpc.time_limit", "instant_qp.time_limit", "mppi.time_limit"),
         _only("mode", "realtime")),
    *(Rule((name,), _only("estimator", name)) for name in ESTIMATORS),
    Rule(("plugin",), _plugin_runs),
    Rule(("plugin.period", "plugin.time_limit"), _plugin_plans),
    Rule(("warp",), _only("rollout", "warp")),
    Rule(("isaacgym",), _only("rollout", "isaacgym")),
    Rule(("remote",), _only("rollout", "remote")),
    Rule(("simulation",), _only("connection", "simulated", "emulated", "emulator")),
    Rule(("simulation.server",), _only("simulation.engine", "remote", "isaacgym")),
    Rule(("hardware",), _only("connection", *connections_where("bridged"))),
    Rule((f"{_LINK}.robot_address", f"{_LINK}.robot_port", f"{_LINK}.local_address",
          "hardware.tick_unit_s"), _only("connection", *connections_where("real"))),
    Rule(("hardware.without_doctor",), lambda _: "it is typed in the terminal, not set"),
    Rule(("emulator",), _only("connection", *connections_where("emulated"))),
    Rule(("bus.folder",), _only("bus.transport", "ipc", "zmq")),
    Rule(("bus.host", "bus.base_port"), _only("bus.transport", "tcp")),
)  # fmt: skip
