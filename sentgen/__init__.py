"""sentgen: a database-backed corpus and model server for statistical sentence generation.

`open` gives a `Database`, which does everything: ``sentgen.open("ewt.duckdb").ngrams("in the *")``.
"""

import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from sentgen import errors as errors
    from sentgen.api.database import Database as Database
    from sentgen.api.database import open as open
    from sentgen.api.generating import FusedSentences as FusedSentences
    from sentgen.api.generating import Sentences as Sentences
    from sentgen.api.hits import Hits as Hits
    from sentgen.api.hits import SentenceTree as SentenceTree
    from sentgen.api.language_models import LanguageModel as LanguageModel
    from sentgen.api.lines import LineSet as LineSet
    from sentgen.api.tables import Table as Table
    from sentgen.api.texts import AlignedTexts as AlignedTexts
    from sentgen.api.texts import CheckedSummary as CheckedSummary
    from sentgen.errors import SentgenError as SentgenError

__version__ = "0.1.0"

#: Why sentgen does not run with this Python; empty where it does.
unfit = (
    "this is a free-threaded Python, for which there is no DuckDB; install sentgen with the usual build"
    if "free-threading" in _sys.version
    else ""
)

# In a checkout, which Python takes before what is installed, schema/ and migrations/ lie beside this folder.
_checkout = _os.path.dirname(__path__[0])
if _os.path.isdir(_os.path.join(_checkout, "schema", "views")):
    __path__.append(_checkout)

#: Where the names of this package are. The command line imports it as well, and needs none of them.
_FROM = {
    "AlignedTexts": "sentgen.api.texts",
    "CheckedSummary": "sentgen.api.texts",
    "Database": "sentgen.api.database",
    "FusedSentences": "sentgen.api.generating",
    "Hits": "sentgen.api.hits",
    "LanguageModel": "sentgen.api.language_models",
    "LineSet": "sentgen.api.lines",
    "SentgenError": "sentgen.errors",
    "SentenceTree": "sentgen.api.hits",
    "Sentences": "sentgen.api.generating",
    "Table": "sentgen.api.tables",
    "errors": "",
    "open": "sentgen.api.database",
}
__all__ = [  # noqa: RUF022 - what everybody needs comes first
    "open",
    "Database",
    "errors",
    "SentgenError",
    "AlignedTexts",
    "CheckedSummary",
    "FusedSentences",
    "Hits",
    "LanguageModel",
    "LineSet",
    "SentenceTree",
    "Sentences",
    "Table",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is first asked for."""
    if name not in _FROM:
        raise AttributeError(f"module 'sentgen' has no attribute {name!r}")
    if unfit:
        raise ImportError(unfit)
    from importlib import import_module

    value = getattr(import_module(_FROM[name]), name) if _FROM[name] else import_module(f"sentgen.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FROM})
