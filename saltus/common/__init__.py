"""Parts that the whole application uses: console, errors, folders, caches, child processes."""
