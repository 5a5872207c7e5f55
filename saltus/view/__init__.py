"""The view in the browser: a launch as it runs, or a recording."""
