"""Convergent swing-up of a rotary cart pole (thesis 2.6)."""
