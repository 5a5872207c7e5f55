"""The black box of a robot: every frame both ways, and the logs, in a ring of files on disk.

Tracker and watchdog write frames into a named pipe, which never holds them up. A process of its own
takes them out and keeps them, until the last of the two has ended.
"""
