"""The robots: one description, constants with their sources, kinematics, and dynamics with contacts."""
