"""The black box's process: ``python -m hw_bridge.black_box PIPE FOLDER SIZE_MB RUN REPORT PARENT``.

It ends once it is asked to, or its parent has gone, and tracker and watchdog have ended too.
"""

import logging
import os
import sys
from pathlib import Path

from hw_bridge.black_box.pipe import PipeReader
from hw_bridge.black_box.ring import Keeper, Ring
from runtime.exit import exit_at_once, write_report
from runtime.realtime import prefer_process
from runtime.signals import StopFlag

MEGABYTE = 10**6
NICE = -10  # after the planner, which never sleeps, and before ordinary programs


def main(arguments: list[str]) -> int:
    """Run it; the exit status is 1 where the ring cannot be begun."""
    pipe, folder, size_mb, run, report, parent = arguments
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    stop = StopFlag()
    try:
        ring = Ring(Path(folder), MEGABYTE * int(size_mb))
        reader = PipeReader(pipe)
    except OSError as error:
        print(f"the black box cannot be written: {error}", file=sys.stderr)
        return 1
    if refusal := prefer_process(NICE):
        logging.info("a busy machine may cost frames: %s", refusal)
    keeper = Keeper(reader, ring, Path(run), lambda: stop() or os.getppid() != int(parent))
    keeper.run()
    write_report(Path(report), {"folder": folder, **keeper.report()})
    return 0


if __name__ == "__main__":
    exit_at_once(main(sys.argv[1:]))
