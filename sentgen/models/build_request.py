"""What is asked of `models build`, for the command line and for Python alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError
from sentgen.models.build import build
from sentgen.models.registry import ModelInfo
from sentgen.models.symbols import KEPT, OVER, symbols
from sentgen.options import Option
from sentgen.schema import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """A model of some corpora.

    Raises:
        InputError: the lowest counts are no numbers, or no model is over that.
    """

    name: Annotated[str, Option("Name of the model.", argument=True, metavar="NAME")]
    corpus: Annotated[
        list[str],
        Option("Corpora to count.", shell="Corpus to count; may be repeated.", metavar="NAME", given=True),
    ]
    order: Annotated[int, Option("Highest order of n-grams.", least=1, most=5)] = 4
    smoothing: Annotated[str, Option("kneser-ney, katz or stupid-backoff.", metavar="METHOD")] = "kneser-ney"
    min_count: Annotated[
        str | None,
        Option("Lowest count kept per order; the last one for the rest.", metavar="N,N,..."),
    ] = None
    unknown: Annotated[
        str, Option("Unknown words: word (one `<unk>`), tag (one per tag) or none.", metavar="HOW")
    ] = "word"
    brackets: Annotated[
        bool, Option("Count the brackets of base noun phrases, `<np>` and `</np>`, as words.")
    ] = False
    over: Annotated[str, Option(f"What n-grams are made of: {', '.join(OVER)}.", metavar="WHAT")] = "words"
    classes: Annotated[
        int | None,
        Option(f"Frequent words that classes and items keep. Default: {KEPT}.", metavar="N", least=0),
    ] = None
    where: Annotated[
        str | None,
        Option(
            "Count only sentences whose metadata meet this: `genre = academic and year >= 2010`.",
            metavar="EXPR",
        ),
    ] = None

    def __post_init__(self) -> None:
        parse_counts(self.min_count)
        symbols(self.over, self.classes)

    def build(self, store: Store, progress: Callable[[str], None] | None = None) -> ModelInfo:
        """Build the next version of the model; see `sentgen.models.build.build`."""
        return build(
            store,
            self.name,
            self.corpus,
            order=self.order,
            smoothing=self.smoothing,
            min_count=parse_counts(self.min_count),
            unknown=self.unknown,
            brackets=self.brackets,
            symbols=symbols(self.over, self.classes),
            condition=self.where,
            progress=progress,
        )


def parse_counts(text: str | None) -> list[int] | None:
    """Read numbers such as ``1,1,2``.

    Raises:
        InputError: they are none.
    """
    if text is None:
        return None
    parts = text.split(",")
    # More digits than any count has; int() refuses some thousand of them with a traceback.
    if not all(part.strip().isdecimal() and len(part.strip()) <= 9 for part in parts):
        raise InputError(f"--min-count {text[:40]!r} is no list of numbers; write it like 1,1,2")
    return [int(part) for part in parts]
