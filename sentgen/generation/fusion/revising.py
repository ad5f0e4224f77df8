"""Global Revision (Wan et al. 2007): the tree of the key grows by units of the related sentences.

As in Prim's algorithm, all possible links wait, and the best of them is made: its unit joins the tree, and
offers places of its own. The weight of a link is

    log prob(head, unit, side) + log p_arg(head, n + 1, side) + log salience

with the models of the paper: the probability of the link, and the probability that the head, which has n
modifiers on that side so far, has one more. Salience is the mean share of the sentences that have the content
words of the unit; a clause has nothing else, and a unit that replaces another adds no modifier. The possible
links of phrases are those of `adding`; this module has those of clauses and of noun phrases that name a thing
more precisely. A unit with several places is put where n-grams find it most probable.

Ties go to the unit with fewer words, then to the unit from the earlier sentence.

How likely one word governs another, and how many modifiers a word has, are the models of Wan et al. 2007:
probabilities of links by Collins' back-off from words to tags, and of the number of modifiers that a word has
on a side (see `sentgen.models.dependency.dependencies`). Without a model of a store they are counted in the
key and its related sentences, over lemmas.

Added clauses and parts of clauses are attributions, times and places, participles, second verbs, whole
clauses:

* Words before a clause with the same first word and the same verb (*it is known that*) are put before the
key. * A phrase with its comma before the subject (*at the meeting ,*) goes with a clause that begins with its
  subject, and has no adverbial of the kind.
* A participle at the end (*, causing a collision*) and a second verb (*and lost its way*) need the same
  subject.
* A clause about something else is joined by a marker: `and` where the subjects agree, the second of which is
  left out, else `, while`, the marker of the paper's example. It must have a word in common with the key, or
  nothing shows that it belongs there.

Noun phrases are replaced by others that name the same thing more precisely. The same thing, as far as one can
tell: nouns of the same form that hang alike, on the same preposition, or both as subjects or objects. More
precisely is what

* says by a noun of which kind it is, where the other describes it by adjectives (*inaccessible areas*,
  *conflict areas*); where sentences are versions of each other, both may be meant, and it is added instead;
* in versions, has an article where the other has none, and says more (*export products*, *the staple export
  products*), which cannot just be added;
* in versions, is a noun phrase before a verb, where the other is a pronoun before the same verb.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import Protocol

import numpy as np

from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.fusion.adding import Adding, Between
from sentgen.generation.fusion.word_bag import (
    ARTICLES,
    NOUNS,
    BagWord,
    RevisedTree,
    Revision,
    WordBag,
    begin_alike,
    markers,
)
from sentgen.models.dependency.dependencies import FLOOR, UnitDependencies, backed_off


class LinkWeights(Protocol):
    """Weights of links between words of a bag; words are given as numbers."""

    def link(self, head: int, modifier: int, side: int) -> float:
        """Return the log-probability that a word governs another on its left or right."""

    def arguments(self, head: int, side: int, count: int) -> float:
        """Return the probability that a word has so many modifiers on a side."""


class CountedLinks:
    """Weights by counts in the sentences of a bag."""

    def __init__(self, bag: WordBag) -> None:
        self.bag = bag
        self.links: Counter[tuple[str, str, int]] = Counter()
        self.together: Counter[tuple[str, str]] = Counter()
        self.counts: Counter[tuple[str, int, int]] = Counter()
        self.tokens: Counter[str] = Counter()
        for number in (0, *bag.related):
            self._count(bag.sentence(number))

    def _count(self, sentence: range) -> None:
        words = self.bag.words
        for one, other in permutations(sentence, 2):
            self.together.update(_levels(words[one], words[other]))
        for n in sentence:
            head = words[n].head
            if head != ROOT:
                side = RIGHT if n > head else LEFT
                self.links.update((*pair, side) for pair in _levels(words[head], words[n]))
            sides = [0, 0]
            for m in self.bag.modifiers[n]:
                sides[RIGHT if m > n else LEFT] += 1
            for name in (words[n].lemma, f"/{words[n].tag}"):
                self.tokens[name] += 1
                self.counts.update((name, side, sides[side]) for side in (LEFT, RIGHT))

    def link(self, head: int, modifier: int, side: int) -> float:
        """Return the log-probability that a word governs another one on a side."""
        pairs = list(_levels(self.bag.words[head], self.bag.words[modifier]))
        rel = [self.links[*pair, side] for pair in pairs]
        co = [self.together[pair] for pair in pairs]
        # Tag with word and word with tag are one level.
        probability = backed_off((rel[0], rel[1] + rel[2], rel[3]), (co[0], co[1] + co[2], co[3]))
        return float(np.log(max(probability, FLOOR)))

    def arguments(self, head: int, side: int, count: int) -> float:
        """Return the probability that a word has so many modifiers on a side, backed off to its tag."""
        word = self.bag.words[head]
        total, tag = self.tokens[word.lemma], f"/{word.tag}"
        share = total / (total + 1)
        return share * self.counts[word.lemma, side, count] / max(total, 1) + (1 - share) * (
            self.counts[tag, side, count] / max(self.tokens[tag], 1)
        )


def _levels(head: BagWord, modifier: BagWord) -> Iterator[tuple[str, str]]:
    """Yield a pair as words, tag and word, word and tag, and tags."""
    yield head.lemma, modifier.lemma
    yield f"/{head.tag}", modifier.lemma
    yield head.lemma, f"/{modifier.tag}"
    yield f"/{head.tag}", f"/{modifier.tag}"


class ModelLinks:
    """Weights of the treebanks of a model."""

    def __init__(self, dependencies: UnitDependencies) -> None:
        self.found = dependencies

    def link(self, head: int, modifier: int, side: int) -> float:
        """Return the log-probability that a word governs another one on a side."""
        return float(self.found.prob[head + 1, modifier, side])

    def arguments(self, head: int, side: int, count: int) -> float:
        """Return the probability that a word has so many modifiers on a side."""
        return float(self.found.arguments[head + 1, side, min(count, 7)])


#: The log-probability of the words of a tree in order.
Fluency = Callable[[tuple[int, ...]], float]


def revised_keys(
    bag: WordBag, weights: LinkWeights, fluency: Fluency, *, words: int, nbest: int = 1
) -> list[RevisedTree]:
    """Return trees of the key with units of the related sentences, the best one first; none if none fits.

    Each tree begins with a different link, the first tree with the best one.

    Args:
        fluency: log-probability of words in their order.
        words: most words to add.
        nbest: most trees to return.
    """
    key = bag.tree_of_key()
    versions = _are_versions(bag)

    def grown(tree: RevisedTree) -> list[RevisedTree]:
        most = words - (len(tree.words) - len(key.words))
        return _ranked(bag, tree, weights, fluency, versions=versions, most=most)

    trees: dict[tuple[int, ...], RevisedTree] = {}
    for tree in grown(key):
        while larger := grown(tree):
            tree = larger[0]
        trees.setdefault(tree.order, tree)
        if len(trees) == nbest:
            break
    return list(trees.values())


def _possible(bag: WordBag, tree: RevisedTree, *, versions: bool) -> Iterator[Revision]:
    """Yield all possible links to a tree.

    If the sentences are not versions of each other, a shared verb or neighbor is no evidence, but a clause of
    another sentence has other content.
    """
    if versions:
        yield from Between(bag, tree).revisions()
        yield from _attributions(bag, tree)
        yield from _frames(bag, tree)
        yield from _tails(bag, tree)
    else:
        yield from _clauses(bag, tree)
    yield from Adding(bag, tree).revisions(verbs=versions)
    yield from _replacements(bag, tree, versions=versions)


def _ranked(
    bag: WordBag, tree: RevisedTree, weights: LinkWeights, fluency: Fluency, *, versions: bool, most: int
) -> list[RevisedTree]:
    """Return a tree for each possible link, the best first, with the unit at its best place."""
    best: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[float, float], RevisedTree]] = {}
    for link in _possible(bag, tree, versions=versions):
        # No word twice: a part of a clause may have been added before.
        if len(link.words) - len(link.gone) > most or not tree.heads.keys().isdisjoint(link.words):
            continue
        weight = _link_weight(bag, tree, link, weights)
        larger = tree.revised(bag, link, weight)
        rank = weight, fluency(larger.order)
        known = best.get((link.words, link.gone))
        if known is None or rank > known[0]:
            best[link.words, link.gone] = rank, larger
    ranked = sorted(best.items(), key=lambda item: (-item[1][0][0], len(item[0][0]), item[0]))
    return [larger for _, (_, larger) in ranked]


def _link_weight(bag: WordBag, tree: RevisedTree, revision: Revision, weights: LinkWeights) -> float:
    """Return the weight of a link, a natural logarithm."""
    # Salience: the mean share of the sentences that have the content words of the unit.
    having, head = [bag.found_in[lemma] for lemma in bag.content(revision.words)], revision.anchor
    weight = math.log(sum(having) / max(1, len(having)) / (1 + len(bag.related)))
    if head == ROOT or revision.kind == "conjoined":
        return weight
    there = tree.order.index(head)
    side = LEFT if revision.at <= there else RIGHT
    weight += weights.link(head, revision.top, side)
    if revision.gone:
        return weight
    count = sum((tree.order.index(n) > there) == (side == RIGHT) for n in tree.modifiers(head))
    return weight + math.log(max(weights.arguments(head, side, count + 1), FLOOR))


_LONGEST_FRAME, _LONGEST_TAIL = 8, 12
#: Punctuation of clauses that are not plain statements of the writer.
_NO_STATEMENT = frozenset({"?", "!", '"', "``", "''", ":", ";"})


def _attributions(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield the words, up to *that*, before a clause that begins as the key does and has its verb."""
    first, root = _first_word(bag, tree), _root_of(bag, 0)
    if first is None or first != tree.order[0] or not _is_clause(bag, root):
        return
    known = bag.content(tree.order)
    for number in bag.related:
        top = _root_of(bag, number)
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
            if _is_clause(bag, top) and not _overlap(known, bag.content(words)):
                yield Revision("added", top, words, ROOT, 0)


