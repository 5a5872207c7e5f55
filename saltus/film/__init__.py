"""Pictures and films of recorded runs, drawn off-screen in a process of their own."""
