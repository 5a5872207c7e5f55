"""Event times and orders of convergence."""
