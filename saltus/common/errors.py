"""What a user caused: a request that cannot be done, and Ctrl-C where compiled code ran."""

from collections.abc import Iterable
from difflib import get_close_matches


class BadRequest(Exception):
    """What was asked cannot be done: a bad option, file, key, trial or endpoint.

    The message is one line that says what was wrong and what is accepted; the command line prints
    it and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        """Keep ``message`` as one line."""
        super().__init__(" ".join(message.split()))


def did_you_mean(name: str, accepted: Iterable[str]) -> str:
    """Such as "; did you mean push"; empty where no accepted name is near."""
    near = get_close_matches(name, list(accepted), 1)
    return f"; did you mean {near[0]}" if near else ""


def interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error.

    While numba takes the arguments of a compiled function apart, KeyboardInterrupt comes out as a
    SystemError that it caused.
    """
    return isinstance(error, SystemError) and isinstance(error.__cause__, KeyboardInterrupt)
