"""The simulated robot's body and floor, by whichever engine computes them."""
