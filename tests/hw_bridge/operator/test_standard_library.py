"""What reads keys and buttons needs the standard library alone: a process without numpy runs it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
MODULES = (
    "hw_bridge.operator.gamepad", "hw_bridge.operator.keyboard", "hw_bridge.operator.operator",
    "hw_bridge.states",
)  # fmt: skip
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
for name in sys.argv[2:]:
    __import__(name)
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - sys.stdlib_module_names))
"""


def test_keyboard_and_gamepad_load_no_installed_package():
    command = [sys.executable, "-I", "-S", "-c", CODE, str(ROOT), *MODULES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("hw_bridge\n", "")
