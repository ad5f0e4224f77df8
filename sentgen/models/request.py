"""What is asked of `score`, and the options of all commands that take a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.options import Option

ModelOption = Annotated[
    str,
    Option(
        "Language model: NAME, or NAME@VERSION.",
        shell="Language model.",
        short="-m",
        metavar="NAME[@VERSION]",
        api={"max_length": 200},
    ),
]
WhereOption = Annotated[
    str | None,
    Option(
        "Count only sentences whose metadata meet this: `genre = academic and year >= 2010`.",
        metavar="EXPR",
    ),
]
LOWERCASE = "Look words up lower-cased. Default: as the model's corpora."


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model."""

    name: Annotated[
        str,
        Option("Name of the model, its newest version; or NAME@VERSION.", argument=True, metavar="NAME"),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Sentences, words separated by blanks; or raw text."""

    text: Annotated[
        list[str],
        Option(
            "Sentences, one a line.",
            argument=True,
            shell="Sentences, or - for standard input.",
            metavar="TEXT|-",
            api={"min_length": 1},
        ),
    ]
    model: ModelOption
    totals: Annotated[
        bool,
        Option("The totals instead of the sentences.", shell="Print the totals instead of the sentences."),
    ] = False
    lowercase: Annotated[
        bool | None,
        Option(
            LOWERCASE,
            shell="Lower-case first. Default: as the corpora of the model.",
            off="--keep-case",
        ),
    ] = None
    tokenize: Annotated[
        bool,
        Option(
            "The text is raw: split it into sentences and words first, as that of the model's corpora.",
            shell="Split raw text into sentences and words first, as `sentgen ingest` does.",
        ),
    ] = False
