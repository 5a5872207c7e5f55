"""Planners that see the robot as one rigid body, moved by the forces of its feet."""
