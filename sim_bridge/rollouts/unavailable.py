"""A backend that cannot be had here."""


class Unavailable(Exception):
    """What is missing, and how to get it, in one line."""
