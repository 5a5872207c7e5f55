"""Section 7.1: HiLQR plans that shrink perturbations through impacts."""
