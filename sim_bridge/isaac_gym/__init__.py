"""Isaac Gym behind our messages; `server.py` runs alone, under the Python that Isaac Gym takes."""
