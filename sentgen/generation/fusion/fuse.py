"""One new sentence from a key sentence and related ones, by any algorithm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Longs
from sentgen.case_folding import fold
from sentgen.corpus.base_np import mark_base_nps
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.generation.bags.bag_reader import tagged_units
from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.casing import decapitalized
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters
from sentgen.generation.clusters.depviterbi import best_paths, lattice_of
from sentgen.generation.clusters.supported import sentence_logp
from sentgen.generation.fusion.answer import (
    DEPVITERBI,
    REVISE,
    FusedSentence,
    FusionAnswer,
    FusionRequest,
    WordOrigin,
)
from sentgen.generation.fusion.revising import CountedLinks, Fluency, LinkWeights, ModelLinks, revised_keys
from sentgen.generation.fusion.word_bag import MARKERS, RevisedTree, WordBag
from sentgen.generation.plan import Search
from sentgen.generation.regenerate import order_bags
from sentgen.models.base import registry
from sentgen.models.dependency.cluster_counts import MAX_WORDS, ClusterCounts, TokenReading, cluster_names
from sentgen.models.dependency.cluster_model import ClusterModel, Trigrams, katz
from sentgen.models.dependency.dependencies import prefetch_dependencies
from sentgen.models.dependency.tagging import has_trees, tag_set, treebanks_of
from sentgen.models.submodel import lowercases, prefetch
from sentgen.schema import Store


def fused_sentences(
    key: Sentence, related: Sequence[Sentence], request: FusionRequest, store: Store | None = None
) -> FusionAnswer:
    """Make new sentences of a key sentence and related ones.

    Args:
        key: the key sentence, with a tree and tags.
        related: likewise.
        store: store with the model; needed only if the request names a model.

    Raises:
        InputError: a sentence has no tree or no tags; there are too many different words; the algorithm is
            unknown, or needs a model.
        NotFoundError: there is no such model.
        ModelError: the algorithm needs trees, and the model's corpora have none.
    """
    request.check()
    sentences = (key, *related)
    bag = WordBag.of_sentences(sentences)
    if request.model is None:
        evidence = of_sentences(bag)
    elif store is None:
        raise ValueError("a model needs a store")
    else:
        evidence = _of_model(store, request.model, bag)
    nbest = request.nbest + len(sentences) if request.algorithm == REVISE else 1
    trees = revised_keys(bag, *evidence, words=request.words, nbest=nbest)
    if not trees:
        return FusionAnswer(key, related, request.algorithm, (), ())
    contents = [FusionContent(sentences, bag, tree) for tree in trees]
    sentences_made: list[FusedSentence]
    # This many answers may equal input sentences, and be left out.
    most = request.nbest + len(sentences)
    if request.algorithm == REVISE:
        sentences_made = [content.revised() for content in contents]
    elif request.algorithm == DEPVITERBI or request.model is None or store is None:
        sentences_made = _ordered_by_search(contents[0], weight=request.weight, nbest=most)
    else:
        # Base noun phrases stay whole.
        plan = Search(algorithm=request.algorithm, nbest=most, seed=request.seed).plan(store, request.model)
        units = tagged_units(contents[0].sentence(), plan.tags(store), "np")
        ordered = order_bags(store, plan, [units])
        sentences_made = [contents[0].fused(each.words, each.score) for each in ordered]
    known = {" ".join(sentence.forms).lower() for sentence in sentences}
    new: dict[str, FusedSentence] = {}
    for made in sentences_made:
        # Equal words of two sentences make the same sentence.
        if (text := made.text.lower()) not in known:
            new.setdefault(text, made)
    best = tuple(new.values())[: request.nbest]
    return FusionAnswer(key, related, request.algorithm, trees[0].changes, best)


#: Weights of links, and probabilities of words in order.
_Evidence = tuple[LinkWeights, Fluency]


def of_sentences(bag: WordBag) -> _Evidence:
    """Return the links and trigrams of the key and its related sentences.

    Raises:
        InputError: the sentences have more than `MAX_WORDS` different words: their bigrams are a square of
            these.
    """
    forms = sorted({fold(word.form) for word in bag.words} | set(MARKERS))
    if len(forms) > MAX_WORDS:
        raise InputError(
            f"key and related sentences have {len(forms):,} different words, and {MAX_WORDS:,} are the limit;"
            " give sentences that belong together, a few of a document"
        )
    number = {form: i for i, form in enumerate(forms)}
    # The markers stand alone once, so that they have a probability.
    texts = [bag.sentence(n) for n in (0, *bag.related)]
    coded = [np.array([number[fold(bag.words[n].form)] for n in text], np.int64) for text in texts]
    coded += [np.array([number[marker]], np.int64) for marker in MARKERS]
    counts = np.zeros((len(forms) + 1, len(forms) + 1), np.int64)
    for text in coded:
        padded = np.concatenate(([len(forms)], text, [len(forms)]))
        np.add.at(counts, (padded[:-1], padded[1:]), 1)
    ngrams = Trigrams.estimate(coded, katz(counts))

    def fluency(order: tuple[int, ...]) -> float:
        words: Longs = np.array([number[fold(bag.form_of(n))] for n in order], np.int64)
        return float(sentence_logp(ngrams, words))

    return CountedLinks(bag), fluency


def _of_model(store: Store, name: str, bag: WordBag) -> _Evidence:
    """Return the n-grams of a model, and the links of its treebanks; those of the sentences if it has none.

    Raises:
        NotFoundError: there is no such model.
        ModelError: the model is not over words.
    """
    model = registry.find(store, name)
    model.symbols.require_words(model.name)
    lower = lowercases(store, model)

    def cased(form: str) -> str:
        return fold(form) if lower else form

    forms = [*(cased(word.form) for word in bag.words), *MARKERS]
    submodel = prefetch(store, model, [forms], tags={word.fine for word in bag.words})
    coded = submodel.encode(forms, [*(word.fine for word in bag.words), ",", "IN", "CC"])

    def fluency(order: tuple[int, ...]) -> float:
        places = [n if n >= 0 else len(bag.words) - 2 - n for n in order]
        return submodel.table.sentence_logp(coded[places])

    if not has_trees(store, model, "word"):
        return CountedLinks(bag), fluency
    corpora = treebanks_of(store, model, None, "word")
    tags = [word.fine if tag_set(store, corpora) == "xpos" else word.tag for word in bag.words]
    words = [(cased(word.form), tag) for word, tag in zip(bag.words, tags, strict=True)]
    (dependencies,) = prefetch_dependencies(store, corpora, "word", [words])
    return ModelLinks(dependencies), fluency


_MARKER_TAGS = (("PUNCT", ","), ("SCONJ", "IN"), ("CCONJ", "CC"))


@dataclass(frozen=True, slots=True)
class FusionContent:
    """The content of a new sentence: the words of a revised key."""

    sentences: Sequence[Sentence]
    bag: WordBag
    tree: RevisedTree

    def fused(self, words: Sequence[str], score: float) -> FusedSentence:
        """Return words in an order as a sentence; ties of equal words go to the earliest sentence."""
        free: dict[str, list[int]] = {}
        for n in sorted(self.tree.order, key=lambda n: (n < 0, n)):
            free.setdefault(fold(self.bag.form_of(n)), []).append(n)
        numbers = [free[fold(word)].pop(0) for word in words]
        return FusedSentence(tuple(words), score, _origins(self.bag, numbers), self.tree.changes)

    def revised(self) -> FusedSentence:
        """Return the words in the order of the revision."""
        words = tuple(self.bag.form_of(n) for n in self.tree.order)
        return FusedSentence(words, self.tree.score, _origins(self.bag, self.tree.order), self.tree.changes)

    def sentence(self) -> Sentence:
        """Return the revised key with its tree."""
        order = self.tree.order
        position_of = {n: at for at, n in enumerate(order, 1)}
        heads = []
        for at, n in enumerate(order):
            # The head of a marker is the clause that follows it.
            top = n if n >= 0 else next(m for m in order[at:] if m >= 0)
            while n < 0 and self.tree.heads[top] != ROOT and position_of[self.tree.heads[top]] > at:
                top = self.tree.heads[top]
            heads.append(position_of[top] if n < 0 else position_of.get(self.tree.heads[n], 0))
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
            [self.bag.form_of(n) for n in order],
            upos=[tag for tag, _ in tags],
            xpos=[fine for _, fine in tags],
            heads=heads,
            deprels=names,
        )
        mark_base_nps(sentence)
        return sentence


def _origins(bag: WordBag, numbers: Sequence[int]) -> tuple[WordOrigin | None, ...]:
    """Return the sentence and position of each word, ``None`` for a word of no sentence."""
    return tuple(WordOrigin(bag.words[n].sentence, bag.words[n].place) if n >= 0 else None for n in numbers)


def _ordered_by_search(content: FusionContent, *, weight: float, nbest: int) -> list[FusedSentence]:
    """Order the words by dependency-propagating search, without markers, which no sentence has.

    Bigrams and dependencies are those of the key and its related sentences; phrases are not kept together.

    Args:
        content: the words of the sentence.
        weight: weight of the dependencies; the bigrams have 1 - weight.
        nbest: most sentences to return.
    """
    with stored_clusters([content.sentences]) as store:
        (counts,) = ClusterCounts.of_corpus(store, CORPUS, cluster_names(store, CORPUS), TokenReading())
    lower = _lower_initials(content.sentences)
    wanted = Counter(
        content.sentences[content.bag.words[n].sentence].forms[content.bag.words[n].place]
        for n in content.tree.order
        if n >= 0
    )
    limit = np.array([wanted[word] for word in counts.words], np.int32)
    emission = np.where(limit > 0, 0.0, -np.inf)
    lattice = lattice_of(ClusterModel.estimate(counts), weight=weight, emission=emission, limit=limit)
    length = wanted.total()
    paths = best_paths(lattice, [length], nbest=nbest)[length]
    forms = [lower.get(word, word) for word in counts.words]
    return [content.fused([forms[word] for word in path.words], path.logp) for path in paths]


def _lower_initials(sentences: Iterable[Sentence]) -> dict[str, str]:
    """Return words that have a capital only for beginning a sentence, with their lower-case forms."""
    initial: dict[str, str] = {}
    others: set[str] = set()
    for sentence in sentences:
        for form, lower in zip(sentence.forms, decapitalized(sentence).forms, strict=True):
            if form == lower:
                others.add(form)
            else:
                initial[form] = lower
    return {form: lower for form, lower in initial.items() if form not in others}
