"""Run the command line: ``python -m sentgen ...`` is ``sentgen ...``."""

from sentgen.cli import program

if __name__ == "__main__":
    program()
