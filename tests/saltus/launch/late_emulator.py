"""The emulator's process on a busy computer: it starts late."""

import sys
import time

from saltus.launch.processes import main

if __name__ == "__main__":
    time.sleep(5.5)
    sys.exit(main(sys.argv[1:]))
