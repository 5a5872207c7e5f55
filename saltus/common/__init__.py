"""What every part of the application uses: console, errors, folders, caches, child processes."""
