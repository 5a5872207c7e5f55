"""Section 2.6: swing-ups of a rotary cart pole."""
