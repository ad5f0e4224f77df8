"""What is said of whole clauses: who says so, when and where, a participle, a second verb, another clause.

* What stands before a clause with the same first word and the same verb (*it is known that*) stands before
  the key as well.
* A phrase with its comma before the subject (*at the meeting ,*) goes with a clause that begins with its
  subject, and has no adverbial of the kind.
* A participle at the end (*, causing a collision*) and a second verb (*and lost its way*) need the same
  subject.
* A clause about something else is joined by a marker: `and` where the subjects agree, the second of which is
  left out, else `, while`, the marker of the paper's example. It must have a word in common with the key, or
  nothing shows that it belongs there.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.fusion.revised_tree import RevisedTree, Revision, markers
from sentgen.generation.fusion.sentence_parts import (
    VERSIONS,
    end_of,
    first_word,
    has_said,
    is_clause,
    root_of,
    subject_of,
)
from sentgen.generation.fusion.word_bag import NOUNS, WordBag

_LONGEST_FRAME, _LONGEST_TAIL = 8, 12
#: What a clause has that is no plain statement of the writer.
_NO_STATEMENT = frozenset({"?", "!", '"', "``", "''", ":", ";"})


def attributions(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield what stands before a clause that begins as the key does and has its verb, up to *that*."""
    first, root = first_word(bag, tree), root_of(bag, 0)
    if first is None or first != tree.order[0] or not is_clause(bag, root):
        return
    said = bag.content(tree.order)
    for number in bag.related:
        top = root_of(bag, number)
        for n in bag.modifiers[top]:
            if bag.words[n].relation != "ccomp" or bag.words[n].lemma != bag.words[root].lemma:
                continue
            below = [m for m in bag.below(n) if bag.is_word(m) and bag.words[m].lemma != "that"]
            if not below or bag.words[below[0]].lemma != bag.words[first].lemma:
                continue
            words = tuple(m for m in bag.sentence(number) if m < below[0])
            if top not in words:
                continue
            if bag.words[words[-1]].lemma != "that" or not _is_short(bag, words, _LONGEST_FRAME):
                continue
            if is_clause(bag, top) and not has_said(said, bag.content(words)):
                yield Revision("added", top, words, ROOT, 0)


def frames(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield phrases before the subject, with their comma, for a clause that begins with its subject."""
    first, root = first_word(bag, tree), root_of(bag, 0)
    subject = subject_of(bag, root, tree.modifiers(root))
    if first is None or subject is None or not is_clause(bag, root) or first not in tree.below(subject):
        return
    said = bag.content(tree.order)
    for number in bag.related:
        for n in bag.modifiers[root_of(bag, number)]:
            words, start = bag.phrase(n), bag.sentence(number)[0]
            if bag.words[n].relation != "obl" or bag.words[start].tag not in ("ADP", "SCONJ"):
                continue
            if not words or words[0] != start or not _is_short(bag, words, _LONGEST_FRAME):
                continue
            comma = bag.neighbor(words[-1], 1)
            if comma is None or bag.words[comma].form != "," or _has_rival(bag, tree, n):
                continue
            new = bag.content(words)
            if new and not has_said(said, new):
                yield Revision("added", n, (*words, comma), root, tree.order.index(first))


def _is_short(bag: WordBag, words: tuple[int, ...], most: int) -> bool:
    """Return whether there are not too many words, and no punctuation among them."""
    return len(words) <= most and all(bag.is_word(n) or bag.words[n].form == "-" for n in words)


def _has_rival(bag: WordBag, tree: RevisedTree, top: int) -> bool:
    """Return whether the tree has an adverbial like a phrase that the sentence of the phrase has not."""
    known = bag.content(bag.sentence(bag.words[top].sentence))
    return any(
        bag.words[n].lemma not in known
        for n in tree.words
        if bag.words[n].subtype in ("tmod", "npmod")
        or (bag.words[n].relation == "obl" and bag.introduced(n) == bag.introduced(top))
        or (bag.words[n].relation == "advmod" and bag.words[n].tag == "ADV")
    )


def tails(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield participles and second verbs at the ends of sentences whose subject is that of the key."""
    root = root_of(bag, 0)
    subject = subject_of(bag, root, tree.modifiers(root))
    if subject is None or not is_clause(bag, root):
        return
    said = bag.content(tree.order)
    for number in bag.related:
        top = root_of(bag, number)
        other = subject_of(bag, top, bag.modifiers[top])
        if other is None or bag.words[other].lemma != bag.words[subject].lemma:
            continue
        last = max((n for n in bag.sentence(number) if bag.is_word(n)), default=ROOT)
        for n in bag.modifiers[top]:
            words = bag.phrase(n)
            if not words or words[-1] != last or not _is_short(bag, words, _LONGEST_TAIL):
                continue
            new = bag.content(words)
            if not new or has_said(said, new):
                continue
            comma = bag.neighbor(words[0], -1)
            if comma is not None and bag.words[comma].form == "," and _is_participle(bag, n, words):
                yield Revision("conjoined", n, (comma, *words), root, end_of(bag, tree))
            elif _is_second_verb(bag, n, words) and bag.words[n].fine == bag.words[root].fine:
                yield Revision("conjoined", n, words, root, end_of(bag, tree))


def _is_participle(bag: WordBag, n: int, words: tuple[int, ...]) -> bool:
    return bag.words[n].relation == "advcl" and n == words[0] and bag.words[n].fine == "VBG"


def _is_second_verb(bag: WordBag, n: int, words: tuple[int, ...]) -> bool:
    """Return whether a phrase is *and* and a verb of the same form as the first one, with its subject."""
    word = bag.words[n]
    return (
        word.relation == "conj"
        and word.tag == "VERB"
        and bag.words[words[0]].lemma == "and"
        and n <= words[0] + 2
        and word.fine == bag.words[word.head].fine
        and subject_of(bag, n, bag.modifiers[n]) is None
    )


def clauses(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield whole clauses to join to a key that has none by now."""
    root = root_of(bag, 0)
    if not is_clause(bag, root) or any(change.kind == "conjoined" for change in tree.changes):
        return
    subject = subject_of(bag, root, tree.modifiers(root))
    said = bag.content(tree.order)
    for number in bag.related:
        top, words = root_of(bag, number), _statement(bag, number)
        other = subject_of(bag, top, bag.modifiers[top])
        content = bag.content(words)
        shared = len(content & said)
        # What shares more is another version of the key.
        if not shared or shared >= VERSIONS * min(len(content), len(said)):
            continue
        if other is None or bag.words[other].tag not in NOUNS or not is_clause(bag, top):
            continue
        named, end = bag.phrase(other), end_of(bag, tree)
        agree = subject is not None and bag.words[subject].lemma == bag.words[other].lemma
        if agree and named and named == words[: len(named)]:
            yield Revision("conjoined", top, words[len(named) :], root, end, markers("and"))
        else:
            yield Revision("conjoined", top, words, root, end, markers(",", "while"))


def _statement(bag: WordBag, number: int) -> tuple[int, ...]:
    """Return a sentence without punctuation at its ends and what joins it to the one before, or ()."""
    words = [n for n in bag.sentence(number) if bag.is_word(n)]
    while words and bag.words[words[0]].tag == "CCONJ":
        words = words[1:]
    if not words or any(bag.words[n].form in _NO_STATEMENT for n in bag.sentence(number)):
        return ()
    return tuple(range(words[0], words[-1] + 1))
