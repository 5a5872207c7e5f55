"""``saltus view``: a launch that runs, or a recording, in the browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json
from saltus.common.errors import BadRequest

if TYPE_CHECKING:
    from saltus.launch.announcement import RunningLaunch

POLL_S = 0.2  # between two looks for a launch
REMEDY = "the view needs packages of its own: pip install 'saltus[view]'"


def view(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="A run folder; without it, the running launch."),
    ] = None,
    address: Annotated[
        str, typer.Option(help="Address to listen at. Any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; 8080 or a free one by default.")
    ] = None,
    process: Annotated[
        int | None, typer.Option(metavar="PID", help="Process id of the launch, if several run.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Show a launch or a recording in the browser, until Ctrl-C or the launch's end."""
    require_view()
    from runtime.signals import StopFlag
    from saltus.view.page import PageSummary, Place, view_launch, view_recording

    place = Place(address, port)
    with StopFlag() as stop:
        if run is not None:
            from saltus.view.recorded import RecordedRun

            outcome = view_recording(RecordedRun(run), run.name, place, stop)
        else:
            launch = _launch(process, stop)
            outcome = PageSummary("", 0.0, 0)  # if it stops before there is a launch
            if launch is not None:
                outcome = view_launch(launch, place, stop)
    if json:
        print_json(outcome._asdict())
    return 0


def require_view() -> None:
    """Refuse where the packages of the view are not installed.

    Raises:
        BadRequest: they are not; the message says how to get them.
    """
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise BadRequest(REMEDY) from error


def _launch(process: int | None, stop: Callable[[], bool]) -> RunningLaunch | None:
    """The newest launch of this user, or that of a process, once it announces itself.

    Raises:
        BadRequest: none is running.
    """
    from saltus.launch.announcement import running_launches

    while not stop():
        for launch in running_launches():
            if process in (None, launch.pid):
                return launch
        if process is None:
            raise BadRequest(
                "no launch is running; start one with a view: saltus launch sim --view"
            )
        if not Path(f"/proc/{process}").exists():
            raise BadRequest(f"no launch runs in process {process}")
        time.sleep(POLL_S)  # it compiles what it needs before it announces itself
    return None
