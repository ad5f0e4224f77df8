"""The Python API: `sentgen.open` gives a `Database`, whose methods are the commands.

Beside the command line and the server, on top of all rooms; neither of the three imports another one here.
"""
