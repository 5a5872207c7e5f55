"""Random systems, compared with SciPy's solve_ivp."""
