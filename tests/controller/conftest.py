"""One tracker for all: its options and its robot are the same everywhere."""

import pytest

from tests.controller.tracker_messages import TRACKER


@pytest.fixture
def tracker():
    """As new."""
    TRACKER.reset()
    return TRACKER
