"""A laid-out model: it gives the scores of a model whose n-grams are read from the store."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from toy_corpus import add_corpus

from sentgen.models import ModelInfo, build, export_arpa, import_arpa, remove
from sentgen.models.mix import MixRequest
from sentgen.models.ngrams import laid_out
from sentgen.models.ngrams.laid_out import use_of
from sentgen.models.ngrams.model_reader import ModelReader
from sentgen.models.scoring import SentenceScore, score_sentences
from sentgen.models.submodel import prefetch
from sentgen.schema import Store, folders

WORDS = ["the", "a", "dog", "cat", "on", "mat", "sees", "old", "zebra"]
#: Unknown words, and symbols that are no words of a text.
STRANGERS = ["ünknown", "The", "dogs", "<unk>", "<s>", "</s>"]


def texts(words: list[str], size: int) -> list[list[str]]:
    draw = random.Random(1)
    return [draw.choices(words, k=draw.randint(0, 9)) for _ in range(size)]


@pytest.fixture
def corpus(store: Store) -> Store:
    add_corpus(store, "c", filter(None, texts([*WORDS, "Dog"], 60)))
    return store


@pytest.fixture
def in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small models laid out in files, too."""
    monkeypatch.setattr(laid_out, "_IN_MEMORY", 0)


def scored(store: Store, model: ModelInfo, **settings: Any) -> list[tuple[object, ...]]:
    """Return all figures of sentences, some with unknown words."""

    def told(one: SentenceScore) -> tuple[object, ...]:
        return one.words, one.log10, one.oov, one.log10_oov, one.logps.tolist(), one.unknown.tolist()

    return [
        told(one)
        for one in score_sentences(store, model, texts([*WORDS, *STRANGERS], 80), max_tokens=200, **settings)
    ]


def streamed(store: Store, model: ModelInfo, **settings: Any) -> list[tuple[object, ...]]:
    """Return the same figures by a model that is never laid out."""
    with pytest.MonkeyPatch.context() as patch, Store(store.path, read_only=True) as other:
        patch.setattr(laid_out, "MOST_WORDS", -1)
        patch.setattr(laid_out, "_mapped", lambda *_: None)
        found = scored(other, model, **settings)
        assert use_of(other, model).laid_out is None
    return found


def imported(store: Store) -> ModelInfo:
    path = store.path.with_name("m.arpa")
    export_arpa(store, build(store, "m", ["c"], order=3), path)
    return import_arpa(store, "imported", path)


def mixed(store: Store, *, dynamic: bool) -> ModelInfo:
    build(store, "one", ["c"], order=3)
    build(store, "other", ["c"], order=2, smoothing="katz")
    return MixRequest(name="both", of="one,other", weights=".3,.7", dynamic=dynamic).make(store)


KINDS: dict[str, Callable[[Store], ModelInfo]] = {
    "kneser-ney": lambda store: build(store, "m", ["c"], order=5),
    "katz": lambda store: build(store, "m", ["c"], order=3, smoothing="katz"),
    "unigrams": lambda store: build(store, "m", ["c"], order=1),
    "frequent": lambda store: build(store, "m", ["c"], order=4, min_count=(1, 2, 3)),
    "no unknown": lambda store: build(store, "m", ["c"], order=3, unknown="none"),
    "imported": imported,
    "mixture": lambda store: mixed(store, dynamic=False),
    "asked mixture": lambda store: mixed(store, dynamic=True),
    "counts": lambda store: build(store, "m", ["c"], order=3, smoothing="stupid-backoff"),
}

