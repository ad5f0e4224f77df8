"""One new sentence from a key sentence and related ones, by any algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.corpus.sentence import Sentence
from sentgen.generation.fusion.answer import FusedSentence, FusionAnswer
from sentgen.generation.fusion.evidence import of_model, of_sentences
from sentgen.generation.fusion.reordering import FusionContent, ordered_by_search, ordered_with_model
from sentgen.generation.fusion.request import DEPVITERBI, REVISE, FusionRequest
from sentgen.generation.fusion.revising import revised_keys
from sentgen.generation.fusion.word_bag import bag_of
from sentgen.generation.plan import Search
from sentgen.schema import Store


def fused_sentences(
    key: Sentence, related: Sequence[Sentence], asked: FusionRequest, store: Store | None = None
) -> FusionAnswer:
    """Make new sentences of a key sentence and related ones.

    Args:
        key: with a tree and tags.
        related: likewise.
        asked: what to do.
        store: where its model is; needed if it names one, else not looked at.

    Raises:
        InputError: a sentence has no tree or no tags; there are too many different words; the algorithm is
            unknown, or needs a model.
        NotFoundError: there is no such model.
        ModelError: the algorithm needs trees, and the model's corpora have none.
    """
    asked.check()
    sentences = (key, *related)
    bag = bag_of(sentences)
    evidence = of_sentences(bag) if asked.model is None else of_model(_given(store), asked.model, bag)
    nbest = asked.nbest + len(sentences) if asked.algorithm == REVISE else 1
    trees = revised_keys(bag, evidence.weights, evidence.fluency, words=asked.words, nbest=nbest)
    if not trees:
        return FusionAnswer(key, related, asked.algorithm, (), ())
    contents = [FusionContent(sentences, bag, tree) for tree in trees]
    found: list[FusedSentence]
    if asked.algorithm == REVISE:
        found = [content.revised() for content in contents]
    elif asked.algorithm == DEPVITERBI or asked.model is None:
        found = ordered_by_search(contents[0], weight=asked.weight, nbest=asked.nbest)
    else:
        search = Search(algorithm=asked.algorithm, nbest=asked.nbest, seed=asked.seed)
        found = ordered_with_model(_given(store), asked.model, contents[0], search)
    old = {" ".join(sentence.forms).lower() for sentence in sentences}
    new = [one for one in found if one.text.lower() not in old]
    return FusionAnswer(key, related, asked.algorithm, trees[0].changes, tuple(new[: asked.nbest]))


def _given(store: Store | None) -> Store:
    if store is None:
        raise ValueError("a model needs a store")
    return store
