"""Launch sentgen from a checkout: ``python cli.py ...`` is ``sentgen ...``."""

from sentgen.cli import program

if __name__ == "__main__":
    program()
