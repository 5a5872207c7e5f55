"""Simulators of hybrid systems, ours beside others."""
