"""Benchmarks of ``saltus bench``: functions that return a ``BenchResult``."""
