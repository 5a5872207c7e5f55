"""Studies of Halm and Posa: set-valued impacts with friction."""
