"""Systems with their variational equation and ramped inputs, and a cost on Phi (7.1)."""
