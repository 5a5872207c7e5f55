"""Every filter on the same recorded sensor readings."""
