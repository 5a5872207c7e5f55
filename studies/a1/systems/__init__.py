"""What several studies of the A1 share."""
