"""Options that several commands share, declared once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from sentgen.schema import Store, default_path
from sentgen.schema.store import default_memory_limit

DbOption = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="The store. Default: $SENTGEN_DB, else in your data folder."),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory-limit", metavar="SIZE", help="Memory to use, such as 2GB. Default: a quarter of RAM."
    ),
]
CorpusFilter = Annotated[
    list[str] | None, typer.Option("--corpus", metavar="NAME", help="Only this corpus; may be repeated.")
]
ParserOption = Annotated[
    str | None,
    typer.Option(
        "--parser",
        metavar="PARSER",
        help="Parse what has no trees: udpipe:FILE, spacy:NAME, stanza:LANGUAGE; or insist on trees: gold.",
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", "-n", min=0, help="Rows to show; 0 for all.")]

#: Share of the memory that DuckDB may use where sub-models, caches and compiled code need the rest.
LOOKUP_SHARE = 0.35

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text: str | None) -> int | None:
    """Read a size such as ``2GB``, ``500M`` or ``1073741824``."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if not match:
        raise typer.BadParameter(f"{text!r} is no size; write it like 2GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2]])


def open_store(
    db: Path | None,
    *,
    create: bool = False,
    read_only: bool = False,
    memory_limit: str | None = None,
    share: float = 1.0,
) -> Store:
    """Open the store that the options name; DuckDB may use that share of the memory."""
    limit = parse_size(memory_limit) or default_memory_limit()
    return Store(db or default_path(), create=create, read_only=read_only, memory_limit=int(limit * share))
