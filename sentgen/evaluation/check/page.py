"""The page of a check: the summary with what has no support marked, and the source that it was held against.

The page stands alone: it loads nothing and runs no script, and every text in it is escaped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sentgen
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.check import CheckedWord, Claim, SupportCheck, text_of
from sentgen.output.templates import template


@dataclass(frozen=True, slots=True)
class _SummaryWord:
    """A token of the summary; ``marks`` number its relations that the source has not in the same words.

    ``reworded`` says that the source has all of these in other words. ``state`` is that of a word which is
    listed as changed or new.
    """

    text: str
    space: bool
    marks: tuple[int, ...]
    verb: bool
    reworded: bool
    state: str = ""

    @property
    def kind(self) -> str:
        """Return the classes of its mark."""
        marked = (("other", self.reworded and bool(self.marks)), ("verb", self.verb))
        return " ".join([name for name, on in marked if on] + [self.state] * bool(self.state))


@dataclass(frozen=True, slots=True)
class _Judgment:
    """A sentence of the summary with its relations; those not in the same words have numbers on the page.

    ``changed`` are its words that are changed, and those that are new, where these are listed.
    """

    number: int
    words: Sequence[_SummaryWord]
    unsupported: Sequence[tuple[int, Claim]]
    reworded: Sequence[tuple[int, Claim]]
    supported: Sequence[Claim]
    changed: Sequence[CheckedWord]


def page(check: SupportCheck, *, summary: str, source: str) -> str:
    """Return the page of a check as HTML.

    ``summary`` and ``source`` are the names of both texts.
    """
    return template("sentgen.evaluation.check", "page.html.j2").render(
        check=check,
        figures=check.figures()[check.relations :],
        sentences=list(_judged(check)),
        source=[text_of(sentence) for sentence in check.source],
        summary_name=summary,
        source_name=source,
        version=sentgen.__version__,
        phrase=Claim.phrase,
    )


def _judged(check: SupportCheck) -> Iterator[_Judgment]:
    """Number what is not there in the same words through the whole page."""
    mark = 0
    listed = check.listed_words()
    for number, sentence in enumerate(check.summary, 1):
        claims = check.claims_of(number)
        numbered = list(enumerate((claim for claim in claims if claim.words != "same"), mark + 1))
        mark += len(numbered)
        changed = [word for word in listed if word.sentence == number]
        yield _Judgment(
            number,
            list(_words(sentence, numbered, changed)),
            [claim for claim in numbered if not claim[1].supported],
            [claim for claim in numbered if claim[1].supported],
            [claim for claim in claims if claim.words == "same"],
            changed,
        )


def _words(
    sentence: Sentence, numbered: Sequence[tuple[int, Claim]], changed: Sequence[CheckedWord]
) -> Iterator[_SummaryWord]:
    states: dict[int, str] = {word.place: word.state.state for word in changed}
    marks: defaultdict[int, list[int]] = defaultdict(list)
    for number, claim in numbered:
        marks[claim.argument.head].append(number)
        # Both words carry the number, so that the pair can be seen.
        marks[claim.argument.modifier].append(number)
    heads = {claim.argument.head for _, claim in numbered}
    wrong = {number for number, claim in numbered if not claim.supported}
    spaces = sentence.space_after or [True] * len(sentence.forms)
    for i, (form, space) in enumerate(zip(sentence.forms, spaces, strict=True)):
        own = marks.get(i, ())
        yield _SummaryWord(form, space, tuple(own), i in heads, wrong.isdisjoint(own), states.get(i, ""))
