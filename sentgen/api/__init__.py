"""The Python API: `sentgen.open` gives a `Database`, whose methods are the commands.

It is on top of all rooms, as are the command line and the server; none of the three imports another.
"""
