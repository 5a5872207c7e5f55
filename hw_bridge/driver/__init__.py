"""What turns keys, a gamepad or the A1's own remote into commands of a velocity."""
