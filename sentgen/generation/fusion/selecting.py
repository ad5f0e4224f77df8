"""Global Revision (Wan et al. 2007): one new sentence from a key sentence and related ones.

Content is selected first: all units of the key sentence, and modifiers from the related sentences. A
modifier is a whole phrase that hangs, in a related sentence, on a content word that the key sentence has,
too, and that brings content words of which none is in the key sentence. Subjects, objects and clauses that
complete a verb are no modifiers: a second one would say something else. Salience ranks phrases: the mean,
over their content words, of the number of sentences that have the word. Then any generator puts the words
and phrases in order. The paper holds content selection constant and is about the second step; this
selection is ours, and simple.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from sentgen.case_folding import fold
from sentgen.corpus.base_np import mark_base_nps
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.generation.bag import Unit
from sentgen.generation.bag_reader import TagKind, tagged_units
from sentgen.generation.clusters.casing import decapitalized, lower_initials
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters
from sentgen.generation.clusters.depviterbi import BEAM, best_paths, lattice_of
from sentgen.generation.clusters.supported_kernels import sentence_logp
from sentgen.generation.fusion.answer import FusedSentence, FusionChange, WordOrigin
from sentgen.generation.fusion.inserting import Insertion, Ordered, insertions
from sentgen.generation.fusion.request import WEIGHT, WORDS
from sentgen.generation.plan import Search, plan_search
from sentgen.generation.problem import ROOT
from sentgen.generation.regenerate import order_bags
from sentgen.models.related.cluster_counts import ClusterCounts, TokenReading, cluster_names, count_clusters
from sentgen.models.related.cluster_model import cluster_model
from sentgen.models.related.cluster_trigrams import trigrams
from sentgen.schema import Store

_CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "NN", "VB", "JJ", "RB", "CD")
#: Relations of modifiers, of which a word may have any number; `_` where relations are not named.
_MODIFIERS = frozenset({"acl", "advcl", "advmod", "amod", "appos", "compound", "nmod", "obl", "_"})


_BEFORE_NOUNS = frozenset({"advmod", "amod", "appos", "compound"})
#: Tags of words that open a clause.
_OPENING = frozenset({"ADP", "PART", "PRON", "SCONJ", "IN", "TO", "WDT", "WP", "WP$", "WRB"})


@dataclass(frozen=True, slots=True)
class RelatedPhrase:
    """A modifier from a related sentence; of which ``kind``, its relation says, and what introduces it.

    ``sentence`` is the number of the related sentence, from 1, ``places`` those of its words, from 0,
    ``anchor`` the word that it hangs on, and ``new`` the content words that it brings.
    """

    sentence: int
    places: tuple[int, ...]
    text: str
    anchor: str
    new: frozenset[str]
    salience: float
    kind: str


@dataclass(frozen=True, slots=True)
class FusionContent:
    """What the new sentence is to say: the key sentence, and phrases to add to it, the most salient first."""

    key: Sentence
    related: Sequence[Sentence]
    phrases: Sequence[RelatedPhrase]

    def units(self, tags: TagKind | None = None) -> list[Unit]:
        """Return all words, base noun phrases whole, with tags of a kind."""
        added = (
            _part(decapitalized(self.related[phrase.sentence - 1]), phrase.places) for phrase in self.phrases
        )
        parts = (decapitalized(self.key), *added)
        return [unit for part in parts for unit in tagged_units(part, tags, "np")]

    def words(self) -> list[str]:
        """Return all words as they stand in the sentences."""
        added = [self.related[p.sentence - 1].forms[place] for p in self.phrases for place in p.places]
        return [*self.key.forms, *added]

    def changes(self) -> tuple[FusionChange, ...]:
        """Return the phrases as changes of the key."""
        return tuple(
            FusionChange("added", one.text, one.sentence, one.places, one.anchor) for one in self.phrases
        )

    def fused(self, words: Sequence[str], score: float) -> FusedSentence:
        """Return words in some order as a sentence; of equal words those of the key come first."""
        sources = (
            *(WordOrigin(0, place) for place in range(len(self.key.forms))),
            *(WordOrigin(phrase.sentence, place) for phrase in self.phrases for place in phrase.places),
        )
        free: dict[str, list[WordOrigin]] = {}
        for word, source in zip(self.words(), sources, strict=True):
            free.setdefault(fold(word), []).append(source)
        return FusedSentence(
            tuple(words), score, tuple(free[fold(word)].pop(0) for word in words), self.changes()
        )


def select(key: Sentence, related: Sequence[Sentence], *, words: int = WORDS) -> FusionContent:
    """Choose what is added to a key sentence.

    Phrases are taken by their salience while there is room; of equals the shorter one, then the one that
    comes first. No content word is added twice, and no word gets more modifiers of a kind than it has in one
    of the sentences.

    Args:
        key: with a tree and tags.
        related: likewise.
        words: how many words to add at most.

    Raises:
        InputError: a sentence has no tree or no tags.
    """
    for sentence in (key, *related):
        mark_base_nps(sentence)
    salience = Counter(word for sentence in (key, *related) for word in set(_content(sentence).values()))
    found = [
        phrase
        for number, sentence in enumerate(related, 1)
        for phrase in _phrases(number, sentence, key, salience)
    ]
    # All of the key is needed: salience ties often, and the order decides what still fits.
    found.sort(key=lambda one: (-one.salience, len(one.places), one.sentence, one.places))
    chosen: list[RelatedPhrase] = []
    said: set[str] = set()
    room, free = words, _free(key, related)
    for phrase in found:
        taken = phrase.anchor, phrase.kind
        if len(phrase.places) <= room and said.isdisjoint(phrase.new) and free[taken] > 0:
            chosen.append(phrase)
            said |= phrase.new
            room -= len(phrase.places)
            free[taken] -= 1
    return FusionContent(key, related, chosen)


def _free(key: Sentence, related: Sequence[Sentence]) -> Counter[tuple[str, str]]:
    """Return how many modifiers of each kind a content word of the key may get.

    As many as the word has at most in one of the sentences, less those that it has in the key.
    """
    most: Counter[tuple[str, str]] = Counter()
    for sentence in (key, *related):
        for lemma, taken in _modifiers(sentence):
            for kind, times in taken.items():
                most[lemma, kind] = max(most[lemma, kind], times)
    for lemma, taken in _modifiers(key):
        most.subtract({(lemma, kind): times for kind, times in taken.items()})
    return most


def fuse_with_model(
    store: Store, model: str, selection: FusionContent, search: Search
) -> list[FusedSentence]:
    """Order what was selected with an algorithm of `regenerate`; only sentences that are new.

    Where nothing was added there is none: an order of the key sentence says nothing new.

    Raises:
        NotFoundError: there is no such model.
        InputError: the algorithm is unknown, or there are too many units for it.
        ModelError: it needs trees, and the model's corpora have none.
    """
    if not selection.phrases:
        return []
    # So many answers may be sentences that came in, and are left out.
    asked = replace(search, nbest=search.nbest + 1 + len(selection.related))
    plan = plan_search(store, model, asked)
    found = order_bags(store, plan, [selection.units(plan.tags(store))])
    return _new((selection.fused(one.words, one.score) for one in found), selection)[: search.nbest]


def fuse_by_search(
    selection: FusionContent, *, weight: float = WEIGHT, beam: int | None = None, nbest: int = 1
) -> list[FusedSentence]:
    """Order what was selected by dependency-propagating search, without a model; only sentences that are new.

    Bigrams and dependencies are those of the key and its related sentences; every word is used as often as it
    was selected. Phrases are not kept together. Where nothing was added there is no sentence.

    Args:
        selection: what the sentence is to say.
        weight: of the dependencies beside the bigrams.
        beam: hypotheses for each length and last word.
        nbest: sentences to give, at most.
    """
    if not selection.phrases:
        return []
    counts, forms = _counted(selection, TokenReading())
    wanted = Counter(selection.words())
    limit = np.array([wanted[word] for word in counts.words], np.int32)
    emission = np.where(limit > 0, 0.0, -np.inf)
    lattice = lattice_of(cluster_model(counts), weight=weight, emission=emission, limit=limit)
    length = wanted.total()
    found = best_paths(lattice, [length], nbest=nbest + 1 + len(selection.related), beam=beam)[length]
    fused = (selection.fused([forms[word] for word in path.words], path.logp) for path in found)
    return _new(fused, selection)[:nbest]


def fuse_by_insertion(selection: FusionContent, *, beam: int = BEAM, nbest: int = 1) -> list[FusedSentence]:
    """Put the phrases into the key sentence along its tree, without a model; only sentences that are new.

    The key keeps its order. A phrase stands on the side of its anchor on which it was, where trigrams of the
    key and its related sentences find it most probable. Where nothing was added there is no sentence.

    Args:
        selection: what the sentence is to say.
        beam: sentences to keep after each phrase.
        nbest: sentences to give, at most.
    """
    if not selection.phrases:
        return []
    counts, forms = _counted(selection, TokenReading(trees=True))
    number = {word: i for i, word in enumerate(counts.words)}
    tokens = np.array([number[word] for word in selection.words()], np.int64)
    ngrams = trigrams([tree.words for tree in counts.trees], cluster_model(counts).bigrams)

    def logp(sentence: Ordered) -> float:
        return float(sentence_logp(ngrams, tokens[list(sentence.order)]))

    heads = tuple(head - 1 for head in selection.key.heads or [])
    found = [Ordered(tuple(range(len(heads))), heads, tuple(_relations(selection.key)))]
    for insertion in _insertions(selection):
        tried = {one.order: one for sentence in found for one in insertions(sentence, insertion)}
        # Of equals the one that was found first: a stable sort.
        found = sorted(tried.values(), key=logp, reverse=True)[:beam]
    fused = [selection.fused([forms[tokens[at]] for at in one.order], logp(one)) for one in found]
    return _new(fused, selection)[:nbest]


def _insertions(selection: FusionContent) -> Iterator[Insertion]:
    """Yield the phrases as they hang in their sentences, with the words of the key that they may hang on."""
    content = _content(selection.key)
    for phrase in selection.phrases:
        related = selection.related[phrase.sentence - 1]
        above = [head - 1 for head in related.heads or []]
        within = {place: i for i, place in enumerate(phrase.places)}
        heads = tuple(within.get(above[place], ROOT) for place in phrase.places)
        named = _relations(related)
        top = phrase.places[heads.index(ROOT)]
        behind = above[top] < top
        anchors = tuple(
            place
            for place, lemma in content.items()
            if lemma == phrase.anchor and not (behind and place in _premodifiers(selection.key))
        )
        yield Insertion(anchors, heads, tuple(named[place] for place in phrase.places), behind)


def _counted(selection: FusionContent, reading: TokenReading) -> tuple[ClusterCounts, list[str]]:
    """Count the key and its related sentences; also return the words as written within sentences."""
    sentences = (selection.key, *selection.related)
    with stored_clusters([sentences]) as store:
        (counts,) = count_clusters(store, CORPUS, cluster_names(store, CORPUS), reading)
    # Not before: a search knows from the capitals which words begin a sentence.
    lower = lower_initials(sentences)
    return counts, [lower.get(word, word) for word in counts.words]


def _new(found: Iterable[FusedSentence], selection: FusionContent) -> list[FusedSentence]:
    """Leave out what is one of the sentences that came in."""
    old = {" ".join(sentence.forms).lower() for sentence in (selection.key, *selection.related)}
    return [one for one in found if one.text.lower() not in old]


def _phrases(
    number: int, sentence: Sentence, key: Sentence, salience: Counter[str]
) -> Iterator[RelatedPhrase]:
    """Yield the modifiers of a sentence that could be added to the key."""
    _require_tree(sentence)
    in_key = set(_content(key).values())
    bearers = {lemma for at, lemma in _content(key).items() if at not in _premodifiers(key)}
    content, relations = _content(sentence), _relations(sentence)
    below = _subtrees(sentence.heads or [])
    for place, head in enumerate(sentence.heads or []):
        anchor = content.get(head - 1)
        # Nothing goes between a word that stands before a noun and that noun.
        bearing = in_key if head > place + 1 else bearers
        places = _trimmed(below[place], sentence)
        if anchor not in bearing or relations[place] not in _MODIFIERS:
            continue
        if not places or not _can_move(sentence, place, places[0]):
            continue
        words = {content[at] for at in places if at in content}
        new = frozenset(words - in_key)
        # Mostly new: else the phrase says again what the key says.
        if len(new) > len(words & in_key):
            text = " ".join(sentence.forms[at] for at in places)
            mean = sum(salience[word] for word in new) / len(new)
            yield RelatedPhrase(number, tuple(places), text, str(anchor), new, mean, _kind(sentence, place))


def _premodifiers(sentence: Sentence) -> set[int]:
    """Return the places of adjectives and compounds before their nouns."""
    named = enumerate(zip(sentence.heads or [], _relations(sentence), strict=True))
    return {place for place, (head, name) in named if head > place + 1 and name in ("amod", "compound")}


def _can_move(sentence: Sentence, place: int, first: int) -> bool:
    """Return whether a modifier, whose first word has a place, can stand beside another token of its head.

    Before a noun it has no preposition, and a clause says by its first word or its verb how it hangs on. What
    is not so is rare, and mostly an error of a parser. Without names of relations nobody knows.
    """
    relation, heads = _relations(sentence)[place], sentence.heads or []
    tags = sentence.xpos or sentence.upos or []
    if relation in _BEFORE_NOUNS or relation == "_":
        return True
    opened = tags[first] in _OPENING
    if heads[place] - 1 > place and relation in ("acl", "nmod"):
        return not opened  # the cabinet 's decision
    return relation not in ("acl", "advcl") or opened or tags[place] in ("VBG", "VBN")


def _relations(sentence: Sentence) -> list[str]:
    """Return the relation of each word to its head, without subtypes; `_` where they have no names."""
    return [name.partition(":")[0] for name in sentence.deprels or ["_"] * len(sentence.forms)]


def _kind(sentence: Sentence, place: int) -> str:
    """Return what kind of a modifier a word is: its relation, with what introduces it, as in `obl in`."""
    relations, heads = _relations(sentence), sentence.heads or []
    introduced = (
        form.lower()
        for form, head, relation in zip(sentence.forms, heads, relations, strict=True)
        if head - 1 == place and relation in ("case", "mark")
    )
    return " ".join((relations[place], *islice(introduced, 1)))


def _modifiers(sentence: Sentence) -> Iterator[tuple[str, Counter[str]]]:
    """Yield every content word with the number of its modifiers of each kind."""
    taken = [Counter[str]() for _ in sentence.forms]
    for place, head in enumerate(sentence.heads or []):
        if head:
            taken[head - 1][_kind(sentence, place)] += 1
    for place, lemma in _content(sentence).items():
        yield lemma, taken[place]


def _require_tree(sentence: Sentence) -> None:
    """Refuse a sentence without a tree or tags.

    Raises:
        InputError: what is missing, and what to do.
    """
    if sentence.heads is None or (sentence.upos is None and sentence.xpos is None):
        raise InputError("a sentence without a tree and tags cannot be fused; parse it with --parser")


def _content(sentence: Sentence) -> dict[int, str]:
    """Return the content words of a sentence by place, as lower-cased lemmas."""
    _require_tree(sentence)
    tags = sentence.upos or sentence.xpos or []
    lemmas = sentence.lemmas or sentence.forms
    return {
        place: (form if lemma in ("", "_") else lemma).lower()
        for place, (form, lemma, tag) in enumerate(zip(sentence.forms, lemmas, tags, strict=True))
        if tag in _CONTENT or tag[:2] in _CONTENT[6:]
    }


def _subtrees(heads: Sequence[int]) -> list[list[int]]:
    """Return, for every word, the sorted places of it and all that is below it."""
    below: list[list[int]] = [[] for _ in heads]
    for place in range(len(heads)):
        at = place
        # Each word reports to all its ancestors: quadratic in depth, but without recursion.
        while at >= 0:
            below[at].append(place)
            at = heads[at] - 1
    return below


def _trimmed(places: Sequence[int], sentence: Sentence) -> list[int]:
    """Leave out the punctuation at both ends of a phrase."""
    kept = [at for at in places if any(map(str.isalnum, sentence.forms[at]))]
    return [at for at in places if kept and kept[0] <= at <= kept[-1]]


def _part(sentence: Sentence, places: Collection[int]) -> Sentence:
    """Return a sentence of some of the words, without a tree."""
    return Sentence(
        [sentence.forms[at] for at in places],
        upos=sentence.upos and [sentence.upos[at] for at in places],
        xpos=sentence.xpos and [sentence.xpos[at] for at in places],
        nps=sentence.nps and [sentence.nps[at] for at in places],
    )
