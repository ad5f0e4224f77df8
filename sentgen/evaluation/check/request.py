"""What is asked of `check`, for the command line and the server alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sentgen.corpus.parsers import Parser
from sentgen.corpus.reading import read_trees
from sentgen.errors import InputError, MemoryLimitError, spell
from sentgen.evaluation.check.check import SupportCheck, check, with_words
from sentgen.evaluation.check.verb_arguments import Spelling
from sentgen.evaluation.check.words import NO_LIMITS, WordLimits, check_words
from sentgen.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """Two texts, with trees (CoNLL-U), or any text if the server has a parser; of others, words are checked.

    Raises:
        InputError: choices exclude each other.
    """

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
    words: Annotated[
        bool,
        Option(
            "Check words alone, a row a word, for which no trees are needed.",
            shell="Check words alone, a row a word; needs no trees.",
        ),
    ] = False
    format: Annotated[str | None, Option("Format of both texts; detected if not given.", short="-f")] = None

    def __post_init__(self) -> None:
        if self.words and self._of_relations:
            raise InputError(
                f"{spell('words')} checks no relations, which {spell('lemmas')},"
                f" {spell('match_case')} and {spell('other_words')} are for"
            )

    @property
    def _of_relations(self) -> bool:
        """Whether something is asked that only trees can answer."""
        return self.lemmas or self.match_case or self.other_words

    def check(
        self, parser: Parser | None, *, limits: WordLimits = NO_LIMITS, need_trees: bool = False
    ) -> SupportCheck:
        """Read both files and compare them: their words, and their relations if both have trees.

        Args:
            parser: makes trees where there are none.
            limits: of comparing words.
            need_trees: whether texts without trees are refused, as a figure of relations is wanted.

        Raises:
            InputError: a file cannot be read, or has no trees and something is asked that needs them.
            MemoryLimitError: the texts are too long to compare their words, and have no trees.
        """
        missing: list[InputError] = []
        summary, source = (
            list(read_trees(path, parser=parser, form=self.format, treeless=missing.append))
            for path in (self.summary, self.against)
        )
        if missing and (need_trees or self._of_relations):
            raise missing[0]
        if missing or self.words:
            told = [] if self.words else [f"relations of verbs were not checked: {missing[0]}"]
            found = SupportCheck((), summary, source, relations=False, notes=told)
        else:
            spelling = Spelling(lemmas=self.lemmas, match_case=self.match_case)
            found = check(summary, source, spelling=spelling, other_words=self.other_words)
        try:
            return with_words(found, check_words(summary, source, limits))
        except MemoryLimitError as error:
            if not found.relations:
                raise
            return replace(found, notes=[f"words were not compared: {error}"])
