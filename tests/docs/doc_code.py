"""The code that stands in a page of the documentation."""

import re

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(path, language):
    """The fenced blocks of a page in a language, in their order."""
    return [code for own, code in _FENCE.findall(path.read_text()) if own == language]
