"""Frames to and from the A1, ours beside Python's struct and zlib."""
