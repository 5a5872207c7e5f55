"""What an operator's device hands over."""

from hw_bridge.states import Request

Asked = tuple[Request, str]
"""A request, and its cause: "" where it is simply wished, else one line for a person."""
