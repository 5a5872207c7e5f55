"""Impacts of Seghete and Murphey."""
