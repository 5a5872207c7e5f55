"""Study: what becomes of a walk when one of its processes comes to harm at a random instant."""
