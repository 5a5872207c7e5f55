"""Filters on hybrid systems: salted Kalman filters, banks of them, and particles (chapter 4)."""
