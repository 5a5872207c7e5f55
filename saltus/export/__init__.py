"""Recordings as files for other programs: CSV, NumPy."""
