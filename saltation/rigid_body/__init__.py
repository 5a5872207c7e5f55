"""Rigid bodies with one unilateral constraint and Coulomb friction (3.6).

``body`` holds a body's functions, ``dynamics`` the flow of each contact mode, ``impacts`` the
resets, ``guards`` the ends of modes, and ``hybrid_system`` puts them together.
"""
