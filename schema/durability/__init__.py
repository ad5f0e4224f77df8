"""What survives a crash: locks, logs, kept blocks, and repair."""
