"""Scores of texts against the definition of back-off, for models with missing n-grams in any storage."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import toy_store
from hypothesis import given
from hypothesis import strategies as st

from sentgen.models.ngrams import laid_out, model_reader
from sentgen.models.ngrams.ngram_table import NEVER, backoff_logp
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS, EOS, UNK

WORDS = ("a", "b", "c", "d")
#: A word that the store knows, but not the model; a word that not even the store knows.
STRANGERS = ("e", "f")
Gram = tuple[str, ...]
Model = dict[Gram, tuple[float, float]]


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw all unigrams but some, and longer n-grams, those with <unk> as well, prefixes missing or not."""
    value, weight = st.floats(-9, -0.01), st.one_of(st.just(0.0), st.floats(-3, 1))
    first, inner, last = ("<s>", "<unk>", *WORDS), ("<unk>", *WORDS), ("</s>", "<unk>", *WORDS)
    order = draw(st.integers(1, 5))
    words = draw(st.sets(st.sampled_from(("<unk>", "</s>", *WORDS)), min_size=1))
    grams = draw(
        st.sets(
            st.tuples(
                st.sampled_from(first),
                st.lists(st.sampled_from(inner), max_size=max(0, order - 2)).map(tuple),
                st.sampled_from(last),
            ).map(lambda parts: (parts[0], *parts[1], parts[2])),
            max_size=20,
        )
    )
    known = {gram for gram in grams if order > 1 and words.issuperset(set(gram) - {"<s>"})}
    return {gram: (draw(value), draw(weight)) for gram in sorted({(word,) for word in words} | known)}


def by_definition(model: Model, order: int, sentence: list[str]) -> float:
    """Return log10 p(sentence </s> | <s>), each factor by the definition of back-off."""
    ids = {"<unk>": UNK, "<s>": BOS, "</s>": EOS, **{word: 10 + i for i, word in enumerate(WORDS)}}
    ngrams = {tuple(ids[w] for w in gram): values for gram, values in model.items()}
    ngrams.setdefault((BOS,), (NEVER, 0.0))
    words = [BOS, *(ids[word] if (word,) in model else UNK for word in sentence), EOS]
    missing = -100.0  # log10 of <unk> where the model has none
    ngrams.setdefault((UNK,), (missing, 0.0))
    return math.fsum(
        backoff_logp(ngrams, words[max(0, i - order + 1) : i], words[i]) for i in range(1, len(words))
    )


def closed(model: Model) -> Model:
    """Leave out n-grams whose prefixes are left out, as real models have all prefixes."""
    there: Model = {}
    for gram in sorted(model, key=len):
        if len(gram) == 1 or gram[:-1] in there or gram[:-1] == ("<s>",):
            there[gram] = model[gram]
    return there


@given(
    models(),
    st.booleans(),
    st.lists(st.lists(st.sampled_from((*WORDS, *STRANGERS)), max_size=7), min_size=1, max_size=5),
    st.sampled_from(
        ("anchor, n, w1, w2, w3, w4, w5", "anchor, logp", "anchor desc, n desc, w1 desc, w2 desc")
    ),
)
def test_scores_are_those_of_the_definition(
    model: Model, lays_out: bool, text: list[list[str]], stored: str
) -> None:
    """Each sentence of a text has the product of its conditional probabilities, in any order of the rows."""
    model = closed(model) if lays_out else model
    order = max(map(len, model))
    with (
        TemporaryDirectory() as folder,
        Store(Path(folder) / "s.duckdb", create=True) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        if not lays_out:
            patch.setattr(laid_out, "MOST_WORDS", -1)
        toy = toy_store.fill(store, model)
        with store.begin() as connection:
            duck = raw(connection)
            duck.execute("insert into word (id, form) select max(id) + 1, 'e' from word")
            duck.execute(f"create temp table stored as from model_ngram order by {stored}")
            duck.execute("delete from model_ngram")
            duck.execute("insert into model_ngram from stored")
        scores = list(score_sentences(store, toy, text))

    assert [score.log10 for score in scores] == pytest.approx(
        [by_definition(model, order, sentence) for sentence in text], rel=1e-12
    )
    assert [score.oov for score in scores] == [
        sum((word,) not in model for word in sentence) for sentence in text
    ]


def test_batches_of_rows_do_not_matter(
    toy: tuple[Store, toy_store.ToyModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """N-grams of one anchor may come in two batches."""
    monkeypatch.setattr(laid_out, "MOST_WORDS", -1)
    text = [["the", "dog", "sees", "the", "cat"], ["a", "dog", "on", "the", "mat", "barks"]]
    whole = list(score_sentences(*toy, text))
    monkeypatch.setattr(model_reader, "_CHUNK_ROWS", 1)

    assert list(score_sentences(*toy, text)) == whole
