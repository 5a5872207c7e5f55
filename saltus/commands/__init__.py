"""One file per command of ``saltus``."""
