"""The robots.

One description, constants with their sources, kinematics, and dynamics with contacts.
"""
