"""A small process that damps the robot when the tracker hangs, dies, or the operator stops it.

It uses the standard library alone, holds the tracker's UDP socket, and watches a heartbeat in
shared memory. It shares nothing else with the tracker, so what holds the tracker up does not hold
it up: a stopped process, a thread that keeps Python's lock, a full disk.
"""
