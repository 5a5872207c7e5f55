"""Property tests draw the same examples everywhere, so a run can be repeated.

``pytest --hypothesis-profile=explore`` draws new ones.
"""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("repeatable")
