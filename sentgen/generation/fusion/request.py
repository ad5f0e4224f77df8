"""What is asked of `fuse`, for the command line, Python and the server alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError, spell
from sentgen.generation.algorithms import ALGORITHMS
from sentgen.options import Option

#: Words that are added to the key sentence, at most: a clause of a usual length, or some phrases.
WORDS = 24
#: Weight of the dependencies in the search; with 0.5, as in 2005, it leaves function words for the end.
WEIGHT = 0.2
#: The tree of the key grows; or its words are searched for the best order.
REVISE, DEPVITERBI = "revise", "depviterbi"


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionRequest:
    """What is added to a key sentence, and how its words are put in order."""

    model: Annotated[
        str | None,
        Option(
            "Language model with treebanks to go by, instead of the sentences alone.",
            short="-m",
            metavar="NAME[@VERSION]",
        ),
    ] = None
    algorithm: Annotated[
        str,
        Option(
            f"{REVISE}, or {DEPVITERBI} (2005); with model also one of: {', '.join(ALGORITHMS)}.",
            shell=f"{REVISE}, or {DEPVITERBI} (2005); with --model also one of: {', '.join(ALGORITHMS)}.",
            short="-a",
            metavar="NAME",
        ),
    ] = REVISE
    words: Annotated[
        int,
        Option("Words to add to the key sentence, at most.", metavar="N", least=1, api={"le": 1000}),
    ] = WORDS
    weight: Annotated[float, Option(f"Weight of the dependencies, for {DEPVITERBI}.", least=0, most=1)] = (
        WEIGHT
    )
    nbest: Annotated[int, Option("Sentences to give, at most.", least=1, api={"le": 100})] = 1
    seed: Annotated[int, Option("Seed of the shuffle that breaks ties.", least=0)] = 1
    format: Annotated[str | None, Option("Format of the files; detected if not given.", short="-f")] = None

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            InputError: the algorithm needs a model, or takes none.
        """
        if self.algorithm == REVISE or (self.model is None) == (self.algorithm == DEPVITERBI):
            return
        needs = (
            "takes no model"
            if self.model
            else f"needs a model to order words with; give {spell('model')} NAME"
        )
        raise InputError(f"{self.algorithm} {needs}")
