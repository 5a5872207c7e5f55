"""Sweeps: a suite run trial by trial, on all cores, kept in a folder."""
