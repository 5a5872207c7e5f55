"""The scoreboard: every headline figure beside its record, ``saltus score``."""
