"""A sweep and a run that nobody ran: folders as `saltus perturb` and `launch --record` leave."""

import json

import numpy as np

from saltus.launch.trace import Trace, save_trace

SUITE = """reference: walk
command: {velocity_x: 0.2}
duration: 3.0
trials:
""" + "".join(
    f"  - {{kind: base_velocity, at: {at}, value: [0.0, {speed}, 0.0]}}\n"
    for speed in (1.0, 1.5)
    for at in (1.0, 1.2)
)

REACH = {"hilqr": 0.1, "convex_mpc": 0.3, "instant_qp": 0.8}  # [m] at a push of 1 m/s
STANCE = np.tile([0.0, 0.8, -1.6], 4)  # [rad]


def fake_trace(planner, at, speed, fell):
    """A robot that glides sideways after a push at ``at`` [s] and comes back, or turns over."""
    time = np.arange(0.0, (at + 1.2 if fell else 3.0) + 1e-9, 0.01)
    since = np.maximum(time - at, 0.0)
    side = REACH[planner] * speed**2 * np.e * 3.0 * since * np.exp(-3.0 * since)
    q = np.zeros((len(time), 19))
    q[:, 0], q[:, 1], q[:, 2], q[:, 7:] = 0.2 * time, side, 0.3, STANCE
    roll = np.minimum(2.0 * since, 1.5) if fell else 0.0 * since
    q[:, 3], q[:, 6] = np.sin(0.5 * roll), np.cos(0.5 * roll)
    feet = (time[:, None] / 0.72 + np.array([0.75, 0.25, 0.5, 0.0])) % 1.0 > 0.25
    search = planner == "hilqr"
    return Trace(
        time=time, q=q, contact=feet, planned=feet, plan_time=at + 0.01, plan_period=0.01,
        plan_contacts=np.ones((50, 4)),
        step_sizes=np.array([1.0, 0.5, 0.1, 0.0] if search else []),
        costs=np.array([[np.inf, 40.0, 12.0, 20.0]]) if search else np.zeros((0, 0)),
        solve_ms=np.random.default_rng(0).gamma(4.0, REACH[planner], len(time)),
        statuses={"ok": len(time) - 2, "failed": 2} if fell else {"ok": len(time)},
        commands={"ok": 2000, "hold": 40, "damp": 300} if fell else {"ok": 3000}, events=[at],
    )  # fmt: skip


def fake_row(planner, trial, at, speed, trace):
    fell = "damp" in trace.commands
    return {
        "planner": planner, "trial": trial, "kind": "base_velocity", "at": at,
        "value": [0.0, speed, 0.0], "fell": fell,
        "max_lateral_deviation_m": float(abs(trace.q[:, 1]).max()), "solve_ms_p50": 2.0,
        "group": "", "seed": 0, "solve_ms_p99": 4.0, "plans_failed": 2 if fell else 0,
        "plans_late": 0, "not_tracking_ticks": 340 if fell else 0,
    }  # fmt: skip


def change_rows(folder, change):
    """Write what `change` makes of the rows of a sweep."""
    file = folder / "rows.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in change(rows)))


def make_sweep(folder, suite="table-6.1", traces=True, planners=tuple(REACH)):
    """Two pushes of 1.0 and two of 1.5 m/s for each planner; Instant QP falls at 1.5 m/s."""
    folder.mkdir()
    about = {
        "suite": suite, "suite_text": SUITE, "mode": "paused",
        "trials": dict.fromkeys(planners, [0, 1, 2, 3]),
        "code": "0.1.0+abc", "settings": ["tracker.kp_max=80"],
        "commands": [f"saltus perturb {suite} --planner {','.join(planners)}"],
    }  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(about))
    events = [(at, speed) for speed in (1.0, 1.5) for at in (1.0, 1.2)]
    with (folder / "rows.jsonl").open("w") as rows:
        for planner in planners:
            for trial, (at, speed) in enumerate(events):
                fell = planner == "instant_qp" and speed > 1.0
                trace = fake_trace(planner, at, speed, fell)
                rows.write(json.dumps(fake_row(planner, trial, at, speed, trace)) + "\n")
                if traces:
                    save_trace(trace, folder / "traces" / f"{planner}-{trial}.npz")
    return folder
