"""What a call says that refuses its arguments."""

import pytest


def refusal(error, call, *arguments, **named):
    """The one line of the error that a call raises; nothing keeps the error itself."""
    try:
        call(*arguments, **named)
    except error as raised:
        line = str(raised)
        assert "\n" not in line
        return line
    pytest.fail(f"no {error}")
