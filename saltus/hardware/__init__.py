"""The real A1: what it says before it moves, and a person's consent that it may."""
