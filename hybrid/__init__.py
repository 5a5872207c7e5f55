"""Mathematics of hybrid systems, with no robot in it."""
