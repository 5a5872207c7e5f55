"""The one error that a user caused."""


class BadRequest(Exception):
    """What was asked cannot be done: a bad option, file, key, trial or endpoint.

    The message is one line that says what was wrong and what is accepted; the command line prints
    it and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        """Keep ``message`` as one line."""
        super().__init__(" ".join(message.split()))
