"""Systems in which several contacts collide at once."""
