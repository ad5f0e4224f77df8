"""The sentence that every reader yields and everything downstream consumes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

#: CoNLL's mark for a value that is not there.
ABSENT = "_"
#: Marks that end a sentence, in all scripts.
FINAL_MARKS = ".!?…。！？｡।॥؟۔።։"
#: Symbols that the language model owns; a corpus may not use them as words (`<unk>` it may).
RESERVED = frozenset({"<s>", "</s>", "<root>"})

#: Parts of speech of Universal Dependencies 2.
_UNIVERSAL = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UNIVERSAL_TAGS = frozenset(_UNIVERSAL.split())


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A stretch of tokens that a source marks; two of the same kind and attributes are two regions."""

    kind: str
    attributes: tuple[tuple[str, str], ...] = ()


class Mark(NamedTuple):
    """Where a region begins or ends: behind so many tokens of a sentence, or characters of a raw text."""

    place: int
    region: Region
    begins: bool


class EmptyNode(NamedTuple):
    """A node of an enhanced graph that is no word: the ``minor``-th one after the word at ``position``.

    ``columns`` are those of CoNLL-U from FORM to MISC. ``behind_range`` says that it stands behind the line
    of a multiword range that begins with the next word.
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
    # Tuples: the garbage collector lets go of them, and most sentences have the same empty one.
    deps: tuple[str, ...] | None = None
    misc: tuple[str, ...] | None = None
    multiwords: list[tuple[int, int, str]] = field(default_factory=list)
    ranges: tuple[tuple[int, list[str]], ...] = ()
    empty_nodes: tuple[EmptyNode, ...] = ()
    sent_id: str = ""
    text: str = ""
    metadata: list[str] = field(default_factory=list)
    # How it was written is no part of what it says.
    comments: str | None = field(default=None, compare=False)
    verbatim: tuple[str, ...] = field(default=(), compare=False)
    document: str | None = None
    line: int = 0
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class RawText:
    """A paragraph, or a sentence, that is still to be split into tokens.

    ``line`` is the line on which it begins, ``starts`` the offsets at which its lines begin, 0 first.
    ``whole`` says that it is one sentence, whatever a segmenter finds in it.
    ``document`` is set where a document begins, as in `Sentence`, and ``metadata`` belongs to its first
    sentence. ``marks`` are those of regions, as in `Sentence`, but behind characters of the text.
    ``language`` is what its source says, as a code of ISO 639; what is asked for goes first.
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
        """Return the line on which a character stands."""
        return self.line + bisect_right(self.starts, offset) - 1
