"""Derivatives of the planner's model."""
