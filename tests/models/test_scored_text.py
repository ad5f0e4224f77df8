"""Answers of `score`: by tokens, sentences and documents of texts and of corpora, with sums."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from meta_treebank import Sentence, sentences, store_of
from stored import rows

from sentgen.errors import InputError, NotFoundError, QueryError
from sentgen.models import build
from sentgen.models.base import registry
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText
from sentgen.models.scoring import score_sentences
from sentgen.models.surprisal import ApplyRequest
from sentgen.models.text_batches import TextBatch
from sentgen.schema import Store

ROWS = sentences()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = store_of(tmp_path_factory.mktemp("scored") / "s.duckdb", ROWS)
    with Store(path) as made:
        build(made, "m", ["first"], order=3)
        ApplyRequest(name="m", corpus=["second"]).apply(made)
        yield made


def words(one: Sentence) -> list[str]:
    return [form for form, _, _ in one.tokens]


def ask(store: Store, lines: list[str] | None = None, **options: Any) -> ScoredText:
    asked = ScoreRequest(model="m", **options)
    return ScoredText(store, registry.find(store, "m"), asked, lines or [])


def table(found: ScoredText) -> list[dict[str, Any]]:
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows()]


def test_what_is_stored_is_scored_as_its_words(store: Store) -> None:
    """Stored sentences have the scores of their words, with their names; all, or those of a condition."""
    texts = [" ".join(words(one)) for one in ROWS]
    plain = table(ask(store, texts))
    stored = table(ask(store, corpus=["first", "second"]))

    assert [(row["corpus"], row["document"], row["sentence"]) for row in stored] == [
        (one.corpus, one.document, one.sent_id) for one in ROWS
    ]
    assert [row["text"] for row in stored] == texts
    for name in ("log10", "logp", "tokens", "oov", "perplexity"):
        assert [row[name] for row in stored] == pytest.approx([row[name] for row in plain])
    short = [one.sent_id for one in ROWS if len(one.tokens) < 3 and one.corpus == "second"]
    assert [row["sentence"] for row in table(ask(store, corpus=["second"], where="length < 3"))] == short


def test_tokens_sum_up_to_sentences(store: Store) -> None:
    """Tokens and ends sum up to sentences; bits are those stored, and unknown words are marked."""
    texts = [" ".join(words(one)) for one in ROWS if one.corpus == "second"]
    tokens, whole = table(ask(store, texts, by="token")), table(ask(store, texts))
    stored = table(ask(store, corpus=["second"], by="token"))
    bits = [one for (one,) in rows(store, "select surprisal from v_surprisal order by sentence_id, position")]

    for number, row in enumerate(whole, 1):
        own = [one for one in tokens if one["sentence"] == number]
        assert sum(one["log10"] for one in own) == pytest.approx(row["log10"])
        assert [one["token"] for one in own] == [*row["text"].split(), "</s>"]
        assert [one["position"] for one in own] == list(range(1, row["tokens"] + 1))
        assert sum(one["unknown"] for one in own) == row["oov"]
    assert [row["surprisal"] for row in stored if row["token"] != "</s>"] == pytest.approx(bits, abs=1e-5)
    assert [row["log10"] for row in stored] == pytest.approx([row["log10"] for row in tokens])
    unknown = table(ask(store, ["the zebra sees"], by="token"))
    assert [row["unknown"] for row in unknown] == [False, True, False, False]


def test_documents_and_sums(store: Store) -> None:
    """Documents are sums of sentences; the interval of the total is over documents."""
    found = ask(store, corpus=["first"], by="document")
    documents = table(found)
    whole = table(ask(store, corpus=["first"]))
    (sums,) = table(ask(store, corpus=["first"], totals=True))

    for row in documents:
        own = [one for one in whole if one["document"] == row["document"]]
        assert row["sentences"] == len(own)
        assert row["log10"] == pytest.approx(sum(one["log10"] for one in own))
        assert row["tokens"] == sum(one["tokens"] for one in own)
    assert found.totals.perplexity == pytest.approx(sums["perplexity"])
    mean = sum(row["log10"] for row in documents) / sum(row["tokens"] for row in documents)
    squares = sum((row["log10"] - mean * row["tokens"]) ** 2 for row in documents)
    error = math.sqrt(squares * len(documents) / (len(documents) - 1)) / sum(r["tokens"] for r in documents)
    # t with 13 degrees of freedom.
    low, high = (10 ** -(mean + sign * 2.1604 * error) for sign in (1, -1))
    assert (sums["perplexity_low"], sums["perplexity_high"]) == pytest.approx((low, high), rel=1e-3)
    assert found.notes[2].startswith("perplexity of such texts, 95 % by documents: ")


def test_the_interval_holds_what_it_says(store: Store) -> None:
    """About 95 % of the intervals of samples (here 93 to 100 %) contain the perplexity of all sentences."""
    draw = random.Random(1)
    pool = [" ".join(draw.choices(["the", "dog", "sees", "old"], k=draw.randint(1, 6))) for _ in range(400)]
    scores = [*score_sentences(store, registry.find(store, "m"), [line.split() for line in pool])]
    truth = 10 ** (-sum(one.log10 for one in scores) / sum(one.tokens for one in scores))
    held = 0
    for _ in range(100):
        sample = draw.choices(scores, k=40)
        totals = ask(store).totals
        for one in sample:
            totals.add(one)
        low, high = totals.interval
        assert low is not None
        assert high is not None
        assert low < totals.perplexity < high
        held += low < truth < high

    assert held >= 88


def test_few_sentences_have_no_interval(store: Store) -> None:
    """Few sentences have no interval."""
    found = ask(store, ["the dog"] * 9)
    assert len(table(found)) == 9
    assert found.totals.interval == (None, None)
    assert len(found.notes) == 2


def test_sentences_below_a_perplexity_are_kept(store: Store) -> None:
    """Sentences below a perplexity keep order and numbers; sums are over all sentences."""
    texts = [" ".join(words(one)) for one in ROWS]
    every = table(ask(store, texts))
    half = sorted({row["perplexity"] for row in every})[len(every) // 3 :]
    limit = (half[0] + half[1]) / 2
    found = ask(store, texts, keep_below=limit)
    kept = table(found)

    assert kept == [row for row in every if row["perplexity"] < limit]
    again, stored = (
        ask(store, texts, keep_below=limit),
        ask(store, corpus=["first", "second"], keep_below=limit),
    )
    for other in (again, stored):
        assert [*other.lines_below()] == [row["text"] for row in kept]
        assert other.warnings == found.warnings
        assert other.totals.perplexity == pytest.approx(found.totals.perplexity)
    assert found.totals.sentences == len(texts)
    assert found.warnings == [f"kept {len(kept)} of {len(texts)} sentences, of a perplexity below {limit:g}"]


def test_the_first_rows(store: Store) -> None:
    """A limit of rows, as of a server, does not change the sums."""
    found = ask(store, ["the dog"] * 5)
    assert found.table(2).num_rows == 2
    assert (found.number, found.totals.sentences) == (5, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corpus": ["first"], "text": ["a"]}, "stored sentences are no other text"),
        ({"corpus": ["first"], "tokenize": True}, "stored sentences are no other text"),
        ({"where": "length < 3"}, "a condition can only be asked of what is stored; give `corpus` NAME"),
        ({"by": "document"}, "a text has rows by sentence and token, not by 'document'; of what is stored"),
        ({"keep_below": 3.0, "totals": True}, "sentences are kept or not"),
        ({"keep_below": 3.0, "by": "token"}, "sentences are kept or not"),
    ],
)
def test_what_excludes_each_other(options: dict[str, Any], message: str) -> None:
    """Options that exclude each other are refused before anything is read."""
    with pytest.raises(InputError, match=message):
        ScoreRequest(model="m", **options)


def test_nothing_to_score_is_refused(store: Store) -> None:
    """Nothing to score is an error, not a perplexity."""
    with pytest.raises(NotFoundError, match="there is no sentence to score; no sentence meets the condition"):
        table(ask(store, corpus=["first"], where="length > 99"))
    with pytest.raises(NotFoundError, match="no corpus 'third'"):
        table(ask(store, corpus=["third"]))
    with pytest.raises(QueryError, match="no metadata 'lenght'"):
        table(ask(store, corpus=["first"], where="lenght > 9"))


def test_a_text_is_read_as_it_is_scored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a batch is in memory: the first row comes before the last line is read."""
    read: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(50):
            read.append(number)
            yield "the old dog sees a cat"

    monkeypatch.setattr(TextBatch, "of_lines", partial(TextBatch.of_lines, max_tokens=10))
    rows = ask(store, lines()).rows()  # type: ignore[arg-type]
    next(rows)
    assert len(read) < 10
    assert len([*rows]) == 49
    assert len(read) == 50
