"""``--read-only``: what the A1 says, without a torque."""

from saltus.configuration import LaunchConfig


def view(config: LaunchConfig, json: bool) -> int:
    raise NotImplementedError
