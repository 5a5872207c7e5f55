"""A subscriber that gives what it was made with, once."""


class Inbox:
    """Stands in for a subscriber of any topic."""

    def __init__(self, messages):
        self.messages = list(messages)

    def all(self):
        messages, self.messages = self.messages, []
        return messages