def _frames(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield phrases before the subject, with their comma, for a clause that begins with its subject."""
    first, root = _first_word(bag, tree), _root_of(bag, 0)
    subject = _subject_of(bag, root, tree.modifiers(root))
    if first is None or subject is None or not _is_clause(bag, root) or first not in tree.below(subject):
        return
    content_of_tree = bag.content(tree.order)
    for number in bag.related:
        for n in bag.modifiers[_root_of(bag, number)]:
            words, start = bag.phrase(n), bag.sentence(number)[0]
            if bag.words[n].relation != "obl" or bag.words[start].tag not in ("ADP", "SCONJ"):
                continue
            if not words or words[0] != start or not _is_short(bag, words, _LONGEST_FRAME):
                continue
            comma = bag.neighbor(words[-1], 1)
            if comma is None or bag.words[comma].form != "," or _has_rival(bag, tree, n):
                continue
            new = bag.content(words)
            if new and not _overlap(content_of_tree, new):
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


def _tails(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield participles and second verbs at the ends of sentences whose subject is that of the key."""
    root = _root_of(bag, 0)
    subject = _subject_of(bag, root, tree.modifiers(root))
    if subject is None or not _is_clause(bag, root):
        return
    known = bag.content(tree.order)
    for number in bag.related:
        top = _root_of(bag, number)
        other = _subject_of(bag, top, bag.modifiers[top])
        if other is None or bag.words[other].lemma != bag.words[subject].lemma:
            continue
        last = max((n for n in bag.sentence(number) if bag.is_word(n)), default=ROOT)
        for n in bag.modifiers[top]:
            words = bag.phrase(n)
            if not words or words[-1] != last or not _is_short(bag, words, _LONGEST_TAIL):
                continue
            new = bag.content(words)
            if not new or _overlap(known, new):
                continue
            comma = bag.neighbor(words[0], -1)
            if comma is not None and bag.words[comma].form == "," and _is_participle(bag, n, words):
                yield Revision("conjoined", n, (comma, *words), root, _end_of(bag, tree))
            elif _is_second_verb(bag, n, words) and bag.words[n].fine == bag.words[root].fine:
                yield Revision("conjoined", n, words, root, _end_of(bag, tree))


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
        and _subject_of(bag, n, bag.modifiers[n]) is None
    )


