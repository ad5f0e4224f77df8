"""What is asked of `fuse`, for the command line, Python and the server alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError
from sentgen.generation.algorithms import ALGORITHMS
from sentgen.options import Option

#: Words that are added to the key sentence, at most.
WORDS = 8
#: Weight of the dependencies in the search; with 0.5, as in 2005, it leaves function words for the end.
WEIGHT = 0.2
#: What needs no model: phrases are put into the key sentence, or the words are searched for the best order.
INSERT, DEPVITERBI = "insert", "depviterbi"


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionRequest:
    """How many words are added, and how all are put in order."""

    model: Annotated[
        str | None,
        Option("Language model to order words with.", short="-m", metavar="NAME[@VERSION]"),
    ] = None
    algorithm: Annotated[
        str | None,
        Option(
            f"{INSERT} or {DEPVITERBI}, or with --model one of: {', '.join(ALGORITHMS)}."
            f" Default: beam with a model, else {INSERT}.",
            short="-a",
            metavar="NAME",
        ),
    ] = None
    words: Annotated[int, Option("Words to add to the key sentence, at most.", metavar="N", least=1)] = WORDS
    weight: Annotated[float, Option(f"Weight of the dependencies, for {DEPVITERBI}.", least=0, most=1)] = (
        WEIGHT
    )
    nbest: Annotated[int, Option("Sentences to give, at most.", least=1)] = 1
    seed: Annotated[int, Option("Seed of the shuffle that breaks ties.", least=0)] = 1
    format: Annotated[str | None, Option("Format of the files; detected if not given.", short="-f")] = None

    @property
    def chosen(self) -> str:
        """Return the algorithm."""
        return self.algorithm or ("beam" if self.model else INSERT)

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            InputError: the algorithm needs a model, or takes none.
        """
        chosen = self.chosen
        if (self.model is None) != (chosen in (INSERT, DEPVITERBI)):
            needs = (
                "takes no --model" if self.model else "needs a model to order words with; give --model NAME"
            )
            raise InputError(f"{chosen} {needs}")
