"""`mujoco.batch` is compiled and brings no types: its names are Any."""

from typing import Any

def __getattr__(name: str) -> Any: ...
