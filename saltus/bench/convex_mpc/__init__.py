"""Solvers of the force problems of Convex MPC and Instant QP."""
