"""Studies of Anderson and Revzen: integration of event-selected systems."""
