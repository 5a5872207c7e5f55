"""Parts that several studies of the A1 share."""
