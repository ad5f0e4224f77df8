"""The words of a revised key in another order: by the search of 2005, or by an algorithm with a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.case_folding import fold
from sentgen.corpus.base_np import mark_base_nps
from sentgen.corpus.sentence import Sentence
from sentgen.generation.bags.bag_reader import tagged_units
from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.casing import lower_initials
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters
from sentgen.generation.clusters.depviterbi import best_paths, lattice_of
from sentgen.generation.fusion.answer import FusedSentence, WordOrigin
from sentgen.generation.fusion.revised_tree import RevisedTree, form_of
from sentgen.generation.fusion.word_bag import WordBag
from sentgen.generation.plan import Search, plan_search
from sentgen.generation.regenerate import order_bags
from sentgen.models.related.cluster_counts import TokenReading, cluster_names, count_clusters
from sentgen.models.related.cluster_model import cluster_model
from sentgen.schema import Store

_MARKER_TAGS = (("PUNCT", ","), ("SCONJ", "IN"), ("CCONJ", "CC"))


@dataclass(frozen=True, slots=True)
class FusionContent:
    """What a new sentence is to say: the words of a revised key."""

    sentences: Sequence[Sentence]
    bag: WordBag
    tree: RevisedTree

    def fused(self, words: Sequence[str], score: float) -> FusedSentence:
        """Return words in some order as a sentence; of equal words the earliest sentence's come first."""
        free: dict[str, list[int]] = {}
        for n in sorted(self.tree.order, key=lambda n: (n < 0, n)):
            free.setdefault(fold(form_of(self.bag, n)), []).append(n)
        numbers = [free[fold(word)].pop(0) for word in words]
        return FusedSentence(tuple(words), score, origins(self.bag, numbers), self.tree.changes)

    def revised(self) -> FusedSentence:
        """Return the words as revision ordered them."""
        words = tuple(form_of(self.bag, n) for n in self.tree.order)
        return FusedSentence(words, self.tree.score, origins(self.bag, self.tree.order), self.tree.changes)

    def sentence(self) -> Sentence:
        """Return the revised key with its tree."""
        order = self.tree.order
        place = {n: at for at, n in enumerate(order, 1)}
        heads = []
        for at, n in enumerate(order):
            # Markers hang on the clause that follows them.
            top = n if n >= 0 else next(m for m in order[at:] if m >= 0)
            while n < 0 and self.tree.heads[top] != ROOT and place[self.tree.heads[top]] > at:
                top = self.tree.heads[top]
            heads.append(place[top] if n < 0 else place.get(self.tree.heads[n], 0))
        known = [self.bag.words[n] if n >= 0 else None for n in order]
        tags = [
            (word.tag, word.fine) if word else _MARKER_TAGS[-2 - n]
            for word, n in zip(known, order, strict=True)
        ]
        names = [
            f"{word.relation}:{word.subtype}" if word and word.subtype else word.relation if word else "mark"
            for word in known
        ]
        sentence = Sentence(
            [form_of(self.bag, n) for n in order],
            upos=[tag for tag, _ in tags],
            xpos=[fine for _, fine in tags],
            heads=heads,
            deprels=names,
        )
        mark_base_nps(sentence)
        return sentence


def origins(bag: WordBag, numbers: Sequence[int]) -> tuple[WordOrigin | None, ...]:
    """Return where words are from."""
    return tuple(WordOrigin(bag.words[n].sentence, bag.words[n].place) if n >= 0 else None for n in numbers)


def ordered_with_model(
    store: Store, model: str, content: FusionContent, search: Search
) -> list[FusedSentence]:
    """Order the words with an algorithm of `regenerate`, base noun phrases whole.

    Raises:
        NotFoundError: there is no such model.
        InputError: the algorithm is unknown, or there are too many units for it.
        ModelError: it needs trees, and the model's corpora have none.
    """
    # So many answers may be sentences that came in, and are left out.
    plan = plan_search(store, model, replace(search, nbest=search.nbest + len(content.sentences)))
    found = order_bags(store, plan, [tagged_units(content.sentence(), plan.tags(store), "np")])
    return [content.fused(one.words, one.score) for one in found]


def ordered_by_search(content: FusionContent, *, weight: float, nbest: int) -> list[FusedSentence]:
    """Order the words by dependency-propagating search, without markers, which no sentence has.

    Bigrams and dependencies are those of the key and its related sentences; phrases are not kept together.

    Args:
        content: what the sentence is to say.
        weight: of the dependencies beside the bigrams.
        nbest: sentences to give, at most.
    """
    with stored_clusters([content.sentences]) as store:
        (counts,) = count_clusters(store, CORPUS, cluster_names(store, CORPUS), TokenReading())
    lower = lower_initials(content.sentences)
    wanted = Counter(
        content.sentences[content.bag.words[n].sentence].forms[content.bag.words[n].place]
        for n in content.tree.order
        if n >= 0
    )
    limit = np.array([wanted[word] for word in counts.words], np.int32)
    emission = np.where(limit > 0, 0.0, -np.inf)
    lattice = lattice_of(cluster_model(counts), weight=weight, emission=emission, limit=limit)
    length = wanted.total()
    found = best_paths(lattice, [length], nbest=nbest + len(content.sentences))[length]
    forms = [lower.get(word, word) for word in counts.words]
    return [content.fused([forms[word] for word in path.words], path.logp) for path in found]
