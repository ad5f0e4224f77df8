"""Limits on the sizes of input, and the named checks that every sentence must pass.

The identifier of the failed check is stored with every rejected sentence; ``CHECKS`` describes all checks,
with those of the formats (``columns``, ``bracket``, ...). All algorithms are iterative and linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.corpus.encodings import without_c1
from sentgen.corpus.sentence import RESERVED, Sentence
from sentgen.errors import Rejection
from sentgen.output.wording import quantity


@dataclass(kw_only=True)
class InputLimits:
    """Largest sizes of input; anything larger is refused. There is one, which tests narrow.

    ``ratio`` (expanded bytes over compressed bytes) counts once ``ratio_from`` bytes are expanded, so that a
    small, repetitive file is no bomb. ``expanded_bytes`` is per file or archive member.
    ``stream_bytes`` limits the copy of a pipe or device on disk, as some devices have no end.
    """

    line_length: int = 5_000_000
    field_length: int = 4_096
    sentence_tokens: int = 10_000
    expanded_bytes: int = 32 * 2**30
    stream_bytes: int = 4 * 2**30
    ratio: float = 100.0
    ratio_from: int = 16 * 2**20
    archive_members: int = 100_000

    def too_long(self, path: str, line: int) -> Rejection:
        """Return the rejection of a block with more tokens than a sentence may have."""
        return Rejection(path, line, "", "sentence-length", f"more than {self.sentence_tokens} tokens")


LIMITS = InputLimits()
#: Controls beyond ASCII; those of ASCII are refused where bytes are read. U+0085 is white space.
_CONTROL = re.compile("[\x80-\x84\x86-\x9f]")
#: Bytes in UTF-8 of these controls and of U+0085; a text without a match has no such control.
CONTROL_BYTES = re.compile(rb"\xc2[\x80-\x9f]")

#: Every check, with what it guarantees.
CHECKS: dict[str, str] = {
    "bracket": "Brackets are balanced and every tree node has a label.",
    "chunk-tag": "A chunk tag is O, B-TYPE or I-TYPE.",
    "column-length": "Every column of a sentence has one value for each token.",
    "columns": "A line has all columns of its format and no other, none empty; a list is of one kind.",
    "comment": "Comments stand before the first token of their sentence.",
    "control-character": "No form or name has control characters or lone surrogates.",
    "document-id": "Each row of a table has an id, and no other has the same.",
    "empty-form": "No token is empty or only white space.",
    "empty-sentence": "A sentence has at least one token.",
    "field-length": "No field is longer than the limit.",
    "head-cycle": "Following the heads from any token ends at the root.",
    "head-number": "A head is a whole number, written in plain digits.",
    "head-range": "A head is 0 or the position of a token of the sentence.",
    "head-self": "No token is its own head.",
    "id-range": "A multiword range covers following tokens and overlaps no other range.",
    "id-sequence": "Token numbers run 1, 2, 3, ...; empty nodes follow their token as n.1, n.2, ...",
    "json": "A line is a JSON object with `tokens`, `text` or `sentences` of the documented types.",
    "merge": "The tokens of the dependency file and of the bracketed file are the same words.",
    "np-order": "Base noun phrases are contiguous and numbered 1, 2, ... from left to right.",
    "reserved-symbol": "No form is a symbol of the language models: <s>, </s> or <root>.",
    "root-count": "Exactly one token has head 0.",
    "sentence-length": "A sentence has no more tokens than the limit.",
    "tag": "A tagged token is written word/TAG.",
    "text": "Each row of a table has a text.",
}


def check(sentence: Sentence) -> tuple[str, str] | None:
    """Return the first failed check of a sentence and its message, or ``None`` for a good sentence."""
    forms = sentence.forms
    if not forms:
        return "empty-sentence", "the sentence has no token"
    # Before the checks that look at each token.
    if len(forms) > LIMITS.sentence_tokens:
        return "sentence-length", f"{len(forms)} tokens; the limit is {LIMITS.sentence_tokens}"
    if not all(map(str.strip, forms)):
        position = next(i for i, form in enumerate(forms, 1) if not form.strip())
        return "empty-form", f"token {position} is empty"
    if not RESERVED.isdisjoint(forms):
        position, form = next((i, form) for i, form in enumerate(forms, 1) if form in RESERVED)
        return "reserved-symbol", f"token {position} is {form}, a symbol of the language models; rename it"
    return _check_columns(sentence) or check_heads(sentence.heads) or _check_nps(sentence.nps)


def _check_columns(sentence: Sentence) -> tuple[str, str] | None:
    size = len(sentence.forms)
    for name in ("forms", "lemmas", "upos", "xpos", "feats", "deprels"):
        column: list[str] | None = getattr(sentence, name)
        if column is None:
            continue
        if len(column) != size:
            return "column-length", f"{len(column)} of {name} for {quantity(size, 'token')}"
        # Joining the values is the fastest way to rule out long values and control characters.
        joined = "".join(column)
        if not joined.isascii() and _CONTROL.search(joined):
            return _control_in(column, name)
        if len(joined) > LIMITS.field_length and max(map(len, column)) > LIMITS.field_length:
            position = next(i for i, value in enumerate(column, 1) if len(value) > LIMITS.field_length)
            length = len(column[position - 1])
            return (
                "field-length",
                f"token {position} has {length} characters in {name}; the limit is {LIMITS.field_length}",
            )
    for name in ("heads", "nps", "space_after"):
        values: list[int] | None = getattr(sentence, name)
        if values is not None and len(values) != size:
            return "column-length", f"{len(values)} of {name} for {quantity(size, 'token')}"
    return None


def _control_in(column: Sequence[str], name: str) -> tuple[str, str]:
    position, match = next(
        (i, match) for i, value in enumerate(column, 1) if (match := _CONTROL.search(value))
    )
    message = f"token {position} has the control character U+{ord(match[0]):04X} in {name}; remove it"
    if (written := without_c1(match[0])) != match[0]:
        message += f", or write {written}, as it is in Windows-1252"
    return "control-character", message


def check_heads(heads: list[int] | None) -> tuple[str, str] | None:
    """Return the first failed check of heads and its message, or ``None`` if they are a tree."""
    if heads is None:
        return None
    size = len(heads)
    if min(heads) < 0 or max(heads) > size:
        position = next(i for i, head in enumerate(heads, 1) if not 0 <= head <= size)
        return (
            "head-range",
            f"token {position} has head {heads[position - 1]} in a sentence of {quantity(size, 'token')}",
        )
    # After the check of the range, so that no head leads outside the sentence.
    on_cycle = _find_cycle(heads)
    if on_cycle is not None and heads[on_cycle - 1] == on_cycle:
        return "head-self", f"token {on_cycle} is its own head"
    roots = heads.count(0)
    if roots != 1:
        return "root-count", f"{roots} tokens have head 0; exactly one must"
    if on_cycle is not None:
        return "head-cycle", f"token {on_cycle} is below itself"
    return None


def _find_cycle(heads: list[int]) -> int | None:
    """Return the position of some token on a cycle of heads, or ``None``; linear and iterative.

    >>> _find_cycle([2, 0, 2]), _find_cycle([0, 3, 2])
    (None, 2)
    """
    seen = [0] * (len(heads) + 1)
    seen[0] = -1
    for start in range(1, len(heads) + 1):
        node = start
        while not seen[node]:
            seen[node] = start
            node = heads[node - 1]
        # A node of this walk, so a cycle; nodes of earlier walks lead to the root.
        if seen[node] == start:
            return node
    return None


def _check_nps(nps: list[int] | None) -> tuple[str, str] | None:
    if nps is None:
        return None
    latest = previous = 0
    for position, number in enumerate(nps, 1):
        if number and number != previous:
            if number != latest + 1:
                return "np-order", f"token {position} is in base NP {number} after base NP {latest}"
            latest = number
        previous = number
    return None
