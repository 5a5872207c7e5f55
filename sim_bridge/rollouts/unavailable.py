"""A backend that cannot be had here."""


class Unavailable(Exception):
    """The missing part, and how to get it, in one line."""
