"""Verb arguments: does a text say the same of its verbs as its source does?

The measure of Wan et al. 2005, section 5, for generated sentences. A relation is a dependency whose head is
a verb. It matches a relation of another text that has the same head word, the same modifier word, and the two
in the same order.

    precision = generated relations that match one of the source / generated relations
    recall    = source relations that match a generated one / source relations of the output's verbs

Both count occurrences: every relation of a text is looked up among those of the other one. So four
paraphrases in the source that say the same thing do not divide recall by four, and what is said twice is
right twice. Adjacent relations are those whose two words are neighbors where the relation is counted, in the
output for precision and in the source for recall; the others are long-distance. A match may be at any
distance.

Punctuation is no argument and is left out. Verbs are known by their tags, auxiliaries and modals included:
the universal tag where there is one, else that of the Penn Treebank. In Universal Dependencies an adjective
or noun after a copula is the head of its clause; such clauses have no verb and do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, spell
from sentgen.generation.prepare import is_punctuation, is_verb

Kind = Literal["all", "adjacent", "long"]
KINDS: tuple[Kind, ...] = ("all", "adjacent", "long")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spelling by which two words are compared: lower-cased forms by default.

    With ``lemmas`` a word without a lemma is compared by its form.
    """

    lemmas: bool = False
    match_case: bool = False

    @property
    def signature(self) -> str:
        """Return the beginning of the signature of figures of verb arguments."""
        word, case = "lemma" if self.lemmas else "form", "mixed" if self.match_case else "lc"
        return f"verb arguments|word:{word}|case:{case}"

    def words(self, sentence: Sentence) -> list[str]:
        """Return the key by which each token of a sentence is compared."""
        words = sentence.forms
        if self.lemmas and sentence.lemmas:
            words = [
                form if lemma in ("", "_") else lemma
                for form, lemma in zip(words, sentence.lemmas, strict=True)
            ]
        return words if self.match_case else [word.lower() for word in words]


#: Forms, lower-cased.
FORMS = Spelling()


class RelationKey(NamedTuple):
    """The key of a relation; relations match if their keys are equal."""

    head: str
    modifier: str
    head_first: bool


@dataclass(frozen=True, slots=True)
class Argument:
    """A relation of a verb; places are those of its words in the sentence, from 0."""

    key: RelationKey
    head: int
    modifier: int
    deprel: str

    @property
    def adjacent(self) -> bool:
        """Return whether the two words are neighbors."""
        return abs(self.head - self.modifier) == 1

    def is_kind(self, kind: Kind) -> bool:
        """Return whether the relation is of a kind: any, adjacent or long-distance."""
        return kind == "all" or self.adjacent == (kind == "adjacent")


def tags_of(sentence: Sentence) -> list[str]:
    """Return the tag of each token: the universal one, else the tag of the language, else `_`."""
    nothing = ["_"] * len(sentence.forms)
    # Universal tags first: those of languages name verbs in many ways.
    pairs = zip(sentence.upos or nothing, sentence.xpos or nothing, strict=True)
    return [upos if upos not in ("", "_") else xpos for upos, xpos in pairs]


def parse_once(
    texts: Iterable[Sequence[str]], parser: Parser, progress: Callable[[int, int], None] | None = None
) -> dict[tuple[str, ...], Sentence]:
    """Return the trees of texts by their words, the same ones parsed once.

    Args:
        texts: the words of each.
        parser: asked in the order of the alphabet, so that it gets the same texts in the same order.
        progress: called with the texts that are parsed, and of those to parse.
    """
    wanted = sorted({tuple(words) for words in texts})
    trees: dict[tuple[str, ...], Sentence] = {}
    for words, tree in zip(wanted, parser.parse_tokenized(wanted), strict=True):
        trees[words] = tree
        if progress is not None:
            progress(len(trees), len(wanted))
    return trees


def arguments(sentence: Sentence, spelling: Spelling = FORMS) -> list[Argument]:
    """Return the relations of the verbs of a sentence, by the place of the modifier.

    Raises:
        InputError: the sentence has no tree, or no tags.

    >>> tree = Sentence(["He", "ate", "."], upos=["PRON", "VERB", "PUNCT"], heads=[2, 0, 2])
    >>> [argument.key for argument in arguments(tree)]
    [RelationKey(head='ate', modifier='he', head_first=False)]
    """
    if sentence.heads is None or (sentence.upos is None and sentence.xpos is None):
        raise InputError(
            f"a sentence without a tree and tags has no verb arguments; parse it with {spell('parser')}"
        )
    words, tags = spelling.words(sentence), tags_of(sentence)
    deprels = sentence.deprels or ["_"] * len(words)
    return [
        Argument(RelationKey(words[head - 1], words[i], head - 1 < i), head - 1, i, deprels[i])
        for i, head in enumerate(sentence.heads)
        if head
        and is_verb(tags[head - 1])
        # By tag and by relation, as either may be missing.
        and not is_punctuation(tags[i])
        and deprels[i].partition(":")[0] != "punct"
    ]


def verbs(sentence: Sentence, spelling: Spelling = FORMS) -> set[str]:
    """Return the verbs of a sentence as they are compared."""
    words = spelling.words(sentence)
    return {word for word, tag in zip(words, tags_of(sentence), strict=True) if is_verb(tag)}


@dataclass(frozen=True, slots=True)
class _ArgumentCounts:
    """How many relations of an output and of its source there are, and how many of them have a match."""

    generated: int = 0
    matched: int = 0
    source: int = 0
    recalled: int = 0

    @property
    def precision(self) -> float:
        """Return the share of the generated relations that match; NaN if there are none."""
        return self.matched / self.generated if self.generated else float("nan")

    @property
    def recall(self) -> float:
        """Return the share of the source relations that match; NaN if the verbs of the output have none."""
        return self.recalled / self.source if self.source else float("nan")


class SourceArguments:
    """The relations of a source, which many outputs are compared with."""

    def __init__(self, sentences: Iterable[Sentence], spelling: Spelling = FORMS) -> None:
        self.spelling = spelling
        self._arguments = [argument for sentence in sentences for argument in arguments(sentence, spelling)]
        self._keys = {argument.key for argument in self._arguments}

    def __len__(self) -> int:
        return len(self._arguments)

    def __contains__(self, key: RelationKey) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Argument]:
        return iter(self._arguments)

    def compare(self, output: Sequence[Sentence]) -> Mapping[Kind, _ArgumentCounts]:
        """Compare an output, parsed, with the source."""
        generated = [argument for sentence in output for argument in arguments(sentence, self.spelling)]
        generated_keys = {argument.key for argument in generated}
        occurring = {verb for sentence in output for verb in verbs(sentence, self.spelling)}
        # Recall asks only for arguments of verbs that the output has.
        relevant = [argument for argument in self._arguments if argument.key.head in occurring]
        return {kind: self._counts(kind, generated, relevant, generated_keys) for kind in KINDS}

    def _counts(
        self,
        kind: Kind,
        generated: list[Argument],
        relevant: list[Argument],
        generated_keys: set[RelationKey],
    ) -> _ArgumentCounts:
        output = [argument for argument in generated if argument.is_kind(kind)]
        source = [argument for argument in relevant if argument.is_kind(kind)]
        return _ArgumentCounts(
            generated=len(output),
            matched=sum(argument.key in self._keys for argument in output),
            source=len(source),
            recalled=sum(argument.key in generated_keys for argument in source),
        )
