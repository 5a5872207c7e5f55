"""Hybrid systems with known answers."""
