"""Simultaneous impacts with friction: their laws, the set of their outcomes, and its spread."""
