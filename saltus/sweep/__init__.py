"""Sweeps: a suite run trial by trial, on cores or a cluster, kept in a folder."""
