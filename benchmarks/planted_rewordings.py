"""Rewordings of copied sentences that need no model, for `planted_changes.py`: cuts, and other function words."""

from __future__ import annotations

import random
from dataclasses import replace

from planted_texts import column
from planting import SHORTEST, Planted, Summary, Word

from sentgen.corpus.sentence import Sentence

#: Function words that are written otherwise, and those that are left out, where they have this part of speech.
_OTHERWISE = {
    "a": "the",
    "an": "the",
    "because": "as",
    "although": "though",
    "which": "that",
    "while": "whereas",
    "upon": "on",
    "within": "in",
}
_LEFT_OUT = {
    ("the", "DET"),
    ("that", "SCONJ"),
    ("also", "ADV"),
    ("very", "ADV"),
    ("just", "ADV"),
    ("really", "ADV"),
    ("then", "ADV"),
}
_CUT = {"advcl", "obl", "conj", "parataxis", "advmod", "discourse", "acl"}


def reworded(summary: Summary, seed: int = 1) -> Summary:
    """Return a summary of the same changes in sentences that are not copies."""
    rng = random.Random(f"{seed} {summary.text.key} {[one.words for one in summary.sentences]}")
    sentences = tuple(reword(one, summary.text.sentences[one.sentence], rng) for one in summary.sentences)
    return replace(summary, sentences=sentences)


def reword(one: Planted, sentence: Sentence, rng: random.Random) -> Planted:
    """Cut clauses or adverbials off both ends, and change or leave out half of some function words."""
    keep = {word.source for word in one.words if word.mark and word.source is not None}
    keep |= set(range(len(sentence.forms))) - {word.source for word in one.words if word.source is not None}
    gone = _cut_off(sentence, keep)
    words = list[Word]()
    for word in one.words:
        if word.source is None or word.mark:
            words.append(word)
        elif word.source not in gone:
            form, tag = word.form.lower(), column(sentence.upos)[word.source]
            if (form, tag) in _LEFT_OUT and rng.random() < 0.5:
                continue
            if form in _OTHERWISE and rng.random() < 0.5:
                word = Word(_OTHERWISE[form], None, "reworded")
            words.append(word)
    while not (words[0].mark or words[0].form[0].isalnum() or words[0].source == 0):
        del words[0]
    first = words[0]
    words[0] = replace(first, form=first.form[:1].upper() + first.form[1:])
    return replace(one, words=tuple(words))


def _cut_off(sentence: Sentence, keep: set[int]) -> set[int]:
    """Return the words of the longest clause or adverbial at the beginning, and of the one at the end.

    Each of them is no more than half of the sentence, and has none of the words to keep.
    """
    size, forms = len(sentence.forms), sentence.forms
    last = size - 1 if not forms[-1][-1].isalnum() else size
    gone = set[int]()
    for cut_at_end in (False, True):
        best = range(0)
        for at, relation in enumerate(column(sentence.deprels)):
            span = _span(sentence, at)
            if relation.partition(":")[0] not in _CUT or span is None or keep & set(span):
                continue
            if cut_at_end and span.stop == last and span.start > 0:
                start = span.start - (forms[span.start - 1] in (",", ";", "–", "-"))
                span = range(start, span.stop)
            elif not cut_at_end and span.start == 0 and forms[span.stop : span.stop + 1] == [","]:
                span = range(span.stop + 1)
            else:
                continue
            if 2 <= len(span) <= size / 2 and len(span) > len(best) and not gone & set(span):
                best = span
        if size - len(gone) - len(best) >= SHORTEST - 2:
            gone |= set(best)
    return gone - keep


def _span(sentence: Sentence, at: int) -> range | None:
    """Return the words below a word and itself, ``None`` if others stand between them."""
    heads = column(sentence.heads)
    inside, waiting = {at}, [at]
    while waiting:
        head = waiting.pop() + 1
        below = [one for one, of in enumerate(heads) if of == head and one not in inside]
        inside.update(below)
        waiting += below
    span = range(min(inside), max(inside) + 1)
    return span if len(span) == len(inside) else None
