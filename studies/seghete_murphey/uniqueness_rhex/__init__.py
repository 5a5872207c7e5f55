"""Section V: double touchdowns of a planar RHex."""
