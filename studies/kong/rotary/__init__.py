"""Swing-ups of a rotary cart pole (2.6), and their figures."""
