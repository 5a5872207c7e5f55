"""Table 3: all outcomes of simultaneous impacts."""
