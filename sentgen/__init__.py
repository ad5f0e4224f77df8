"""sentgen: a database-backed corpus and model server for statistical sentence generation."""

import os as _os

__version__ = "0.1.0"
__all__ = ["__version__"]

# In a checkout, schema/ and migrations/ lie beside this folder; an installation maps them into it. Python
# finds this folder first where it is started in a checkout, whatever is installed.
_beside = _os.path.dirname(__path__[0])
if _os.path.isfile(_os.path.join(_beside, "schema", "store.py")) and _os.path.isfile(
    _os.path.join(_beside, "pyproject.toml")
):
    __path__.append(_beside)
