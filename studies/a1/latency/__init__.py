"""Pushes against the duration of a solve."""
