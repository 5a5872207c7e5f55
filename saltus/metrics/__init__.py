"""Measures of a run: falls, deviations, command following."""