#: Models whose rows are those of `kneser-ney` with other numbers.
STORED_ALIKE = ("katz", "frequent", "imported", "mixture")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.nightly] if kind in STORED_ALIKE else ()) for kind in KINDS],
)
def test_scores_are_the_same(corpus: Store, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Scores are equal to the last bit, for every kind of model, in memory or in a file, in any case."""
    model = KINDS[kind](corpus)
    corpus.close()
    expected = {lowercase: streamed(corpus, model, lowercase=lowercase) for lowercase in (False, True)}
    for most in (2**20, 0):
        monkeypatch.setattr(laid_out, "_IN_MEMORY", most)
        with Store(corpus.path, read_only=True) as store:
            for lowercase in (False, True):
                assert scored(store, model, lowercase=lowercase) == expected[lowercase]
            has_own = kind not in ("counts", "asked mixture")
            assert (use_of(store, model).laid_out is not None) == has_own


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("kind", ["kneser-ney", "frequent", "no unknown", "asked mixture"])
def test_bags_get_the_same(corpus: Store, kind: str) -> None:
    """Bags get the same rows: one bag, many bags that share n-grams, and none."""
    model, many = KINDS[kind](corpus), [*texts([*WORDS, *STRANGERS], 20), ["the"] * 3]
    corpus.close()
    with Store(corpus.path, read_only=True) as read, Store(corpus.path, read_only=True) as laid:
        scored(laid, model)
        for bags in ([], [["the", "old", "dog", "sees", "the", "cat"]], many):
            for order in (2, None):
                one, other = (prefetch(store, model, bags, order=order) for store in (read, laid))
                assert (one.words, one.index, one.ngrams) == (other.words, other.index, other.ngrams)
                for column, same in zip(one.table, other.table, strict=True):
                    assert np.array_equal(column, same)


def test_when_it_is_laid_out(corpus: Store) -> None:
    """It is laid out for a large text, or after as many look-ups, within the memory limit."""
    model = build(corpus, "m", ["c"], order=3)
    stream = np.array([1, 2], np.int32)

    reader = ModelReader(corpus, model)
    reader.expect(0)
    own = reader.events(stream)[0]
    assert use_of(corpus, model).laid_out is None
    while use_of(corpus, model).laid_out is None:
        use_of(corpus, model).has_read(500)
        reader.expect(0)
    assert use_of(corpus, model).laid_out is not None
    assert reader.events(stream)[0] == own

    with (
        pytest.MonkeyPatch.context() as patch,
        Store(corpus.path.with_name("t.duckdb"), create=True) as tight,
    ):
        add_corpus(tight, "c", filter(None, texts([*WORDS, "Dog"], 60)))
        model = build(tight, "m", ["c"], order=3)
        patch.setattr(tight, "memory_limit", 1000)
        reader = ModelReader(tight, model)
        reader.expect(10**6)
        assert use_of(tight, model).laid_out is None
        assert reader.events(stream)[0] == own


@pytest.mark.usefixtures("in_files")
def test_a_file_is_mapped_by_whoever_comes_after_and_goes_with_its_model(
    corpus: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """The file is made once, with a note; another model of the same id does not use it."""
    first, other = build(corpus, "m", ["c"], order=3), build(corpus, "other", ["c"], order=2)
    for model in (first, other):
        scored(corpus, model)
    folder = corpus.path.with_name(f"{corpus.path.name}.models")
    assert len(list(folder.glob("*.ngrams"))) == 2
    assert [record.getMessage().split(",")[0] for record in caplog.records] == [
        "m@1 is laid out for look-ups",
        "other@1 is laid out for look-ups",
    ]

    left = folder / f".sentgen-{'0' * 32}.tmp"
    left.touch()
    (folder / "mine.txt").touch()
    remove(corpus, "other")
    assert sorted(path.suffix for path in folder.iterdir()) == ["", ".ngrams", ".txt"]

    remove(corpus, "m")
    again = build(corpus, "m", ["c"], order=3)
    assert not list(folder.glob("*.ngrams"))
    scored(corpus, again)
    corpus.close()
    with Store(corpus.path, read_only=True) as store:
        assert use_of(store, again).laid_out is not None  # mapped, before anything is asked


@pytest.mark.usefixtures("in_files")
@pytest.mark.parametrize("harm", ["cut", "other", "in the way", "no room"])
def test_what_hinders_a_file(corpus: Store, monkeypatch: pytest.MonkeyPatch, harm: str) -> None:
    """An incomplete file is made again; if no file can be made, the store is read."""
    model = build(corpus, "m", ["c"], order=3)
    folder = corpus.path.with_name(f"{corpus.path.name}.models")
    if harm in ("cut", "other"):
        scored(corpus, model)
        (path,) = folder.glob("*.ngrams")
        size = path.stat().st_size
        if harm == "cut":
            os.truncate(path, size - 1)
        else:
            path.write_bytes(b"\x07" * size)
    elif harm == "in the way":
        folder.mkdir()
        (folder / "mine.txt").touch()
    else:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))
    corpus.close()
    with Store(corpus.path, read_only=True) as store:
        assert use_of(store, model).laid_out is None
        assert scored(store, model) == streamed(store, model)
        assert (use_of(store, model).laid_out is not None) == (harm in ("cut", "other"))
    assert folders.is_ours(folder) == (harm != "in the way")
