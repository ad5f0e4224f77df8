"""Stupid back-off: the scores of the definition, from counts as they are now."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from toy_corpus import add_corpus

from sentgen.counts.corpora import remove
from sentgen.errors import InputError, ModelError, StoreError
from sentgen.generation import parse_bag, regenerate
from sentgen.models import ModelInfo, arpa, build
from sentgen.models.base import registry
from sentgen.models.checks import model_checks
from sentgen.models.lookup import explain
from sentgen.models.ngrams.ngram_table import score_words
from sentgen.models.scoring import score_sentences
from sentgen.models.submodel import prefetch
from sentgen.schema import Store, maintenance
from sentgen.schema.lake_transfer import export
from sentgen.schema.lakes import Manifest
from sentgen.schema.places import Place
from sentgen.schema.tables.corpus import EOS

SENTENCES = ["a b c a b", "b a", "c c c a", "a", "a b a b d"]
TEXTS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=6)


class Reference:
    """Counts of sentences that begin with as many <s> as the order takes, and the definition."""

    def __init__(self, sentences: Sequence[Sequence[str]], order: int) -> None:
        self.order, self.counts = order, Counter[tuple[str, ...]]()
        for words in sentences:
            padded = self.padded(words)
            for n in range(1, order + 1):
                self.counts.update(tuple(padded[i : i + n]) for i in range(len(padded) - n + 1))
        self.total = sum(len(words) + 1 for words in sentences)

    def padded(self, words: Sequence[str]) -> list[str]:
        return ["<s>"] * (self.order - 1) + [*words, "</s>"]

    def score(self, context: tuple[str, ...], word: str) -> float:
        """Return S(word | context)."""
        found = self.counts[(*context, word)]
        if context:
            return found / self.counts[context] if found else 0.4 * self.score(context[1:], word)
        return max(found, 1) / self.total  # a word that was never seen counts once

    def log10(self, words: Sequence[str]) -> float:
        """Return the logarithm of the score of a sentence."""
        padded, before = self.padded(words), self.order - 1
        return sum(
            math.log10(self.score(tuple(padded[i - before : i]), padded[i]))
            for i in range(before, len(padded))
        )


def built(store: Store, order: int = 3, **settings: object) -> ModelInfo:
    return build(store, "sb", ["toy"], order=order, smoothing="stupid-backoff", **settings)  # type: ignore[arg-type]


@hypothesis_settings(max_examples=hypothesis_settings.default.max_examples // 3)
@given(
    texts=TEXTS,
    order=st.integers(1, 5),
    cut=st.integers(0, 6),
    asked=st.lists(st.sampled_from("abcdx"), max_size=5),
)
def test_scores_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], order: int, cut: int, asked: list[str]
) -> None:
    """Scores of every sentence, in one segment or two, from a text, a bag and step by step."""
    with Store(tmp_path_factory.mktemp("sb") / "store.duckdb", create=True) as store:
        for part in (texts[:cut], texts[cut:]):
            if part:
                add_corpus(store, "toy", part)
        model, reference = built(store, order), Reference(texts, order)
        expected = reference.log10(asked)

        (scored,) = score_sentences(store, model, [asked])
        assert scored.log10 == pytest.approx(expected, abs=1e-9)
        sub = prefetch(store, model, [asked])
        words = np.append(sub.encode(asked), EOS).astype(np.int32)
        total, _ = score_words(sub.table, sub.table.start, words)
        assert total / math.log(10) == pytest.approx(expected, abs=1e-9)
        padded = reference.padded(asked)
        context = padded[-order:]
        (*_, last) = explain(store, model, context)
        assert last.total == pytest.approx(math.log10(reference.score(tuple(context[:-1]), "</s>")), abs=1e-9)


def test_a_sentence_of_many_words(store: Store) -> None:
    """A sentence may have more words than a query lists."""
    words = [f"w{i}" for i in range(200)]
    add_corpus(store, "toy", [words, words[::-1]])
    model, reference = built(store), Reference([words, words[::-1]], 3)

    for asked in (words, [*words[100:], *words[:100]]):
        (scored,) = score_sentences(store, model, [asked])
        assert scored.log10 == pytest.approx(reference.log10(asked))


def test_bags_are_ordered_by_the_scores(store: Store) -> None:
    """The exact search finds the best of all orders."""
    add_corpus(store, "toy", SENTENCES)
    model, reference = built(store), Reference([line.split() for line in SENTENCES], 3)
    (found,) = regenerate(store, model, [parse_bag("b a c d")], algorithm="viterbi")

    best = max(permutations("abcd"), key=reference.log10)
    assert reference.log10(found.words) == pytest.approx(reference.log10(best))


def test_counts_are_read_as_they_are(store: Store) -> None:
    """A corpus that grows changes the scores, and the model says that it is stale."""
    add_corpus(store, "toy", SENTENCES[:3])
    model = built(store)
    assert not model.is_stale(store)
    before = [one.log10 for one in score_sentences(store, model, [["d", "a"]])]
    add_corpus(store, "toy", SENTENCES[3:])

    assert model.is_stale(store)
    (after,) = score_sentences(store, model, [["d", "a"]])
    assert [after.log10] != before
    assert after.log10 == pytest.approx(Reference([s.split() for s in SENTENCES], 3).log10(["d", "a"]))


def test_a_corpus_that_is_gone_takes_the_model_along(store: Store) -> None:
    """If the corpus is gone, every look-up is refused; the model can be listed and removed."""
    add_corpus(store, "toy", SENTENCES)
    model = built(store)
    remove(store, "toy")

    for ask in (
        lambda: list(score_sentences(store, model, [["a"]])),
        lambda: prefetch(store, model, [["a"]]),
        lambda: explain(store, model, ["a"]),
    ):
        with pytest.raises(ModelError, match="corpus 'toy', which was removed; build it again"):
            ask()
    assert model.count_ngrams(store) == {}
    assert model.is_stale(store)
    registry.remove(store, "sb")
    assert registry.list_models(store) == []


def test_low_counts_are_left_out(store: Store) -> None:
    """Low counts of each order are left out, as of other models; look-ups back off."""
    add_corpus(store, "toy", SENTENCES)
    model = built(store, 2, min_count=[1, 2])
    counts = Reference([s.split() for s in SENTENCES], 2).counts
    kept = {gram: count for gram, count in counts.items() if count >= len(gram)}

    assert model.count_ngrams(store)[2] == sum(len(gram) == 2 for gram in kept)
    assert [step.known for step in explain(store, model, ["b", "d"])] == [False, True]
    assert [step.known for step in explain(store, model, ["a", "b"])] == [True]


def test_unknown_words(store: Store) -> None:
    """Unknown words count once, or have no score."""
    add_corpus(store, "toy", SENTENCES)
    (one, other) = built(store, 1), built(store, 1, unknown="none")

    assert one.vocabulary == other.vocabulary + 1 == 6
    (scored,) = score_sentences(store, one, [["x"]])
    total = sum(len(s.split()) + 1 for s in SENTENCES)
    assert scored.log10_oov == pytest.approx(math.log10(1 / total))
    (scored,) = score_sentences(store, other, [["x"]])
    assert scored.log10_oov == pytest.approx(-100)


def test_what_makes_no_sense_is_refused(store: Store, tmp_path: Path) -> None:
    """Classes of unknown words, brackets, and export to ARPA are refused."""
    add_corpus(store, "toy", SENTENCES)
    for settings in ({"unknown": "tag"}, {"brackets": True}):
        with pytest.raises(InputError, match="choose kneser-ney or katz"):
            built(store, **settings)
    model = built(store)
    with pytest.raises(ModelError, match="are no probabilities, which ARPA files hold"):
        arpa.export_arpa(store, model, tmp_path / "x.arpa")
    assert not list(tmp_path.glob("*.arpa"))
    found = maintenance.check(store, model_checks(store))
    assert [one for one in found if one.problems and "model" in one.check.name] == []


@pytest.fixture(scope="module")
def exported(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ModelInfo]:
    """A store with a model, beside its lake; no test changes them."""
    path = Path(shutil.copy(empty_store, tmp_path_factory.mktemp("exported") / "s.duckdb"))
    with Store(path) as store:
        add_corpus(store, "toy", SENTENCES)
        model = built(store)
        export(store, Place(path.with_name("lake")))
    return path, model


def test_a_lake_has_the_same_scores(exported: tuple[Path, ModelInfo]) -> None:
    """Counts in the files of a lake give the same scores."""
    path, model = exported
    asked = [line.split() for line in (*SENTENCES, "d d x")]

    with Store(path, read_only=True) as store, Store(path.with_name("lake"), read_only=True) as lake:
        assert list(score_sentences(lake, model, asked)) == list(score_sentences(store, model, asked))
        assert model.describe(lake) == model.describe(store)


def test_a_lake_gets_a_model_by_a_file_more(exported: tuple[Path, ModelInfo], tmp_path: Path) -> None:
    """A lake gets the next version as one more file, and refuses other smoothing."""
    path, first = exported
    place = Place(Path(shutil.copytree(path.with_name("lake"), tmp_path / "lake")))
    before = Manifest.read(place)
    with Store(place.root, read_only=True) as lake:
        second = built(lake, 2)
        assert registry.list_models(lake) == [first]
        with pytest.raises(StoreError, match="a lake is only read"):
            build(lake, "kn", ["toy"], order=2)

    after = Manifest.read(place)
    assert set(before.files) < set(after.files)
    assert {name for name in after.tables if after.tables[name] != before.tables[name]} == {
        "model",
        "model_corpus",
    }
    with Store(place.root, read_only=True) as lake:
        assert registry.list_models(lake) == [first, second]
        (scored,) = score_sentences(lake, second, [["a", "d"]])
    assert (second.label, second.vocabulary) == ("sb@2", first.vocabulary)
    assert scored.log10 == pytest.approx(Reference([s.split() for s in SENTENCES], 2).log10(["a", "d"]))
