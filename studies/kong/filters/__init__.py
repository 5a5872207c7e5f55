"""Chapter 4: Kalman filters of hybrid systems on many trials."""
