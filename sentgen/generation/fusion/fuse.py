"""One new sentence from a key sentence and related ones, by any algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.corpus.sentence import Sentence
from sentgen.generation.fusion.answer import FusionAnswer
from sentgen.generation.fusion.request import INSERT, FusionRequest
from sentgen.generation.fusion.selecting import fuse_by_insertion, fuse_by_search, fuse_with_model, select
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
        InputError: a sentence has no tree or no tags; the algorithm is unknown, or needs a model.
        NotFoundError: there is no such model.
        ModelError: the algorithm needs trees, and the model's corpora have none.
    """
    asked.check()
    selection = select(key, related, words=asked.words)
    if asked.model is not None:
        if store is None:
            raise ValueError("a model needs a store")
        search = Search(algorithm=asked.chosen, nbest=asked.nbest, seed=asked.seed)
        found = fuse_with_model(store, asked.model, selection, search)
    elif asked.chosen == INSERT:
        found = fuse_by_insertion(selection, nbest=asked.nbest)
    else:
        found = fuse_by_search(selection, weight=asked.weight, nbest=asked.nbest)
    return FusionAnswer(key, related, asked.chosen, selection.changes(), tuple(found))
