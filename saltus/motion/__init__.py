"""Plans motions offline, and shows them."""
