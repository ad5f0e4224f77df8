"""One check of a store: a named query whose rows are the problems, and what cures them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REINGEST = (
    "remove the corpus and ingest it again (sentgen corpora remove NAME; sentgen ingest PATH --corpus NAME)"
)
#: What helps if nothing else does.
RESTORE = "restore a backup; if there is none, ingest everything into a new store"
REBUILD = "build the model again (sentgen models build NAME --corpus CORPUS)"
RETRAIN = "train the model again (sentgen align train --pairs NAME --model M)"
REPAIR = "sentgen db repair: it removes what nothing accounts for, and names the corpora to ingest again"


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Args:
        name: short name.
        query: SQL whose rows are the problems, none in a sound store.
        cure: what to do if there are any.
        slow: whether it counts the tokens anew; ``--quick`` leaves it out.
        settings: settings of DuckDB under which it runs.
    """

    name: str
    query: str
    cure: str = REINGEST
    slow: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
