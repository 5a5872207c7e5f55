"""Candidate policies rolled out in parallel: the line search's physics, by any engine."""
