"""Planners on a hill: the methods of 2.4.1, their trials, and where convergence leads."""
