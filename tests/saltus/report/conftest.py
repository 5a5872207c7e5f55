"""Pages without pictures, which take seconds each."""

import pytest

from saltus.report import pictures


@pytest.fixture(scope="module", autouse=True)
def pixels():
    """A few bytes in place of every rendered picture."""

    def draw_pictures(jobs):
        found = {job.name: [b"x"] * (1 if job.ending else len(job.pictures)) for job in jobs}
        return found, ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "draw_pictures", draw_pictures)
        yield
