"""Saltation matrices of rigid bodies in closed form, and any by differences at random states."""
