"""Feeds a recorded run through the stack again, and compares what comes out."""
