"""Studies: each reproduces one table or figure of a source."""
