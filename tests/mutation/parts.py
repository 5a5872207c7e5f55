"""What is mutated, part by part, and the tests that should notice."""

import ast
from collections import deque
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
OURS = ("hybrid", "runtime", "robots", "estimator", "controller", "sim_bridge", "hw_bridge",
        "saltus", "tests")  # fmt: skip


class Part(NamedTuple):
    """Files by glob patterns, and the folders of their tests."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "planner": Part(
        ("controller/hilqr_planner.py", "controller/planner_node.py", "controller/robot_model.py",
         "controller/plan_*.py", "controller/rollout_planner.py", "controller/solve_schedule.py",
         "controller/rigid_derivatives.py", "controller/centroidal/*.py"),
        ("tests/controller",),
    ),
    "tracker": Part(
        ("controller/track*.py", "controller/motor_targets.py", "controller/stand*.py",
         "robots/a1/motor_law.py"),
        ("tests/controller",),
    ),
    "safety": Part(
        ("controller/safety.py", "controller/track_kernel.py", "hw_bridge/safety/*.py"),
        ("tests/controller", "tests/hw_bridge"),
    ),
    "messages": Part(
        ("runtime/messages.py", "runtime/wire.py", "runtime/checked.py", "runtime/freshness.py",
         "runtime/physics_messages.py", "hw_bridge/wire/*.py"),
        ("tests/runtime", "tests/hw_bridge", "tests/sim_bridge/physics"),
    ),
    "estimators": Part(("estimator/*.py", "estimator/*/*.py"), ("tests/estimator",)),
}  # fmt: skip


def files_of(part: Part) -> list[Path]:
    """Files that are mutated, relative to the root."""
    found = {file for pattern in part.files for file in ROOT.glob(pattern)}
    return sorted(file.relative_to(ROOT) for file in found if file.name != "__init__.py")


def tests_of(module: Path, part: Part) -> list[str]:
    """Test files of the part that import a module, directly or not, the nearest first."""
    ranked = []
    for folder in part.tests:
        for file in (ROOT / folder).rglob("test_*.py"):
            distance = _distances(file.relative_to(ROOT)).get(module)
            if distance is not None:
                ranked.append((distance, str(file.relative_to(ROOT))))
    return [name for _, name in sorted(ranked)]


@cache
def _distances(start: Path) -> dict[Path, int]:
    """How many imports lead from a file to each that it needs."""
    distances, queue = {start: 0}, deque([start])
    while queue:
        file = queue.popleft()
        for other in _imports(file):
            if other not in distances:
                distances[other] = distances[file] + 1
                queue.append(other)
    return distances


@cache
def _imports(file: Path) -> frozenset[Path]:
    """Files of ours that a file imports, anywhere in it."""
    names = set[str]()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
    paths = (Path(name.replace(".", "/") + ".py") for name in names if name.split(".")[0] in OURS)
    return frozenset(path for path in paths if (ROOT / path).is_file())
