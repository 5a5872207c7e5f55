"""Which of the robot's sensors can be believed at this reading."""
