"""The sentence that every reader yields and everything downstream consumes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

#: Symbols that the language model owns; a corpus may not use them as words (`<unk>` it may).
RESERVED = frozenset({"<s>", "</s>", "<root>"})


@dataclass(slots=True)
class Sentence:
    """One sentence, a column a list; columns that a format does not have are ``None``.

    All lists have the length of ``forms``. ``heads`` are 1-based positions, 0 is the root.
    ``nps`` number the base noun phrases 1, 2, ... from left to right; 0 is a token outside every base NP.
    ``document`` is set on the first sentence of a document and ``None`` on the following ones.
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
    multiwords: list[tuple[int, int, str]] = field(default_factory=list)
    empty_nodes: int = 0
    sent_id: str = ""
    text: str = ""
    metadata: list[str] = field(default_factory=list)
    document: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class RawText:
    """A paragraph, or a sentence, that is still to be split into tokens.

    ``line`` is the line on which it begins, ``starts`` the offsets at which its lines begin, 0 first.
    ``whole`` says that it is one sentence, whatever a segmenter finds in it.
    ``document`` is set where a document begins, as in `Sentence`.
    """

    text: str
    line: int
    starts: tuple[int, ...] = (0,)
    whole: bool = False
    document: str | None = None

    def line_at(self, offset: int) -> int:
        """Return the line on which a character stands."""
        return self.line + bisect_right(self.starts, offset) - 1
