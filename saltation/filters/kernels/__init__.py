"""Kernels of filters: Algorithm 1, mixtures of Gaussians, clouds of particles."""
