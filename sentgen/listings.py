"""Listings, each declared once for the command, the operation of the server, and the method.

The module of a listing is imported only when it is shown, as a command should import only what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentgen.output.tabular import Rows
    from sentgen.schema import Store


@dataclass(frozen=True, slots=True)
class Listing:
    """A table that lists all items of a kind, such as corpora or models.

    Attributes:
        name: name of the operation of the server.
        command: words of the command.
        source: module of sentgen and function that returns the rows; for items of plug-ins, also the errors
            of plug-ins.
        summary: description in the API of the server.
        text: the help of the command, without its example.
        none: message of the command if there are no rows.
        essential: columns that narrow terminals must show.
        of_store: whether it lists items of a store, not of the installation.
        limits_memory: whether the command has ``--memory-limit``.
    """

    name: str
    command: str
    source: str
    summary: str
    text: str
    _: KW_ONLY
    none: str = ""
    essential: Sequence[str] = ()
    of_store: bool = True
    limits_memory: bool = True

    @property
    def help(self) -> str:
        """Return the help of the command."""
        return f"{self.text}\n\nExample: `sentgen {self.command}`"

    def rows(self, store: Store | None) -> tuple[Rows, Sequence[str]]:
        """Return the rows, and the errors of plug-ins."""
        module, _, name = self.source.partition(":")
        give: Callable[..., Any] = getattr(import_module(f"sentgen.{module}"), name)
        return (give(store), ()) if self.of_store else give()


def _of_plugins(name: str, source: str, summary: str, text: str, *, none: str = "") -> Listing:
    text = f"{text}\nA plug-in that cannot be used is named on standard error, and the exit code is 1."
    essential = ("description", "settings")
    return Listing(name, name, source, summary, text, none=none, essential=essential, of_store=False)


LISTINGS = {
    listing.name: listing
    for listing in (
        Listing(
            "corpora",
            "corpora list",
            "counts.corpora:overview",
            "Corpora with their sizes and licences.",
            "List the corpora with their sizes and licences.",
            none="no corpora yet; make one with: sentgen ingest FILE --corpus NAME",
            essential=("sentences", "tokens"),
        ),
        Listing(
            "models",
            "models list",
            "models.base.registry:overview",
            "Models with their settings.",
            "List the models with their settings.",
            none="no models yet; make one with: sentgen models build NAME --corpus CORPUS",
            essential=("order", "smoothing", "tokens", "over"),
        ),
        Listing(
            "vectors",
            "vectors list",
            "models.vectors:overview",
            "Vectors with their settings.",
            "List the vectors with their settings.",
            none="no vectors yet; make some with: sentgen vectors build NAME --corpus CORPUS",
            essential=("corpora", "dimensions", "words"),
        ),
        Listing(
            "saved",
            "saved list",
            "lookups.command_line:saved_rows",
            "Saved queries with their command lines.",
            "List the saved queries, each with its command line.",
            none="no saved queries yet; make one with: sentgen saved add NAME -- kwic WORD",
            essential=("query",),
            limits_memory=False,
        ),
        Listing(
            "subcorpora",
            "subcorpora list",
            "lookups.subcorpora:overview",
            "Subcorpora with their corpora and conditions.",
            "List the subcorpora with their corpora and conditions.",
            none="no subcorpora yet; make one with: sentgen subcorpora define NAME --where CONDITION",
            essential=("where",),
        ),
        Listing(
            "parses",
            "parser list",
            "corpus.parsers:stored_parses",
            "Parsers whose parses the store has kept.",
            "List the parsers whose parses the store has kept.",
            none="no parses yet; keep some with: sentgen ingest FILE --corpus NAME --parser PARSER",
        ),
        Listing(
            "alignment-models",
            "align models",
            "alignment.stored.model_store:list_models",
            "Models that align.",
            "List the models that align.",
            none="no models that align yet; make one with: sentgen align train --pairs CORPUS --model NAME",
            limits_memory=False,
        ),
        _of_plugins(
            "formats",
            "corpus.formats:overview",
            "Formats of texts that can be read.",
            "List the formats of corpora that can be read, those of plug-ins included.\n",
        ),
        _of_plugins(
            "algorithms",
            "generation.algorithms:overview",
            "Algorithms that order words and phrases.",
            "List the algorithms that order bags, those of plug-ins included.\n\n"
            "`settings` are those that an algorithm looks at, each an option, or behind its name: "
            "`beam:beam=512`.",
        ),
        _of_plugins(
            "aligners",
            "alignment.systems:overview",
            "Systems that align texts.",
            "List the systems that align texts, those of plug-ins included.\n\n"
            "Settings stand behind a name: `lcs:n=2`; `learns` says whether a system learns from pairs.",
        ),
        _of_plugins(
            "scorers",
            "models.scorer:overview",
            "Scorers of sentences, which plug-ins add.",
            "List the scorers of sentences, which are those of plug-ins: language models that sentgen does"
            " not have.\n\n"
            "`words` says whether a scorer knows the probability of each word, too, which surprisal needs.",
            none="no package adds a scorer; docs/plugins.md has one of ten lines",
        ),
    )
}
