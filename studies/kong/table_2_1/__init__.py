"""Table 2.1: planners on a hill, and how paths shrink uncertainty."""
