"""Drift of float32 rollouts."""
