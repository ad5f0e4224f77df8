"""``sentgen formats``, ``algorithms``, ``aligners`` and ``scorers``: what there is, with plug-ins."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from sentgen.cli.console.output import Output, printable
from sentgen.output.tabular import Rows


def formats(*, out: Output) -> None:
    """List the formats of corpora that can be read, those of plug-ins included.

    A plug-in that cannot be used is named on standard error, and the exit code is 1.

    Example: `sentgen formats`
    """
    from sentgen.corpus.formats import overview

    _show(overview(), out)


def algorithms(*, out: Output) -> None:
    """List the algorithms that order bags, those of plug-ins included.

    `settings` are those that an algorithm looks at, each an option, or behind its name: `beam:beam=512`.
    A plug-in that cannot be used is named on standard error, and the exit code is 1.

    Example: `sentgen algorithms`
    """
    from sentgen.generation.algorithms import overview

    _show(overview(), out)


def aligners(*, out: Output) -> None:
    """List the systems that align texts, those of plug-ins included.

    Settings stand behind a name: `lcs:n=2`; `learns` says whether a system learns from pairs.
    A plug-in that cannot be used is named on standard error, and the exit code is 1.

    Example: `sentgen aligners`
    """
    from sentgen.alignment.systems import overview

    _show(overview(), out)


def scorers(*, out: Output) -> None:
    """List the scorers of sentences, which are those of plug-ins: language models that sentgen does not have.

    `words` says whether a scorer knows the probability of each word, too, which surprisal needs.
    A plug-in that cannot be used is named on standard error, and the exit code is 1.

    Example: `sentgen scorers`
    """
    from sentgen.models.plugin_scorers import overview

    table, wrong = overview()
    if not table.rows and not wrong:
        out.note("no package adds a scorer; docs/plugins.md has one of ten lines")
    _show((table, wrong), out)


def _show(overview: tuple[Rows, Sequence[str]], out: Output) -> None:
    """Print a table, and what is wrong with plug-ins."""
    table, wrong = overview
    out.table(table, essential=("description", "settings"))
    for message in wrong:
        typer.echo(printable(f"sentgen: {message}"), err=True)
    if wrong:
        raise typer.Exit(1)
