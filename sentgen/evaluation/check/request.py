"""What is asked of `check`, for the command line and the server alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentences import read_trees
from sentgen.evaluation.check.check import SupportCheck, check
from sentgen.evaluation.check.verb_arguments import Spelling
from sentgen.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """Two texts, with trees (CoNLL-U), or any text if the server has a parser."""

    summary: Annotated[
        str,
        Option(
            "The text to check.",
            argument=True,
            shell="The text to check, or - .",
            metavar="SUMMARY|-",
            file="summary",
        ),
    ]
    against: Annotated[
        str,
        Option(
            "The text that it should follow.",
            shell="The text, or folder, that it should follow.",
            metavar="SOURCE",
            file="against",
        ),
    ]
    lemmas: Annotated[bool, Option("Compare lemmas instead of forms.")] = False
    match_case: Annotated[bool, Option("Tell upper from lower case; it is ignored otherwise.")] = False
    other_words: Annotated[
        bool,
        Option(
            "Count other words as support: other forms, other spellings, synonyms, and passives for actives."
        ),
    ] = False
    format: Annotated[str | None, Option("Format of both texts; detected if not given.", short="-f")] = None

    def check(self, parser: Parser | None) -> SupportCheck:
        """Read both files and compare them.

        Raises:
            InputError: a file cannot be read, or has no trees and there is no parser.
        """
        summary, source = (
            read_trees(path, parser=parser, form=self.format) for path in (self.summary, self.against)
        )
        spelling = Spelling(lemmas=self.lemmas, match_case=self.match_case)
        return check(summary, source, spelling=spelling, other_words=self.other_words)