def _clauses(bag: WordBag, tree: RevisedTree) -> Iterator[Revision]:
    """Yield whole clauses to join to a key that has none by now."""
    root = _root_of(bag, 0)
    if not _is_clause(bag, root) or any(change.kind == "conjoined" for change in tree.changes):
        return
    subject = _subject_of(bag, root, tree.modifiers(root))
    content_of_tree = bag.content(tree.order)
    for number in bag.related:
        top, words = _root_of(bag, number), _statement(bag, number)
        other = _subject_of(bag, top, bag.modifiers[top])
        content = bag.content(words)
        shared = len(content & content_of_tree)
        # What shares more is another version of the key.
        if not shared or shared >= _VERSIONS * min(len(content), len(content_of_tree)):
            continue
        if other is None or bag.words[other].tag not in NOUNS or not _is_clause(bag, top):
            continue
        named, end = bag.phrase(other), _end_of(bag, tree)
        agree = subject is not None and bag.words[subject].lemma == bag.words[other].lemma
        if agree and named and named == words[: len(named)]:
            yield Revision("conjoined", top, words[len(named) :], root, end, markers("and"))
        else:
            yield Revision("conjoined", top, words, root, end, markers(",", "while"))


def _statement(bag: WordBag, number: int) -> tuple[int, ...]:
    """Return a sentence without punctuation at its ends and conjunctions at its begin, or ()."""
    words = [n for n in bag.sentence(number) if bag.is_word(n)]
    while words and bag.words[words[0]].tag == "CCONJ":
        words = words[1:]
    if not words or any(bag.words[n].form in _NO_STATEMENT for n in bag.sentence(number)):
        return ()
    return tuple(range(words[0], words[-1] + 1))


