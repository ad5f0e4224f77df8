"""A whole model in memory: the scores are those of the n-grams of each part of a text."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_store
from toy_corpus import add_corpus

from sentgen.models import build, registry
from sentgen.models.ngrams import whole_model
from sentgen.models.ngrams.whole_model import ModelReader
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

WORDS = ["the", "a", "dog", "cat", "on", "mat", "sees", "old", "zebra", "ünknown"]


def texts(seed: int, size: int) -> list[list[str]]:
    draw = random.Random(seed)
    return [draw.choices(WORDS, k=draw.randint(0, 9)) for _ in range(size)]


@pytest.mark.parametrize(
    "settings",
    [
        {"order": 5},
        {"order": 3, "smoothing": "katz"},
        {"order": 1},
        {"order": 4, "min_count": (1, 2, 3)},
        {"order": 3, "unknown": "none"},
        {"order": 3, "smoothing": "stupid-backoff"},
    ],
    ids=str,
)
def test_scores_are_the_same(store: Store, settings: dict[str, Any]) -> None:
    """In one part, for which nothing is read whole, and in many; of a model that reads counts, too."""
    add_corpus(store, "c", [words for words in texts(1, 60) if words])
    model = build(store, "m", ["c"], **settings)
    text = texts(2, 80)
    parts = [*score_sentences(store, model, text, max_tokens=7)]
    at_once = [*score_sentences(store, model, text)]

    assert len(parts) == len(at_once) == 80
    for one, other in zip(parts, at_once, strict=True):
        assert one.words == other.words
        assert (one.log10, one.oov, one.log10_oov) == pytest.approx((other.log10, other.oov, other.log10_oov))
        assert one.logps.tolist() == pytest.approx(other.logps.tolist())


def test_a_model_without_prefixes(tmp_path: Path) -> None:
    """As a pruned ARPA file may be: what is missing is made up, by both alike."""
    ngrams = toy_store.backoff_model(toy_store.SENTENCES, 4)
    pruned = {gram: value for gram, value in ngrams.items() if gram not in (("on", "the"), ("the", "cat"))}
    with Store(tmp_path / "s.duckdb", create=True) as store:
        model = toy_store.fill(store, pruned)
        parts, at_once = (
            [one.log10 for one in score_sentences(store, model, toy_store.SENTENCES, max_tokens=most)]
            for most in (3, 1000)
        )

    assert parts == pytest.approx(at_once)


def test_when_it_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, where more text follows; not if it is too large for the text, or for the memory."""
    add_corpus(store, "c", [words for words in texts(1, 60) if words])
    model = build(store, "m", ["c"], order=3)
    stream = np.array([1, 2], np.int32)
    ngrams = sum(registry.count_ngrams(store, model).values())

    many = np.tile(stream, ngrams)
    reader = ModelReader(store, model)
    own = reader.logps(stream)
    assert not reader.is_whole
    reader.read_whole(len(many))
    assert reader.is_whole
    assert reader.logps(many).tolist() == own.tolist() * ngrams
    assert reader.logps(stream) == own

    short = ModelReader(store, model)
    monkeypatch.setattr(whole_model, "_MOST_NGRAMS", 1)
    short.read_whole(len(stream))
    assert not short.is_whole
    assert short.logps(stream) == own
    monkeypatch.setattr(whole_model, "_BYTES", 10**15)
    tight = ModelReader(store, model)
    tight.read_whole(len(many))
    assert not tight.is_whole
    assert tight.logps(many).tolist() == own.tolist() * ngrams
