"""Section 3.4.3: Floquet multipliers of limit cycles."""
