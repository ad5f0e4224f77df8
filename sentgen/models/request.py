"""The request of `score`, and the options of all commands that take a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from sentgen.errors import InputError, spell
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
#: The units of the rows of `score`, beside kinds of regions; the last one only for stored text.
UNITS = ("sentence", "token", "document")
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
    """Sentences, words separated by blanks; or raw text; or what is stored.

    Raises:
        InputError: options go with another text, or exclude each other.
    """

    text: Annotated[
        list[str],
        Option(
            "Sentences, one a line.",
            argument=True,
            shell="Sentences, or - for standard input.",
            metavar="TEXT|-",
        ),
    ] = field(default_factory=list)
    model: ModelOption
    corpus: Annotated[
        list[str],
        Option(
            "Score the stored sentences of these corpora or subcorpora instead of a text.",
            shell="Score stored sentences of this corpus or subcorpus instead; may be repeated.",
            metavar="NAME",
            api={"max_length": 100},
        ),
    ] = field(default_factory=list)
    where: Annotated[
        str | None,
        Option(
            "Of these, only sentences whose metadata meet this: `genre = academic`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    by: Annotated[
        str,
        Option(
            "What rows are of: sentence, token, or of corpora document or a kind of regions, such as `p`.",
            metavar="UNIT",
            api={"max_length": 200},
        ),
    ] = "sentence"
    keep_below: Annotated[
        float | None,
        Option(
            "Only sentences with a lower perplexity.",
            shell="Print only sentences with a lower perplexity: as lines, unless a format is asked for.",
            metavar="PERPLEXITY",
            api={"gt": 0},
        ),
    ] = None
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

    def __post_init__(self) -> None:
        if self.corpus and (self.text or self.tokenize):
            raise InputError("stored sentences are no other text, and have tokens; leave one of both out")
        if not self.corpus and self.where is not None:
            raise InputError(
                f"a condition can only be asked of what is stored; give {spell('corpus')} NAME, too"
            )
        if not self.corpus and self.by not in UNITS[:2]:
            raise InputError(
                f"a text has rows by sentence and token, not by {self.by!r}; of what is stored, give"
                f" {spell('corpus')} NAME"
            )
        if self.keep_below is not None and (self.totals or self.by != "sentence"):
            raise InputError(
                "sentences are kept or not, no totals, tokens, documents or regions; leave one out"
            )
