"""A launch: its cores, its processes, lock step, and what is reported at its end."""
