"""Convergent planning: trajectories that shrink uncertainty (thesis chapter 2)."""
