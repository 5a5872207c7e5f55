"""Unpredictability of the A1's touchdowns."""
