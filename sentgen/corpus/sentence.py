"""The sentence, with its regions, which all readers yield and all other parts of the program take."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

#: CoNLL's mark for a missing value.
ABSENT = "_"
#: Marks that end a sentence, in all scripts.
FINAL_MARKS = ".!?…。！？｡।॥؟۔።։"
#: Symbols of the language model, which no word of a corpus may be; `<unk>` may be one.
RESERVED = frozenset({"<s>", "</s>", "<root>"})

#: Parts of speech of Universal Dependencies 2.
_UNIVERSAL = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UNIVERSAL_TAGS = frozenset(_UNIVERSAL.split())


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A span of tokens that a source marks; two of the same kind and attributes are two regions."""

    kind: str
    attributes: tuple[tuple[str, str], ...] = ()


class Mark(NamedTuple):
    """Begin or end of a region, after a number of tokens of a sentence, or of characters of a raw text."""

    place: int
    region: Region
    begins: bool


class EmptyNode(NamedTuple):
    """A node of an enhanced graph that is no word: the ``minor``-th one after the word at ``position``.

    ``columns`` are those of CoNLL-U from FORM to MISC. ``behind_range``: whether its line comes after that of
    a multiword range that begins with the next word.
    """

    position: int
    minor: int
    columns: list[str]
    behind_range: bool = False


@dataclass(slots=True)
class Sentence:
    """One sentence, a column a list; columns that a format does not have are ``None``.

    All lists have the length of ``forms``. ``heads`` are 1-based positions, 0 is the root.
    ``nps`` number the base noun phrases 1, 2, ... from left to right; 0 is a token outside every base NP.
    ``document`` is set on the first sentence of a document and ``None`` on the following ones.
    ``metadata`` are comments such as `speaker = Ann`; those of a document begin with `meta::` and stand at
    its first sentence. ``deps`` are edges of the enhanced graph, and ``misc`` what is said of a word beyond
    ``space_after``, both as CoNLL-U writes them, `_` for nothing. ``ranges`` has the columns from LEMMA to
    MISC of the multiwords (by their first word) that say more than their form and the space after them.
    ``comments`` is the order of the comments, a letter each (`sentgen.corpus.comments`), ``None`` if they
    are not from a file; ``verbatim`` are those whose spelling the fields do not give back.
    ``marks`` are the begins and ends of regions, in their order: one that ends behind 0 tokens ends with the
    sentence before, and one that begins behind all of them begins with the next.
    """

    forms: list[str]
    lemmas: list[str] | None = None
    upos: list[str] | None = None
    xpos: list[str] | None = None
    feats: list[str] | None = None
    heads: list[int] | None = None
    deprels: list[str] | None = None
    nps: list[int] | None = None
    space_after: list[bool] | None = None
    # Tuples, as the garbage collector stops tracking them, and most sentences share the empty one.
    deps: tuple[str, ...] | None = None
    misc: tuple[str, ...] | None = None
    multiwords: list[tuple[int, int, str]] = field(default_factory=list)
    ranges: tuple[tuple[int, list[str]], ...] = ()
    empty_nodes: tuple[EmptyNode, ...] = ()
    sent_id: str = ""
    text: str = ""
    metadata: list[str] = field(default_factory=list)
    # Sentences are equal however their comments were written.
    comments: str | None = field(default=None, compare=False)
    verbatim: tuple[str, ...] = field(default=(), compare=False)
    document: str | None = None
    line: int = 0
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class RawText:
    """A paragraph or a sentence that is not tokenised yet.

    ``line`` is the line on which it begins, ``starts`` the offsets at which its lines begin, 0 first.
    ``whole``: whether it is one sentence, which is not segmented.
    ``document`` is set where a document begins, as in `Sentence`, and ``metadata`` belongs to its first
    sentence. ``marks`` are those of regions, as in `Sentence`, but placed by characters of the text.
    ``language`` is the one that its source names, as a code of ISO 639; a language other than English that
    the user names takes precedence.
    """

    text: str
    line: int
    starts: tuple[int, ...] = (0,)
    whole: bool = False
    document: str | None = None
    metadata: list[str] = field(default_factory=list)
    marks: tuple[Mark, ...] = ()
    language: str = ""

    def line_at(self, offset: int) -> int:
        """Return the line of the character at an offset."""
        return self.line + bisect_right(self.starts, offset) - 1
