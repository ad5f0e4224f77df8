"""Request and answer of `fuse`: sentences, the origin of each word, and changes of the key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Literal, NamedTuple, get_args

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, spell
from sentgen.generation.algorithms import ALGORITHMS
from sentgen.generation.clusters.casing import capitalized
from sentgen.options import Option
from sentgen.output.display import closed_up, decimal
from sentgen.output.tabular import Rows

#: Most words that are added to the key sentence: a clause of a usual length, or some phrases.
_WORDS = 24
#: Weight of the dependencies in the search; with 0.5, as in 2005, it leaves function words for the end.
_WEIGHT = 0.2
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
    ] = _WORDS
    weight: Annotated[float, Option(f"Weight of the dependencies, for {DEPVITERBI}.", least=0, most=1)] = (
        _WEIGHT
    )
    nbest: Annotated[int, Option("Sentences to give, at most.", least=1, api={"le": 100})] = 1
    seed: Annotated[int, Option("Seed of the shuffle that breaks ties.", least=0)] = 1
    format: Annotated[str | None, Option("Format of the files; detected if not given.", short="-f")] = None

    def check(self) -> None:
        """Refuse combinations of options that have no meaning.

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


#: Kinds of changes: a phrase of a related sentence is added to a word of the key, replaces a phrase, or is a
#: clause that follows the key.
ChangeKind = Literal["added", "replaced", "conjoined"]


class WordOrigin(NamedTuple):
    """The origin of a word: the number of its sentence, 0 for the key, and its position there, from 0."""

    sentence: int
    place: int


@dataclass(frozen=True, slots=True)
class FusionChange:
    """A change of the key sentence.

    Attributes:
        kind: kind of the change.
        text: the new words, in the order of their sentence.
        sentence: the number of the related sentence that they are from, from 1.
        places: positions of these words in their sentence, from 0.
        beside: the word of the key that is their head; for a replacement, the words that were removed.
        marker: the words put in with a clause that is from no sentence, such as `while`; "" for none.
    """

    kind: ChangeKind
    text: str
    sentence: int
    places: tuple[int, ...]
    beside: str
    marker: str = ""


@dataclass(frozen=True, slots=True)
class FusedSentence:
    """A new sentence.

    Attributes:
        words: the words in their order, without the capital of a sentence, which `text` adds.
        score: the optimized score, a natural logarithm.
        origins: origin of each word, None for a word that is from no sentence.
        changes: changes of the key sentence.
    """

    words: tuple[str, ...]
    score: float
    origins: tuple[WordOrigin | None, ...]
    changes: tuple[FusionChange, ...]

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks, with a capital."""
        return " ".join(capitalized(self.words))


@dataclass(frozen=True, slots=True)
class FusionAnswer:
    """New sentences, the best one first; none where nothing could be added to the key, or nothing is new.

    Attributes:
        key: the key sentence.
        related: the related sentences, which origins and changes number from 1.
        algorithm: name of the algorithm.
        changes: changes of the revised key; without changes, there is nothing to add.
        sentences: all different, and different from key and related sentences.
    """

    key: Sentence
    related: Sequence[Sentence]
    algorithm: str
    changes: tuple[FusionChange, ...]
    sentences: tuple[FusedSentence, ...]

    def table(self) -> Rows:
        """Return a row a sentence, with the changes of the key."""
        rows = [
            (
                *(rank, sentence.text, decimal(sentence.score), sentence.score),
                *("; ".join(of_kind) for of_kind in _changes_by_kind(sentence.changes).values()),
                self.algorithm,
            )
            for rank, sentence in enumerate(self.sentences, 1)
        ]
        return Rows(list(COLUMNS), rows)

    def origin_table(self) -> Rows:
        """Return a row a word of each sentence, with the sentence that it is from; places count from 1."""
        rows = (
            (rank, *row)
            for rank, sentence in enumerate(self.sentences, 1)
            for row in _origins(self, sentence)
        )
        return Rows(
            list(_WORD_COLUMNS), list(rows), ("BIGINT", "BIGINT", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR")
        )

    def change_table(self) -> Rows:
        """Return a row for each change of the key, sentence by sentence."""
        rows = [
            (rank, change.kind, change.text, change.sentence, change.beside, change.marker)
            for rank, sentence in enumerate(self.sentences, 1)
            for change in sentence.changes
        ]
        return Rows(
            list(_CHANGE_COLUMNS), rows, ("BIGINT", "VARCHAR", "VARCHAR", "BIGINT", "VARCHAR", "VARCHAR")
        )

    def notes(self) -> Iterator[str]:
        """Yield notes on the changes, or the reason why there is no sentence."""
        if not self.changes:
            yield (
                f"nothing to add: no phrase of the related sentences fits; try more {spell('words')},"
                " or other sentences"
            )
            return
        for kind, texts in _changes_by_kind(self.changes).items():
            if texts:
                yield f"{kind}: {'; '.join(map(closed_up, texts))}"
        if not self.sentences:
            yield f"no new sentence was found; add more words with {spell('words')}, or related sentences"


COLUMNS = ("rank", "sentence", "log10_score", "score", *get_args(ChangeKind), "algorithm")
#: A row a word; sentence 0 is the key, and what was put in has none.
_WORD_COLUMNS = ("rank", "place", "word", "sentence", "source_place", "source_word")
_CHANGE_COLUMNS = ("rank", "kind", "text", "sentence", "beside", "marker")
#: What a word is called that is from no sentence.
_PUT_IN = "put in"


def _origins(answer: FusionAnswer, sentence: FusedSentence) -> Iterator[tuple[object, ...]]:
    sources = (answer.key, *answer.related)
    # As the sentence is read: its first word has a capital.
    for at, (word, origin) in enumerate(zip(capitalized(sentence.words), sentence.origins, strict=True), 1):
        if origin is None:
            yield at, word, None, None, None
        else:
            yield at, word, origin.sentence, origin.place + 1, sources[origin.sentence].forms[origin.place]


def runs(words: Iterable[tuple[str, int | None]]) -> list[tuple[str, str]]:
    """Return runs of words from the same sentence, with its label; an empty label for the key.

    >>> runs([("Rains", 0), ("fell", 0), ("on", 2), ("Monday", 2), (",", None)])
    [('Rains fell', ''), ('on Monday', '2'), (',', 'put in')]
    """
    groups = groupby(words, key=lambda pair: pair[1])
    return [
        (" ".join(word for word, _ in group), _PUT_IN if sentence is None else str(sentence or ""))
        for sentence, group in groups
    ]


def _changes_by_kind(changes: Iterable[FusionChange]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {kind: [] for kind in get_args(ChangeKind)}
    for change in changes:
        text = f"{change.marker} {change.text}".lstrip(" ,")
        texts[change.kind].append(f"{text} (for {change.beside})" if change.kind == "replaced" else text)
    return texts