#: Content words that two sentences share, of those of the shorter one, if they say the same in other words.
_VERSIONS = 0.25
_SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


def _root_of(bag: WordBag, sentence: int) -> int:
    return next(n for n in bag.sentence(sentence) if bag.words[n].head == ROOT)


def _subject_of(bag: WordBag, verb: int, modifiers: Iterable[int]) -> int | None:
    """Return the subject of a verb among its modifiers, if it stands before it."""
    return next((n for n in modifiers if bag.words[n].relation in _SUBJECTS and n < verb), None)


def _is_clause(bag: WordBag, top: int) -> bool:
    """Return whether a word heads a clause that can stand alone, with a subject, and a verb with a tense."""
    modifiers = bag.modifiers[top]
    if _subject_of(bag, top, modifiers) is None:
        return False
    verbs = [bag.words[n] for n in (top, *modifiers) if bag.words[n].tag in ("VERB", "AUX")]
    # Where there are universal tags alone, a verb with a subject is taken to have a tense.
    return any(verb.fine in _FINITE or verb.fine == verb.tag for verb in verbs)


def _overlap(known: set[str], content: Iterable[str]) -> bool:
    """Return whether two sets of lemmas share a lemma, or have lemmas that begin alike."""
    return any(begin_alike(one, other) for one in content for other in known)


def _are_versions(bag: WordBag) -> bool:
    """Return whether half of the related sentences are paraphrases of the key."""
    key = bag.content(bag.sentence(0))
    alike = 0
    for number in bag.related:
        other = bag.content(bag.sentence(number))
        shared = sum(_overlap(other, [one]) for one in key)
        alike += shared >= _VERSIONS * max(1, min(len(key), len(other)))
    return 2 * alike >= len(bag.related)


def _first_word(bag: WordBag, tree: RevisedTree) -> int | None:
    """Return the first word of a tree that is no punctuation."""
    return next((n for n in tree.words if bag.is_word(n)), None)


def _end_of(bag: WordBag, tree: RevisedTree) -> int:
    """Return the place behind the last word of a tree."""
    return max((at for at, n in enumerate(tree.order, 1) if n >= 0 and bag.is_word(n)), default=0)


_LONGEST = 6
_PRONOUNS = {"he": False, "she": False, "they": True}


def _replacements(bag: WordBag, tree: RevisedTree, *, versions: bool) -> Iterator[Revision]:
    for noun in tree.words:
        if bag.words[noun].tag in NOUNS:
            yield from _noun_phrases(bag, tree, noun, versions=versions)
        elif versions and bag.words[noun].lemma in _PRONOUNS and bag.words[noun].relation == "nsubj":
            yield from _subjects(bag, tree, noun)


