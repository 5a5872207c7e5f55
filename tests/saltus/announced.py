"""A launch that announces itself and does nothing else."""

from saltus.configuration.launch import load_launch, write_config
from saltus.launch.announcement import Announcer


def announced(temporary, name, source, *assignments):
    """Of the launch `sim`, driven by a source, in a folder below the temporary one."""
    folder = temporary / f"saltus-{name}"
    folder.mkdir()
    write_config(load_launch("sim", assignments, drive=source), folder / "launch.yaml")
    return Announcer(folder, folder / "launch.yaml", folder / "bus")
