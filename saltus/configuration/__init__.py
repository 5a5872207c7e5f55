"""Launch files: their keys, options and checks."""
