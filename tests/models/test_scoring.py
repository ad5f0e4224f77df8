"""Scores of sentences: by hand, against KenLM, and in any batching."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import toy_store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models import build
from sentgen.models.scored_text import words_of
from sentgen.models.scoring import SentenceScore, Totals, score_sentences
from sentgen.schema import Store

Toy = tuple[Store, toy_store.ToyModel]
VOCABULARY = ["the", "a", "dog", "cat", "mat", "on", "sees", "barks", "sleeps", "zebra", "ünknown"]
TEXT = [
    ["the", "dog", "barks"],
    ["a", "zebra", "sees", "the", "cat"],
    [],
    ["zebra"],
    ["on", "on", "on", "the", "mat", "sleeps", "a", "dog", "barks"],
]


def scores(toy: Toy, sentences: list[list[str]], **options: int) -> list[SentenceScore]:
    return list(score_sentences(*toy, sentences, **options))


def test_bigram_by_hand(tmp_path: Path) -> None:
    """From "a", "a b" with order 2 and discounts of one half; log10 of the product of three probabilities.

    Counts: a 2, b 1, </s> 2, so 5 in all; <s> a 2, a b 1, a </s> 1, b </s> 1.
    p(a|<s>) = (2-.5)/2 = 3/4; p(b|a) = (1-.5)/2 = 1/4; p(</s>|b) = (1-.5)/1 = 1/2.
    """
    with Store(tmp_path / "s.duckdb", create=True) as store:
        model = toy_store.fill(store, toy_store.backoff_model([["a"], ["a", "b"]], 2))
        (score,) = score_sentences(store, model, [["a", "b"]])

    assert score.log10 == pytest.approx(math.log10(3 / 4 * 1 / 4 * 1 / 2))
    assert score.tokens == 3
    assert score.perplexity == pytest.approx((3 / 32) ** (-1 / 3))


def test_agrees_with_kenlm(toy: Toy, tmp_path: Path) -> None:
    """Sentence scores and OOVs are those of KenLM on the same model as ARPA file."""
    kenlm = pytest.importorskip("kenlm")
    toy_store.write_arpa(toy_store.backoff_model(toy_store.SENTENCES, 4), tmp_path / "toy.arpa")
    oracle = kenlm.Model(str(tmp_path / "toy.arpa"))
    for words, score in zip(TEXT, scores(toy, TEXT), strict=True):
        full = list(oracle.full_scores(" ".join(words)))

        assert score.log10 == pytest.approx(sum(logp for logp, _, _ in full), abs=1e-4)
        assert score.oov == sum(oov for _, _, oov in full)
        assert score.log10_oov == pytest.approx(sum(logp for logp, _, oov in full if oov), abs=1e-4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=6), max_size=8), st.integers(1, 12))
def test_batches_do_not_matter(toy: Toy, sentences: list[list[str]], size: int) -> None:
    """Any bound on tokens or distinct words gives the same scores."""
    whole = scores(toy, sentences)

    assert scores(toy, sentences, max_tokens=size) == pytest.approx(whole)
    assert scores(toy, sentences, max_words=size) == pytest.approx(whole)


def test_probabilities_after_a_context_sum_to_one(toy: Toy) -> None:
    """All words, </s> and <unk> after "the": exact differences of sentence scores."""
    ngrams = toy_store.backoff_model(toy_store.SENTENCES, 4)
    words = [gram[0] for gram in ngrams if len(gram) == 1 and gram[0] not in ("<s>", "</s>", "<unk>")]
    from sentgen.models.ngrams.ngram_table import extend
    from sentgen.models.submodel import prefetch

    submodel = prefetch(*toy, [words])
    _, state = extend(submodel.table, submodel.table.start, submodel.index["the"])
    total = sum(math.exp(extend(submodel.table, state, i)[0]) for i in [0, 2, *submodel.index.values()])

    assert total == pytest.approx(1)


def test_totals(toy: Toy) -> None:
    """The perplexities follow from the sums; without unknown words their events do not count."""
    totals = Totals()
    for score in scores(toy, TEXT):
        totals.add(score)

    assert (totals.sentences, totals.tokens, totals.oov) == (5, 3 + 5 + 0 + 1 + 9 + 5, 2)
    assert totals.perplexity == pytest.approx(10 ** (-totals.log10 / totals.tokens))
    known = totals.log10 - totals.log10_oov
    assert totals.perplexity_without_oov == pytest.approx(10 ** (-known / (totals.tokens - 2)))


def test_text_that_is_not_tokenized_is_told(toy: Toy) -> None:
    """Unknown words with punctuation cause a note, unless the model knows them; other unknown words do not."""
    raw, tokens, abbreviated = Totals(), Totals(), Totals()
    for totals, sentences in (
        (raw, ["The dog barks.", 'a zebra (sees) "the cat."']),
        (tokens, ["the zebra barks .", "zebra , zebra ! )"]),
        (abbreviated, ["zebra zebra zebra zebra zebra U.S."]),
    ):
        for score in scores(toy, [sentence.split() for sentence in sentences]):
            totals.add(score)

    assert (raw.attached, raw.example) == (4, "barks.")
    (warning,) = raw.warnings
    assert warning.startswith("4 of 6 unknown words are known when split, such as 'barks.'")
    assert tokens.oov
    assert (tokens.warnings, abbreviated.warnings, Totals().warnings) == ([], [], [])


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("en", "It isn't so. We left.", ["It is n't so .", "We left ."]),
        ("fr", "L'homme part.", ["L' homme part ."]),
    ],
)
def test_raw_text_is_split_as_that_of_the_corpora(
    tmp_path: Path, language: str, line: str, expected: list[str]
) -> None:
    """Raw text is split into the sentences and words that ingestion finds, in the language of the corpora."""
    (tmp_path / "a.txt").write_text(f"{line}\n")
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "a.txt")], Settings("a", language=language))
        model = build(store, "m", ["a"], order=2)
        found = [" ".join(words) for words in words_of(store, model, [line], tokenize=True)]
        scored = [
            one.oov for one in score_sentences(store, model, words_of(store, model, [line], tokenize=True))
        ]
        plain = list(words_of(store, model, [line]))

    assert found == expected
    assert scored == [0] * len(expected)
    assert plain == [line.split()]


def test_nothing_to_score(toy: Toy) -> None:
    """No sentences, no scores; the perplexity of nothing is not a number."""
    assert scores(toy, []) == []
    assert math.isnan(Totals().perplexity)


def test_improbable_beyond_floats() -> None:
    """A perplexity above 10^308 is infinite, not an error."""
    assert SentenceScore((), -400.0, 0, 0.0).perplexity == math.inf


def test_lower_cases_on_request(toy: Toy) -> None:
    """Lower-casing for look-ups leaves the words of the answer as given."""
    upper, lower = (
        next(score_sentences(*toy, [words], lowercase=True)) for words in (["The", "DOG"], ["the", "dog"])
    )

    assert upper.log10 == lower.log10
    assert upper.words == ("The", "DOG")
