"""The A1's salted Kalman filter: full contact dynamics, and impacts with saltation matrices."""
