"""Batches of lines: splitting and numbering by Arrow equals a loop over the words."""

from __future__ import annotations

import numpy as np
import pytest
import toy_store
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.readers.lines import split_tokens
from sentgen.models.base.registry import ModelInfo
from sentgen.models.scoring import Totals, score_batches, score_sentences
from sentgen.models.text_batches import TextBatch
from sentgen.schema import Store

LINES = st.text(st.sampled_from("ab éß\t\u00a0\u2003\x0b\x1c\r\u3000.Ω"), max_size=12)


def words(batches: object) -> list[tuple[str, ...]]:
    return [one for batch in batches for one in batch.sentences]  # type: ignore[attr-defined]


@given(st.lists(LINES, max_size=30), st.integers(1, 40), st.integers(1, 20))
def test_lines_are_split_as_readers_do(lines: list[str], tokens: int, most: int) -> None:
    """Lines with any white space, in batches of any length, have the words of the readers, numbered."""
    texts = ["\n".join(lines[begin : begin + 2]) for begin in range(0, len(lines), 2)]
    found = [*TextBatch.of_lines(texts, tokens, most)]

    assert words(found) == [tuple(split_tokens(line)) for line in lines]
    for batch in found:
        assert len(set(batch.forms)) == len(batch.forms)
        assert batch.lengths.sum() == len(batch.numbers)
    assert words(TextBatch.of_sentences(map(split_tokens, lines), tokens, most)) == words(found)


def test_bounds_of_batches() -> None:
    """Tokens and different words end a batch."""
    by_tokens = [*TextBatch.of_sentences([["a", "a"]] * 5, max_tokens=4)]
    by_words = [*TextBatch.of_sentences([["a", "b"], ["c"], ["d"]], max_words=3)]

    assert [batch.lengths.tolist() for batch in by_tokens] == [[2, 2], [2, 2], [2]]
    assert [batch.lengths.tolist() for batch in by_words] == [[2, 1], [1]]
    assert [*TextBatch.of_lines([])] == []


def test_sums_of_batches_are_those_of_sentences(toy: tuple[Store, toy_store.ToyModel]) -> None:
    """Sums of batches are those of the sentences, with the notes on words with punctuation."""
    lines = ["the dog barks.", "", "a zebra sees the cat", "(zebra) !", "on on the mat sleeps a dog"] * 4
    store, model = toy
    one_by_one, together = Totals(), Totals()
    scores = [*score_sentences(store, model, map(split_tokens, lines))]
    for score in scores:
        one_by_one.add(score)
    for batch in score_batches(store, model, TextBatch.of_lines(lines)):
        together.add_batch(batch)
        assert batch.log10.tolist() == pytest.approx([score.log10 for score in scores])
        assert batch.perplexities.tolist() == pytest.approx([score.perplexity for score in scores])

    in_parts = Totals()
    for batch in score_batches(store, model, TextBatch.of_lines(lines, max_tokens=2)):
        in_parts.add_batch(batch)

    assert together.row == pytest.approx(one_by_one.row)
    assert in_parts.row == pytest.approx(one_by_one.row)
    assert (in_parts.attached, in_parts.example) == (4, "barks.")
    assert (together.attached, together.example) == (one_by_one.attached, one_by_one.example) == (4, "barks.")
    assert together.warnings == one_by_one.warnings


def test_infinite_perplexities(toy: tuple[Store, ModelInfo]) -> None:
    """Perplexities beyond floats are infinite, not an error."""
    (batch,) = score_batches(*toy, TextBatch.of_lines(["the"]))
    batch.log10[:] = -1e6

    assert np.isinf(batch.perplexities).all()


def test_numbers_stay_from_batch_to_batch() -> None:
    """Words of the batch before keep their numbers, until there are too many, or the text is irregular."""
    lines = ["a b", "b c", "c d e", "f", "a\u00a0 \u00a0", "g"]
    found = [*TextBatch.of_lines(lines, max_tokens=0, max_words=4)]

    assert [(batch.forms, batch.old) for batch in found] == [
        (["a", "b"], 0),
        (["a", "b", "c"], 2),
        (["a", "b", "c", "d", "e"], 3),
        (["f"], 0),
        (["a\u00a0"], 0),
        (["g"], 0),
    ]
