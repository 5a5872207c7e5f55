"""The salted Kalman filter: full contact dynamics, and impacts with saltation matrices."""
