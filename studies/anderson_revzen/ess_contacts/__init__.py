"""Section 5: the cost of a contact, event-selected and in MuJoCo."""
