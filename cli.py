"""Launch sentgen from a checkout: ``python cli.py ...`` is ``sentgen ...``."""

from pathlib import Path

import sentgen

# In a checkout schema/ and migrations/ lie beside this file; an installation maps them into the package.
if (Path(__file__).parent / "schema").is_dir():
    sentgen.__path__.append(str(Path(__file__).parent))

from sentgen.cli import program

if __name__ == "__main__":
    program()
