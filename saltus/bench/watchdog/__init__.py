"""How soon the watchdog damps."""
