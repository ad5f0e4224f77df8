"""``sentgen cite``: how to name data and a query so that others find the same."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import takewhile
from typing import Annotated

import typer

from sentgen.cli.commands import COMMANDS
from sentgen.cli.console.options import DbOptions, StoreOptions
from sentgen.cli.console.output import Output
from sentgen.errors import InputError
from sentgen.lookups.base.selection import Selection
from sentgen.output.tabular import Rows
from sentgen.schema.citation import cite as citation_of


def cite(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]", help="A command as you would type it, behind `--`; it is not run."
        ),
    ] = None,
    *,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print an entry for BibTeX.")] = False,
    options: DbOptions,
    out: Output,
) -> None:
    """Say how to cite a snapshot, a lake or the store, and a query on it.

    Of a query that names corpora, only those are named, and of a subcorpus those that it is part of. A
    snapshot and a lake are named by a hash: whoever has the same one sees the same. A store goes on
    changing; `sentgen publish` makes a snapshot of it.

    Example: `sentgen cite --db snapshots/sentgen-9f865b4a8b35afec.duckdb -- kwic "united states"`
    """
    if words and words[0] not in {listed.name for listed in COMMANDS}:
        raise InputError(
            f"{words[0]!r} is no command of sentgen; write the query as you would type it, behind --"
        )
    query, names = (f"sentgen {shlex.join(words)}", _names_in(words)) if words else (None, [])
    citation = citation_of(options.path, query, names=_corpora(names, options) if names else ())
    if bibtex:
        typer.echo(citation.bibtex)
    else:
        out.table(Rows(("what", "value"), citation.lines))
    if citation.kind == "store":
        typer.echo("this store may change; cite a snapshot of it: sentgen publish --to snapshots", err=True)


def _names_in(words: Sequence[str]) -> list[str]:
    """Return the corpora and subcorpora that a command line names."""
    plain = takewhile(lambda word: not word.startswith("-"), words)
    # Only there a corpus has no option before it, and `--against` is no word.
    names = {"keyness": lambda: list(plain)[1:], "corpora": lambda: list(plain)[2:]}.get(words[0], list)()
    options = ("--corpus", "--against") if words[0] == "keyness" else ("--corpus",)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        if option in options:
            names.append(value if equals else following)
    return names


def _corpora(names: Sequence[str], options: StoreOptions) -> tuple[str, ...]:
    """Return the corpora of some corpora and subcorpora; empty for all.

    Raises:
        NotFoundError: there is no corpus or subcorpus of a name.
    """
    with options.connection() as connection:
        return Selection.named(connection, names).names
