"""What revision goes by, of sentences or of a model: weights of links, and the probability of an order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Longs
from sentgen.case_folding import fold
from sentgen.errors import InputError
from sentgen.generation.bags.problem import string_logp
from sentgen.generation.clusters.supported_kernels import sentence_logp
from sentgen.generation.fusion.link_weights import CountedLinks, LinkWeights, ModelLinks
from sentgen.generation.fusion.revised_tree import MARKERS, form_of
from sentgen.generation.fusion.revising import Fluency
from sentgen.generation.fusion.word_bag import WordBag
from sentgen.models.base import registry
from sentgen.models.base.symbols import require_words
from sentgen.models.dependency.dependencies import prefetch_dependencies
from sentgen.models.dependency.tagging import has_trees, tag_set, treebanks_of
from sentgen.models.related.cluster_counts import MAX_WORDS
from sentgen.models.related.cluster_model import katz
from sentgen.models.related.cluster_trigrams import trigrams
from sentgen.models.submodel import lowercases, prefetch
from sentgen.schema import Store


class Evidence(NamedTuple):
    """What links are worth, and how probable words are in order."""

    weights: LinkWeights
    fluency: Fluency


def of_sentences(bag: WordBag) -> Evidence:
    """Return the links and trigrams of the key and its related sentences.

    Raises:
        InputError: they have more than `MAX_WORDS` different words: their bigrams are a square of these.
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
    ngrams = trigrams(coded, katz(counts))

    def fluency(order: tuple[int, ...]) -> float:
        words: Longs = np.array([number[fold(form_of(bag, n))] for n in order], np.int64)
        return float(sentence_logp(ngrams, words))

    return Evidence(CountedLinks(bag), fluency)


def of_model(store: Store, name: str, bag: WordBag) -> Evidence:
    """Return the n-grams of a model, and the links of its treebanks; those of the sentences if it has none.

    Raises:
        NotFoundError: there is no such model.
        ModelError: the model is not over words.
    """
    model = registry.find(store, name)
    require_words(model.name, model.symbols)
    lower = lowercases(store, model)

    def cased(form: str) -> str:
        return fold(form) if lower else form

    forms = [*(cased(word.form) for word in bag.words), *MARKERS]
    submodel = prefetch(store, model, [forms], tags={word.fine for word in bag.words})
    coded = submodel.encode(forms, [*(word.fine for word in bag.words), ",", "IN", "CC"])

    def fluency(order: tuple[int, ...]) -> float:
        places = [n if n >= 0 else len(bag.words) - 2 - n for n in order]
        return string_logp(submodel.table, coded[places])

    if not has_trees(store, model, "word"):
        return Evidence(CountedLinks(bag), fluency)
    corpora = treebanks_of(store, model, None, "word")
    tags = [word.fine if tag_set(store, corpora) == "xpos" else word.tag for word in bag.words]
    words = [(cased(word.form), tag) for word, tag in zip(bag.words, tags, strict=True)]
    (found,) = prefetch_dependencies(store, corpora, "word", [words])
    return Evidence(ModelLinks(found), fluency)