def _noun_phrases(bag: WordBag, tree: RevisedTree, noun: int, *, versions: bool) -> Iterator[Revision]:
    mine, word = bag.base_phrase(tree.modifiers, noun), bag.words[noun]
    at = tree.order.index(mine[0]) if mine else 0
    if not mine or tree.order[at : at + len(mine)] != mine:
        return
    content_of_tree = bag.content(tree.order)
    for other in bag.of_form[word.form]:
        if bag.words[other].sentence == word.sentence or other in tree.heads:
            continue
        words = bag.base_phrase(bag.modifiers.__getitem__, other)
        if not 2 <= len(words) <= _LONGEST or not _hang_alike(bag, noun, other):
            continue
        new = bag.content(words) - bag.content(mine)
        if not new or _overlap(content_of_tree, new):
            continue
        if _says_more(bag, mine, words) if versions else _says_kind(bag, mine, words):
            yield Revision("replaced", other, words, tree.heads[noun], at, gone=mine)


def _hang_alike(bag: WordBag, noun: int, other: int) -> bool:
    """Return whether two words have the same preposition, or the same relation without one."""
    mine, theirs = bag.introduced(noun), bag.introduced(other)
    if mine or theirs:
        return mine == theirs
    same = bag.words[noun].relation == bag.words[other].relation
    return (
        same and bag.words[noun].plural == bag.words[other].plural and bag.words[noun].relation != "compound"
    )


def _says_more(bag: WordBag, mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether one phrase has all words of the other, a new one, and an article of its own."""
    known = {bag.words[n].lemma for n in theirs}
    first, other = bag.words[mine[0]], bag.words[theirs[0]]
    # With the same article, or with none, the words are added.
    if other.relation != "det" or other.lemma not in ARTICLES or first.lemma == other.lemma:
        return False
    if first.relation == "det" and first.lemma not in ARTICLES:
        return False
    if any(bag.words[n].tag in ("PRON", "PART", "PUNCT", "ADV", "DET") for n in (*mine[1:], *theirs[1:])):
        return False
    return all(bag.words[n].lemma in known for n in _described(bag, mine)) and len(theirs) > len(mine)


def _described(bag: WordBag, words: tuple[int, ...]) -> list[int]:
    return [n for n in words[:-1] if bag.says_something(n)]


def _says_kind(bag: WordBag, mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether one phrase has a noun where the other has adjectives, and both the same article."""

    def articles(words: tuple[int, ...]) -> list[str]:
        return [bag.words[n].lemma for n in words[:-1] if not bag.says_something(n)]

    described = [bag.words[n] for n in _described(bag, mine)]
    return (
        bool(described)
        and all(one.tag == "ADJ" and one.relation == "amod" for one in described)
        and all(bag.words[n].relation == "compound" for n in _described(bag, theirs))
        and articles(mine) == articles(theirs)
    )


def _subjects(bag: WordBag, tree: RevisedTree, pronoun: int) -> Iterator[Revision]:
    """Yield subjects for a pronoun before the same verb, where the verbs have more in common."""
    verb = tree.heads[pronoun]
    content_of_tree, mine = bag.content(tree.order), bag.content(tree.below(verb))
    for other, word in enumerate(bag.words):
        if word.sentence == bag.words[verb].sentence or word.lemma != bag.words[verb].lemma:
            continue
        subject = _subject_of(bag, other, bag.modifiers[other])
        if subject is None or bag.words[subject].tag not in NOUNS or bag.words[subject].relation != "nsubj":
            continue
        words = bag.phrase(subject)
        several = bag.words[subject].plural
        if not words or len(words) > _LONGEST or not all(map(bag.is_word, words)):
            continue
        shared = mine & bag.content(bag.below(other)) - {word.lemma}
        if (
            several == _PRONOUNS[bag.words[pronoun].lemma]
            and shared
            and not _overlap(content_of_tree, bag.content(words))
        ):
            yield Revision("replaced", subject, words, verb, tree.order.index(pronoun), gone=(pronoun,))
