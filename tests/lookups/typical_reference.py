"""A reference for scores of good examples, by `docs/lines.md`, hit by hit in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import regex

WEIGHTS = {"size": 2, "words": 4, "plain": 3, "usual": 1, "frame": 1}
WRAPS = "\"“”„‟«»‹›‘’'`¿¡()[]{}（）「」『』【】《》"
QUOTES = '"“”„‟«»'
OPENING, CLOSING = "([{（「『【《", ")]}）」』】》"


@dataclass(frozen=True)
class Token:
    """The columns of a CoNLL-U row that scores use; missing ones are empty, a missing head is below 0."""

    form: str
    upos: str = ""
    feats: str = ""
    head: int = -1
    deprel: str = ""
    bits: float | None = None


@dataclass(frozen=True)
class Hit:
    """A hit: its first and last position, from 1, with the data by which hits are ordered."""

    place: tuple[str, int, int, int]
    tokens: Sequence[Token]
    first: int
    last: int
    lowercase: bool = False
    parts: dict[str, float] = field(default_factory=dict)


def is_mark(form: str) -> bool:
    return not regex.search(r"[\p{L}\p{N}]", form)


def is_odd(form: str) -> bool:
    return bool(
        regex.search(r"\p{N}|[@#_/\\=<>|~^*…]|\.\.|www\.", form)
        or (regex.fullmatch(r"\P{L}{2,}", form) and not regex.fullmatch("-+|`+|'+", form))
        or (len(form) > 1 and form == form.upper() != form.lower())
    )


def whole(hit: Hit, *, tags: bool, trees: bool) -> float:
    """Return the share of the checks that a sentence passes."""
    forms = [one.form for one in hit.tokens]
    bare = [form for form in forms if not set(form) <= set(WRAPS)]
    begins = hit.lowercase or bool(bare and not is_mark(bare[0]) and bare[0][0] == bare[0][0].upper())
    ends = bool(bare and regex.search("[.!?…。！？｡؟۔।॥։።]$", bare[-1]))
    text = "".join(forms)
    opened = sum(text.count(one) for one in OPENING) - sum(text.count(one) for one in CLOSING)
    quotes = sum(1 if form in ("``", "''") else sum(form.count(q) for q in QUOTES) for form in forms)
    checks = [begins, ends, opened == 0 and quotes % 2 == 0]
    if tags:
        checks.append(has_verb(hit.tokens, trees=trees))
    return sum(checks) / len(checks)


def has_verb(tokens: Sequence[Token], *, trees: bool) -> bool:
    """Return whether a sentence has a finite verb; in a tree, as its root, or as auxiliary or copula of that."""
    finite = {
        place
        for place, one in enumerate(tokens, 1)
        if one.upos in ("VERB", "AUX") and ("VerbForm=" not in one.feats or "VerbForm=Fin" in one.feats)
    }
    if not trees:
        return bool(finite)
    roots = {place for place, one in enumerate(tokens, 1) if one.head == 0}
    beside = {
        tokens[place - 1].head for place in finite if regex.match("(aux|cop)(:|$)", tokens[place - 1].deprel)
    }
    return bool(roots & (finite | beside))


def needs_context(place: int, one: Token, *, tags: bool) -> bool:
    """Return whether a token needs a context, which good examples should not."""
    if is_odd(one.form):
        return True
    if not tags:
        return one.form[0] != one.form[0].lower() and place > 1
    if one.upos in ("PROPN", "INTJ", "SYM", "X") or (place == 1 and one.upos == "CCONJ"):
        return True
    if not one.feats:
        return one.upos == "PRON"
    personal = "PronType=Prs" in one.feats and "Person=3" in one.feats and "Reflex=Yes" not in one.feats
    return "PronType=Dem" in one.feats or personal


def common(count: int, every: int) -> int:
    """Return how common a word is, in thousandths: 1,000 for ten in a million, 0 for one."""
    return rounded_up(1000 * min(1, max(0, math.log10(1e6 * count / every)))) if count else 0


def closeness(value: float, of_all: Sequence[float]) -> float:
    middle = median(of_all)
    spread = 1.4826 * median(abs(one - middle) for one in of_all)
    z = (value - middle) / spread if spread else 0
    return 1 / (1 + z * z)


def frame(hit: Hit) -> object:
    """Return the relation of the node and the set of its modifiers' relations; ``None`` without a head."""
    inside = range(hit.first, hit.last + 1)
    for place in inside:
        if place > len(hit.tokens):
            return None
        one = hit.tokens[place - 1]
        if one.head >= 0 and one.head not in inside:
            modifiers = {other.deprel for other in hit.tokens if other.head == place} - {"punct"}
            return one.deprel, frozenset(modifiers)
    return None


def scored(hits: Sequence[Hit], counts: Mapping[str, int], *, tags: bool, trees: bool) -> list[Hit]:
    """Return the hits with their partial scores and ``score``, the best ones first.

    Args:
        hits: all hits.
        counts: the frequency of each lower-cased word in the corpora.
        tags, trees: whether the corpora have tags and trees.
    """
    every = sum(counts.values())
    in_sentence = Counter(hit.place[:2] for hit in hits)
    known = [hit for hit in hits if all(one.bits is not None for one in hit.tokens)]
    own = [bits(hit)[0] for hit in known]
    means = [bits(hit)[1] for hit in known]
    frames = Counter(map(frame, hits))
    most = max((count for one, count in frames.items() if one is not None), default=0)
    for hit in hits:
        words = [one for one in hit.tokens if not is_mark(one.form)]
        costs = sum(needs_context(place, one, tags=tags) for place, one in enumerate(hit.tokens, 1))
        costs += in_sentence[hit.place[:2]] - 1
        size, parts = len(hit.tokens), hit.parts
        parts["whole"] = whole(hit, tags=tags, trees=trees)
        parts["size"] = min(1, size / 10, 25 / size)
        values = [common(counts[one.form.lower()], every) for one in words]
        parts["words"] = sum(values) / (1000 * len(words)) if words else 0
        parts["plain"] = max(0, 1 - 2 * costs / len(words)) if words else 0
        if hit in known:
            first, mean = bits(hit)
            parts["usual"] = (closeness(first, own) + closeness(mean, means)) / 2
        if frame(hit) is not None:
            parts["frame"] = math.log(1 + frames[frame(hit)]) / math.log(1 + most)
        for name, value in parts.items():
            parts[name] = rounded_up(1000 * value) / 1000
        there = [name for name in WEIGHTS if name in parts]
        weighted = sum(WEIGHTS[name] * parts[name] for name in there)
        score = 1000 * parts["whole"] * round(weighted, 3) / sum(WEIGHTS[name] for name in there)
        parts["score"] = rounded_up(score) / 1000
    return in_order(hits)


def in_order(hits: Sequence[Hit]) -> list[Hit]:
    """Set the scores of hits in equal sentences to 0, except the best, and sort all hits."""
    said = set[tuple[str, ...]]()
    for hit in sorted(hits, key=lambda one: (-one.parts["score"], one.place)):
        words = tuple(one.form.lower() for one in hit.tokens)
        if words in said:
            hit.parts["score"] = 0.0
        said.add(words)
    return sorted(hits, key=lambda one: (-one.parts["score"], one.place))


def bits(hit: Hit) -> tuple[float, float]:
    """Return the surprisal of the first token, and the mean of the sentence."""
    every = [one.bits or 0.0 for one in hit.tokens]
    return every[hit.first - 1], round(sum(every), 6) / len(every)


def rounded_up(value: float) -> int:
    """Round as SQL does: a half up."""
    return math.floor(value + 0.5)
