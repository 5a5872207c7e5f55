"""A line search on every rollout backend of this machine."""
