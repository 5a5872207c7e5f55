"""Recordings of runs: what is kept of them, channels for the field's viewers, and exports."""
