"""Benchmarks of ``saltus bench``: one module or package each, over one `Contest`."""
