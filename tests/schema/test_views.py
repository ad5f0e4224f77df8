"""The views of the store in conftest, against counts by hand."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow

from .conftest import Rows


def test_corpora_add_up(rows: Rows) -> None:
    """One source, one document, 2 sentences, 5 + 3 tokens, one rejected sentence, two segments."""
    found = rows(
        "select corpus, licence, sources, documents, sentences, tokens, rejected, segments from v_corpora"
    )

    assert found == [("demo", "CC0", 1, 1, 2, 8, 1, 2)]


def test_bigrams_are_summed_over_segments(rows: Rows) -> None:
    """*the dog* is twice in sentence 1, *<s> the* once in each; all others once, and each has one row."""
    found = rows("select w1, w2, count from v_ngrams_2 order by count desc, w1, w2")

    assert found == [
        ("<s>", "the", 2),
        ("the", "dog", 2),
        ("cat", "slept", 1),
        ("dog", "</s>", 1),
        ("dog", "saw", 1),
        ("saw", "the", 1),
        ("slept", "</s>", 1),
        ("the", "cat", 1),
    ]


def test_all_orders_in_one_view(rows: Rows) -> None:
    """Sentence 1 has 7 words with its marks, sentence 2 has 5: 12 unigrams, 10 bigrams, 8, 6, 4."""
    totals = rows("select n, sum(count)::integer from v_ngrams group by n order by n")
    text = rows("select ngram, w4, w5 from v_ngrams where n = 4 and w1 = 'dog'")

    assert totals == [(1, 12), (2, 10), (3, 8), (4, 6), (5, 4)]
    assert text == [("dog saw the dog", "dog", None)]


def test_sentences_without_text_are_joined_from_tokens(store: Store, rows: Rows) -> None:
    """A text from the source takes precedence; else tokens are joined by blanks, except where none follows."""
    with store.begin() as connection:
        connection.exec_driver_sql("update sentence set text = 'The dog saw the dog.' where id = 1")
        connection.exec_driver_sql(
            "update token set space_after = false where sentence_id = 2 and position = 2"
        )

    assert rows("select text from v_sentences order by id") == [("The dog saw the dog.",), ("the catslept",)]
    assert rows("select document, length from v_sentences where sent_id = 's2'") == [("d", 3)]


def test_tokens_have_their_strings(rows: Rows) -> None:
    """Ids are shown as words and tags, missing ones as null."""
    found = rows(
        "select position, form, xpos, upos, lemma, head, deprel from v_tokens where sent_id = 's2' order by 1"
    )

    assert found == [
        (1, "the", "DET", None, None, 2, "det"),
        (2, "cat", "NOUN", None, None, 3, "nsubj"),
        (3, "slept", "VERB", None, None, 0, "root"),
    ]


def test_cooccurrences_count_pairs_of_occurrences(rows: Rows) -> None:
    """In sentence 1, the and dog stand twice each, saw once.

    the with dog 2 * 2 = 4, with saw 2 * 1 = 2, with itself 2 * 2 - 2 = 2; in sentence 2 the with cat and slept 1.
    saw never meets another saw.
    """
    of_the = rows("select b, count from v_cooccurrences where a = 'the' order by b")

    assert of_the == [("cat", 1), ("dog", 4), ("saw", 2), ("slept", 1), ("the", 2)]
    assert rows("select * from v_cooccurrences where a = b and a = 'saw'") == []
    assert rows("select count from v_cooccurrences where a = 'dog' and b = 'the'") == [(4,)]


def test_frequencies_dependencies_and_arguments(rows: Rows) -> None:
    """Counts of both segments are added: *the* 2 + 1, modifiers of nouns 2 + 1, subjects of verbs 1 + 1."""
    assert rows("select xpos, count from v_frequencies where form = 'the'") == [("DET", 3)]
    of_nouns = (
        "select head, modifier_tag, count from v_dependencies where level = 'tag-tag' and head_tag = 'NOUN'"
    )
    assert rows(of_nouns) == [(None, "DET", 3)]
    of_verbs = "select arguments, count from v_arguments where level = 'tag' and head_tag = 'VERB' and direction = 'left'"
    assert rows(of_verbs) == [(1, 2)]


def test_probability_of_an_attachment(rows: Rows) -> None:
    """the left of dog: 2 of 4 pairs. the below nouns 3 of 5 and DET below dog 2 of 4, together 5 of 9; tags 3 of 5.

    prob = 4/5 * 1/2 + 1/5 * (9/10 * 5/9 + 1/10 * 3/5) = 0.512.
    """
    found = rows(
        "select word_events, word_pairs, mixed_events, mixed_pairs, tag_events, tag_pairs, round(prob, 12) "
        "from v_attachment where head = 'dog' and modifier = 'the' and direction = 'left'"
    )

    assert found == [(2, 4, 5, 9, 3, 5, 0.512)]


def test_probabilities_of_arguments(rows: Rows) -> None:
    """saw has one modifier on its right, slept none: for saw 1/2 * 0 + 1/2 * 1/2 and 1/2 * 1 + 1/2 * 1/2."""
    found = rows(
        "select arguments, count, share, tag_count, tag_share, weight, prob from v_argument_probabilities "
        "where head = 'saw' and direction = 'right' order by arguments"
    )

    assert found == [(0, 0, 0.0, 1, 0.5, 0.5, 0.25), (1, 1, 1.0, 1, 0.5, 0.5, 0.75)]


def test_model_ngrams_have_decimal_logarithms(store: Store, rows: Rows) -> None:
    """A stored ln 0.01 = -4.605... is shown as the decimal logarithm -2."""
    with store.begin() as connection:
        connection.exec_driver_sql(
            "insert into model values (1, 'm', 1, 2, 'katz', '1', 'none', 5, 2, 8, timestamp '2026-01-01')"
        )
        connection.exec_driver_sql("insert into model_corpus values (1, 1, 'demo', 8)")
        connection.exec_driver_sql(
            "insert into model_ngram values (1, 5, 2, 4, 5, null, null, null, ln(0.01), 0)"
        )

    found = rows("select model, n, ngram, w3, round(log10p, 9), log10_backoff from v_model_ngrams")
    assert found == [("m", 2, "the dog", None, -2.0, 0.0)]
    assert rows("select model, corpora, smoothing from v_models") == [("m", "demo", "katz")]


def test_runs_and_scores(store: Store, rows: Rows) -> None:
    """A run counts its systems and figures; a score names its run."""
    with store.begin() as connection:
        connection.exec_driver_sql(
            "insert into run values (7, 'evaluate', '{}', 1, '0.1', timestamp '2026-01-01', 2)"
        )
        connection.exec_driver_sql(
            "insert into score values (7, 'prim', null, 'bleu', 0.5, null), (7, 'prim', 1, 'bleu', 0.4, null)"
        )

    assert rows("select run, systems, scores from v_runs") == [(7, 1, 2)]
    assert rows("select command, item, value from v_scores order by value") == [
        ("evaluate", 1, 0.4),
        ("evaluate", None, 0.5),
    ]


def test_rejections_and_sources(rows: Rows) -> None:
    """Rejected sentences are listed with their file."""
    assert rows("select corpus, line, check_name from v_rejections") == [("demo", 9, "head-cycle")]
    assert rows("select corpus, path, documents from v_sources") == [("demo", "demo.conllu", 1)]
    assert rows("select document, source, sentences from v_documents") == [("d", "demo.conllu", 2)]


@pytest.mark.parametrize("view", ["v_ngrams_2", "v_ngrams"])
def test_filters_on_words_come_before_the_sum(store: Store, view: str) -> None:
    """The plan filters `word` before the aggregation."""
    with store.connect() as connection:
        plan = fetch_arrow(connection, f"explain select * from {view} where w1 = 'the'").column(1)[0].as_py()

    squeezed = re.sub(r"[ _│()\n]", "", plan).lower()
    assert "form='the'" in squeezed
    assert squeezed.index("groupby") < squeezed.index("form='the'")


def test_means_are_taken_in_an_order() -> None:
    """Sums of fractions have an order, as threads read rows in any and the last digit depends on it."""
    views = {
        view.name: view.read_text("utf-8") for view in files("sentgen.schema").joinpath("views").iterdir()
    }
    means = [(name, found) for name, text in views.items() for found in re.findall(r"\bavg\([^)]*\)", text)]

    assert means
    assert [mean for mean in means if " order by " not in mean[1]] == []
