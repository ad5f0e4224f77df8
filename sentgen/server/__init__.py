"""The server: one process in front that speaks HTTP, and worker processes that open the snapshot."""
