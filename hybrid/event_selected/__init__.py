"""Event-selected systems: many guards crossed nearly at once, and the flow's derivative there."""
