"""Finds sensors of a reading that are at fault."""
