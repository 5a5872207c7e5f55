"""Pages without pictures, which take seconds each."""

import pytest

from saltus.report import pictures


@pytest.fixture(scope="module", autouse=True)
def pixels():
    """A few bytes in place of every rendered picture."""

    def draw_pictures(jobs):
        return {job.name: b"x" for job in jobs}, ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "draw_pictures", draw_pictures)
        yield
