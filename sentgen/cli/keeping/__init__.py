"""Commands about the store as a whole: its file, its copies, its server, many machines."""
