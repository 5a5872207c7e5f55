"""Section 3.6: saltation matrices of rigid bodies, and their check by differences."""
