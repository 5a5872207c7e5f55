"""Studies of N. J. Kong's thesis on hybrid systems, by table or by topic."""
