"""A thread that keeps Python's lock, to show what happens then."""

import re
import threading
from typing import Final

PATTERN: Final = re.compile("(a+)+b")
TEXT: Final = "a" * 60  # matching takes ages, and the lock is not given to another thread


def hog(*_: object) -> None:
    """Start the thread; fits as the handler of a signal."""
    threading.Thread(target=lambda: PATTERN.match(TEXT), daemon=True).start()
