"""`saltus serve`: a physics server."""
