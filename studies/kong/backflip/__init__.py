"""The A1 in a pushed backflip, its candidates and poses (figure 6.1)."""
