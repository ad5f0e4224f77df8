"""What can be chosen about a search, as options that several commands share.

A command takes ``search: Search`` and is wrapped in `search_options`. An option that is not given leaves the
algorithm's default; one that the algorithm does not look at is refused (see `settings_for`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, cast

import typer

from sentgen.cli.console.option_groups import Result, option_group
from sentgen.generation import Search
from sentgen.generation.settings import PAPERS, THEFTS, Paper

_option = partial(typer.Option, rich_help_panel="Search; defaults are the algorithm's own")

_OPTIONS: dict[str, Any] = {
    "as_published": Annotated[
        str | None,
        _option("--as-published", metavar="|".join(PAPERS), help="Take every literal reading of a paper."),
    ],
    "order": Annotated[int | None, _option("--order", min=2, max=5, help="Order of the n-grams.")],
    "beam": Annotated[
        int | None, _option("--beam", metavar="N", min=1, help="Hypotheses kept a stack, such as 64 or 512.")
    ],
    "lmo_context": Annotated[
        str | None,
        _option(
            "--lmo-context", metavar="phrase|string", help="What a unit joins: the last one, or all so far."
        ),
    ],
    "verb_root": Annotated[
        bool | None, _option("--verb-root/--any-root", help="Only a verb may be the root, if there is one.")
    ],
    "noun_under_noun": Annotated[
        bool | None, _option("--noun-under-noun/--no-noun-under-noun", help="A noun may modify a noun.")
    ],
    "one_root": Annotated[
        bool | None, _option("--one-root/--many-roots", help="Only one unit may be the root.")
    ],
    "theft": Annotated[
        str | None,
        _option("--theft", metavar="|".join(THEFTS), help="How an edge is scaled that robs another head."),
    ],
    "q": Annotated[
        str | None,
        _option("--q", metavar="paper|learned", help="Argument positions: by the paper's rule, or as seen."),
    ],
    "padding": Annotated[
        str | None,
        _option("--padding", metavar="free|literal", help="Let any position stay empty, or as in the paper."),
    ],
    "padding_cost": Annotated[
        float | None, _option("--padding-cost", metavar="NATS", help="Cost of a position that stays empty.")
    ],
    "dependencies": Annotated[
        list[str] | None,
        _option(
            "--dependencies",
            metavar="CORPUS",
            help="Treebank to take dependencies from; may be repeated. Default: the model's corpora.",
        ),
    ],
}


def search_options(function: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command the options of a search in place of its parameter ``search``."""
    options = {name: (annotation, None) for name, annotation in _OPTIONS.items()}
    return option_group(function, "search", options, _search)


def _search(as_published: str | None, dependencies: list[str] | None, **changes: Any) -> Search:
    given = {name: value for name, value in changes.items() if value is not None}
    return Search(
        as_published=cast("Paper | None", as_published), changes=given, dependencies=dependencies or None
    )
