"""Benchmarks of ``saltus bench``: one module each, with ``run() -> BenchResult``."""
