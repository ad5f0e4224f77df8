"""Answers of lookups, against counts by hand on the ten sentences of `ten_sentences`."""

from __future__ import annotations

from dataclasses import replace
from math import log, log2
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.question import Question
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances import line_search as line_search_module
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.hits import Window
from sentgen.lookups.dependency_search import (
    Arguments,
    Dependencies,
    Level,
)
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import (
    CollocateUnit,
    Collocations,
)
from sentgen.lookups.statistics.frequencies import By, Frequencies
from sentgen.lookups.statistics.measures import Measure
from sentgen.output.tabular import Rows

ORDERS = ("none", "left", "right", "1L%c,2R", "-node,3L,document", "-document,1R")


def rows(answer: Answer, *columns: str) -> list[tuple[Any, ...]]:
    """Return the rows of an answer with some columns, by default with all."""
    return list(
        zip(*(answer.table[name].to_pylist() for name in columns or answer.table.column_names), strict=True)
    )


def test_ngrams_after_a_context(connection: Connection) -> None:
    """toy has 39 tokens; "the dow" occurs 4 times, twice before "fell" and twice before "jones"."""
    answer = Ngrams(pattern="the dow *").ask(connection)

    assert rows(answer) == [
        ("the", "dow", "fell", 2, pytest.approx(2e6 / 39), 0.5),
        ("the", "dow", "jones", 2, pytest.approx(2e6 / 39), 0.5),
    ]
    assert answer.left_out == ("other",)


def test_unigram_probability_counts_sentence_ends(connection: Connection) -> None:
    """49 tokens and 10 </s>: p(fell) = 4 / 59."""
    assert rows(Ngrams(pattern="fel*").ask(connection), "w1", "count", "probability") == [
        ("fell", 4, pytest.approx(4 / 59))
    ]
    assert rows(Ngrams(pattern="<s>").ask(connection), "count", "probability") == [(10, None)]


def test_free_context_has_its_own_denominators(connection: Connection) -> None:
    """c(the dow) 4 of c(the) 6 in toy; nothing else precedes dow."""
    assert rows(Ngrams(pattern="* dow", corpus=["toy"]).ask(connection), "w1", "count", "probability") == [
        ("the", 4, pytest.approx(4 / 6))
    ]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_probabilities_of_a_context_sum_to_one(order: int, connection: Connection) -> None:
    answer = Ngrams(pattern=" ".join("*" * order), limit=0).ask(connection)
    sums: dict[tuple[str, ...], float] = {}
    for *words, _, _, probability in rows(answer):
        sums[tuple(words[:-1])] = sums.get(tuple(words[:-1]), 0) + (probability or 0)

    assert list(sums.values()) == pytest.approx([1.0] * len(sums))


def test_limit_and_min_count(connection: Connection) -> None:
    """Ties are broken by the words: ". </s>" 8 times, then the pairs with 4."""
    answer = Ngrams(pattern="* *", limit=3).ask(connection)

    assert rows(answer, "w1", "w2", "count") == [(".", "</s>", 8), ("<s>", "the", 4), ("the", "dow", 4)]
    assert answer.truncated
    assert not Ngrams(pattern="* *", min_count=8).ask(connection).truncated
    assert Ngrams(pattern="* *", min_count=9).ask(connection).table.num_rows == 0


def test_pattern_is_bound(connection: Connection) -> None:
    answer = Ngrams(pattern="x'); drop table word; --").ask(connection)

    assert answer.table.num_rows == 0
    assert "'x'');'" in answer.query.with_values()


@pytest.mark.parametrize(
    "answer",
    [
        lambda c: Ngrams(pattern="the d*w *", corpus=["toy"], limit=1).ask(c),
        lambda c: Dependencies(head="fell", corpus=["toy", "other"], limit=2).ask(c),
        lambda c: Arguments(word="*", tag="V*").ask(c),
        lambda c: Arguments(word="fell", explain=True, corpus=["toy"]).ask(c),
        lambda c: Kwic(pattern="the * lemma:fall", random=3, corpus=["toy"], limit=2).ask(c),
        lambda c: Frequencies(by=[By.XPOS], pattern="N*", corpus=["toy"]).ask(c),
        lambda c: Collocations(word="dow/NNP", corpus=["toy"], window="2,0").ask(c),
        lambda c: Collocations(word="dow", dependency="nsubj*", corpus=["toy"], min_count=1).ask(c),
    ],
)
def test_sql_shown_is_the_sql_that_ran(answer: Any, connection: Connection) -> None:
    """The shown statement gives the same rows."""
    from sentgen.schema.store import fetch_arrow

    found = answer(connection)
    again = fetch_arrow(connection, found.query.with_values())

    assert found.table.num_rows > 0
    assert again.to_pylist() == found.table.to_pylist()


def test_dependencies_of_a_head(connection: Connection) -> None:
    """ "dow" is left of "fell" in s3 and s7, at distance 1; the rows of two segments are added up."""
    found = rows(Dependencies(head="fell", modifier="dow").ask(connection))

    assert found == [("fell", "VBD", "dow", "NNP", "left", 1, 2)]


def test_heads_of_a_modifier(connection: Connection) -> None:
    found = rows(
        Dependencies(head="stock", tag="NN", reverse=True).ask(connection), "head", "distance", "count"
    )

    assert found == [("bought", 1, 1), ("market", 1, 1), ("sold", 2, 1)]


def test_tag_level_asks_for_tags(connection: Connection) -> None:
    """A proper noun is left of a past tense at distance 1 in s1, s2, s3, s7."""
    found = rows(Dependencies(head="VBD", modifier="NNP", level=Level.TAG_TAG).ask(connection))

    assert found == [(None, "VBD", None, "NNP", "left", 1, 4)]


def test_arguments(connection: Connection) -> None:
    """fell: s1 and s4 one right, s3 two, s7 none; one left in all four."""
    assert rows(Arguments(word="fell").ask(connection)) == [
        ("VBD", "left", 1, 4, 1.0),
        ("VBD", "right", 0, 1, 0.25),
        ("VBD", "right", 1, 2, 0.5),
        ("VBD", "right", 2, 1, 0.25),
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Dependencies(head="fell", explain=True), "'*' is a pattern; name one head and one modifier"),
        (Dependencies(head="f?ll", modifier="dow", explain=True), "'f?ll' is a pattern"),
        (Dependencies(head="fell", modifier="dow", level=Level.TAG_TAG, explain=True), "leave out `level`"),
        (Dependencies(head="fell", modifier="dow", where="length > 3", explain=True), "leave out `where`"),
        (Arguments(word="*", explain=True), "'*' is a pattern; name one head"),
        (Arguments(word="fell", ignore_case=True, explain=True), "leave out .* `ignore_case`"),
    ],
    ids=repr,
)
def test_what_is_not_explained(asked: Question, said: str, connection: Connection) -> None:
    """Patterns cannot be explained, nor counts that the generators do not use."""
    with pytest.raises(InputError, match=said.replace("*' is", r"\*' is").replace("f?l", r"f\?l")):
        asked.ask(connection)


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        (Dependencies(head="fell", modifier="bought", explain=True), "dependencies of head 'fell' and"),
        (
            Dependencies(head="fell", modifier="dow", tag="NN", explain=True),
            "dependencies of head 'fell' and",
        ),
        (Dependencies(head="fell", modifier="dow", corpus=["other"], explain=True), "dependencies of"),
        (Arguments(word="fell", tag="NN", explain=True), "head 'fell' with tag 'NN'"),
    ],
    ids=repr,
)
def test_nothing_to_explain(asked: Question, missing: str, connection: Connection) -> None:
    """A word that is never in that role has no rows, as without `explain`, though its tags are."""
    found, plain = asked.ask(connection), replace(asked, explain=False).ask(connection)

    assert found.is_empty
    assert found.missing.startswith(missing)
    assert found.notes == plain.notes


def test_arguments_of_a_tag(connection: Connection) -> None:
    """VBZ occurs once, "barks", between "dog" and "!"."""
    assert rows(Arguments(word="*", tag="VBZ").ask(connection)) == [
        ("VBZ", "left", 1, 1, 1.0),
        ("VBZ", "right", 1, 1, 1.0),
    ]


def test_concordance_lines(connection: Connection) -> None:
    answer = Kwic(pattern="the dow", context=1).ask(connection)

    assert rows(answer) == [
        ("toy", "d1", "s1", "", "the dow", "jones"),
        ("toy", "d1", "s2", "", "the dow", "jones"),
        ("toy", "d1", "s3", "", "the dow", "fell"),
        ("toy", "d2", "s7", "said", "the dow", "fell"),
    ]
    assert answer.total == 4


@pytest.mark.parametrize(
    ("pattern", "nodes"),
    [
        ("lemma:fall", ["fell"] * 4),
        ("the * lemma:fall", ["the dow fell", "the dow fell"]),
        ("* . ", ["fell .", "rose .", "sharply .", "fell .", "stock .", "stock .", "fell .", "rose ."]),
        ("stock *", ["stock .", "stock .", "stock market"]),
        ("market * *", []),
        ("* * * * barks", []),
        ("stock/NN ?", []),
        ("market ?", ["market?"]),
        ("xpos:VBZ", ["barks"]),
        ("upos:VERB/VBD the", ["sold the", "said the"]),
        ("deprel:obl", ["market"]),
        ("upos:*/VB", ["Go"]),
        ("t?e", ["the"] * 7),
        ("./.", ["."] * 8),
    ],
)
def test_token_patterns(pattern: str, nodes: list[str], connection: Connection) -> None:
    """Sequences stay within the sentence; no space is shown where the source has none."""
    assert [node for (node,) in rows(Kwic(pattern=pattern).ask(connection), "node")] == nodes


def test_concordance_is_sorted(connection: Connection) -> None:
    """Lines are sorted by the nearest word first: fell, rose / bought < the."""
    right = rows(Kwic(pattern="jones", sort="right").ask(connection), "right")
    left = rows(Kwic(pattern="stock", sort="left", corpus=["toy"]).ask(connection), "left")

    assert right == [("fell .",), ("rose .",)]
    assert left == [("the traders bought",), ("traders sold the",)]


def test_first_lines_and_total(connection: Connection) -> None:
    answer = Kwic(pattern=".", limit=3).ask(connection)

    assert rows(answer, "sent_id") == [("s1",), ("s2",), ("s3",)]
    assert (answer.total, answer.truncated) == (8, True)
    assert not Kwic(pattern=".", limit=8).ask(connection).truncated
    assert Kwic(pattern=".", limit=0).ask(connection).table.num_rows == 8


@pytest.mark.parametrize("lines", [1, 100])
@pytest.mark.parametrize(
    ("pattern", "order", "seed", "limit"),
    [
        *(("the", order, None, 2) for order in ORDERS),
        *(("the", order, 1, 100) for order in ORDERS[:2]),
        ("* fell", "none", None, 2),
    ],
)
def test_ranges_of_sentences_make_no_difference(
    connection: Connection,
    pattern: str,
    order: str,
    seed: int | None,
    limit: int,
    lines: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A store searched range by range gives the lines of one that is searched as a whole, in their order."""
    asked = Kwic(pattern=pattern, sort=order, random=seed, limit=limit)
    whole = asked.ask(connection)
    monkeypatch.setattr("sentgen.lookups.base.tokens.SIZE", 20)
    monkeypatch.setattr(line_search_module, "LINES", lines)
    found = asked.ask(connection)

    assert rows(found) == rows(whole)
    assert (found.truncated, found.total) == (whole.truncated, whole.total)


@pytest.mark.parametrize("order", ORDERS)
def test_without_a_limit_ranges_make_none(
    connection: Connection, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All lines are those of a limit that is not reached, and of the parts that are written one by one."""
    monkeypatch.setattr("sentgen.lookups.base.tokens.SIZE", 20)
    monkeypatch.setattr(line_search_module, "LINES", 1)
    everything = rows(Kwic(pattern="the", sort=order, limit=0).ask(connection))

    assert everything == rows(Kwic(pattern="the", sort=order, limit=100).ask(connection))
    _, parts = Kwic(pattern="the", sort=order).parts(connection)
    assert sum(part.num_rows for part in parts) == len(everything)


def test_random_lines_repeat_with_the_seed(connection: Connection) -> None:
    samples = [
        rows(Kwic(pattern="*/VBD", random=seed, limit=4).ask(connection), "sent_id", "node")
        for seed in (1, 1, 2, 3)
    ]

    assert samples[0] == samples[1]
    assert len({tuple(sample) for sample in samples}) > 1
    assert all(sample == sorted(sample, key=lambda line: line[0]) for sample in samples)


def test_unnamed_sentence_goes_by_its_number(connection: Connection) -> None:
    assert rows(Kwic(pattern="barks").ask(connection), "sent_id") == [("9",)]


def test_long_patterns_are_refused(connection: Connection) -> None:
    """A long pattern is refused, as DuckDB took minutes to plan the joins of 200 words."""
    with pytest.raises(InputError, match="has 51 words; at most 50"):
        Kwic(pattern="the " * 51).ask(connection)


def test_stars_alone_are_refused(connection: Connection) -> None:
    with pytest.raises(InputError, match="stars alone"):
        Kwic(pattern="* *").ask(connection)


def test_frequencies_with_dispersion(connection: Connection) -> None:
    """toy: d1 has 18 tokens, d2 21.

    "the" 3 + 3: DP = (|3/6 - 18/39| + |3/6 - 21/39|) / 2 = 1.5/39. "dow" 3 + 1: 11.25/39.
    "jones" 2 + 0: (|1 - 18/39| + 21/39) / 2 = 21/39.
    Juilland's D of rates p and q in two documents: sd / mean = |p - q| / (p + q), and sqrt(n - 1) is 1.
    """
    answer = Frequencies(corpus=["toy"], limit=0).ask(connection)
    found = {row["word"]: row for row in answer.table.to_pylist()}

    assert list(found)[:2] == [".", "the"]
    for word, first, second, dp, coverage in (
        (".", 4, 4, 1.5, 8),
        ("the", 3, 3, 1.5, 14),
        ("dow", 3, 1, 11.25, None),
        ("jones", 2, 0, 21, None),
    ):
        row, p, q = found[word], first / 18, second / 21
        assert (row["count"], row["documents"]) == (first + second, 2 if second else 1)
        assert row["document_share"] == row["documents"] / 2
        assert row["per_million"] == pytest.approx((first + second) * 1e6 / 39)
        assert row["dp"] == pytest.approx(dp / 39)
        assert row["juilland_d"] == pytest.approx(1 - abs(p - q) / (p + q))
        assert coverage is None or row["coverage"] == pytest.approx(coverage / 39)
    assert answer.table["coverage"].to_pylist()[-1] == pytest.approx(1)


def test_dispersion_needs_documents(connection: Connection) -> None:
    """With one document, there are no parts to compare, and dispersion is null."""
    dispersion = rows(Frequencies(corpus=["other"]).ask(connection), "dp", "juilland_d", "document_share")

    assert set(dispersion) == {(None, None, 1.0)}


def test_dispersion_over_three_documents(connection: Connection) -> None:
    """web has 10 tokens and *the* once; V^2 = variance / mean^2 of the rates, and D = 1 - V / sqrt(2)."""
    rates = [3 / 18, 3 / 21, 1 / 10]
    mean = sum(rates) / 3
    expected = 1 - (sum((rate - mean) ** 2 for rate in rates) / 3) ** 0.5 / mean / 2**0.5
    of_hits = Frequencies(query='[word="the"]').ask(connection).table.to_pylist()
    [row] = Frequencies(pattern="the").ask(connection).table.to_pylist()

    assert row["juilland_d"] == pytest.approx(expected)
    assert of_hits[0]["juilland_d"] == pytest.approx(expected)
    assert row["document_share"] == of_hits[0]["document_share"] == 1


@pytest.mark.parametrize(
    ("by", "pattern", "expected"),
    [
        (By.LEMMA, "f*", [("fall", 4)]),
        (By.UPOS, "V*", [("VERB", 10)]),
        (By.XPOS, "VB?", [("VBD", 10), ("VBZ", 1)]),
        (By.DEPREL, "o*", [("obj", 2), ("obl", 1)]),
        (By.WORD, "zebra", []),
    ],
)
def test_frequencies_of_each_attribute(
    by: By, pattern: str, expected: list[tuple[str, int]], connection: Connection
) -> None:
    assert rows(Frequencies(by=[by], pattern=pattern).ask(connection), str(by), "count") == expected


def test_window_measures(connection: Connection) -> None:
    """One word to the left of "dow" in toy: always "the".

    o11 = 4, r1 = 4 tokens in the windows, c1 = c(the) = 6, n = 39, f = c(dow) = 4; e11 = 24/39.
    """
    [found] = rows(Collocations(word="dow", window="1,0", corpus=["toy"]).ask(connection))
    likelihood = 2 * (4 * log(4 / (24 / 39)) + 2 * log(2 / (35 * 6 / 39)) + 33 * log(33 / (35 * 33 / 39)))

    assert found == pytest.approx(("the", 4, 6, 14 + log2(2 * 4 / (4 + 6)), log2(4 * 39 / 24), likelihood))


def test_overlapping_windows_count_a_token_once(connection: Connection) -> None:
    """ "the" is within two words of "dow" and of "jones" in s1 and s2, yet there are only four of it."""
    found = rows(Collocations(word="xpos:NNP", window="2,2").ask(connection), "collocate", "count")

    assert dict(found)["the"] == 4


def test_repelled_words_have_negative_likelihood(connection: Connection) -> None:
    """Within one word of a full stop or noun "the" is never; near "stock" "." is 2 of 3 right neighbours."""
    found = rows(
        Collocations(word="*/VBD", window="3,3", min_count=1, limit=0).ask(connection),
        "collocate",
        "pmi",
        "log_likelihood",
    )

    assert all((pmi < 0) == (likelihood < 0) for _, pmi, likelihood in found if abs(pmi) > 1e-9)
    assert any(pmi < 0 for _, pmi, _ in found)


def test_windows_end_at_the_sentence(connection: Connection) -> None:
    """ "barks" shares its sentence with three tokens."""
    found = rows(Collocations(word="barks", window="9,9", min_count=1).ask(connection), "collocate")

    assert sorted(found) == [("!",), ("The",), ("dog",)]


def test_lemma_collocates(connection: Connection) -> None:
    found = rows(
        Collocations(word="prices", by=CollocateUnit.LEMMA, window="0,1", min_count=1).ask(connection),
        "collocate",
    )

    assert sorted(found) == [("fall",), ("rise",)]


def test_dependency_measures(connection: Connection) -> None:
    """11 subjects; "fell" has 4 of them: jones, dow, prices, dow. c1 = o11 = 2 for dow.

    e11 = 4 * 2 / 11; the cells are 2, 2, 0, 7.
    """
    found = rows(Collocations(word="fell", dependency="nsubj").ask(connection))
    likelihood = 2 * (2 * log(2 / (8 / 11)) + 2 * log(2 / (4 * 9 / 11)) + 7 * log(7 / (7 * 9 / 11)))

    assert len(found) == 1
    assert found[0][:5] == ("nsubj", "modifier", "dow", 2, 2)
    assert found[0][5:] == pytest.approx((14 + log2(4 / 6), log2(2 * 11 / 8), likelihood))


def test_heads_as_collocates(connection: Connection) -> None:
    found = rows(
        Collocations(word="stock", dependency="*", min_count=1).ask(connection),
        "relation",
        "role",
        "collocate",
        "count",
    )

    assert sorted(found) == [
        ("compound", "head", "market", 1),
        ("det", "modifier", "the", 1),
        ("obj", "head", "bought", 1),
        ("obj", "head", "sold", 1),
    ]


@pytest.mark.parametrize("measure", list(Measure))
def test_ranked_by_the_measure(measure: Measure, connection: Connection) -> None:
    column = measure.replace("-", "_")
    values = Collocations(word="fell", measure=measure, min_count=1).ask(connection).table[column].to_pylist()

    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("5", Window(5, 5)),
        ("0,1", Window(0, 1)),
        ("2, 3", Window(2, 3)),
        ("L2-R4", Window(2, 4)),
        ("l12-r0", Window(12, 0)),
        ("L3", Window(3, 0)),
        ("R1", Window(0, 1)),
        ("3L", Window(3, 0)),
        ("2r", Window(0, 2)),
    ],
)
def test_read_window(text: str, window: Window) -> None:
    assert Window.read(text) == window


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "1,2,3", "0", "0,0", "1,", "L", "L2R4", "-R4", "L0-R0", "R4-L2"]
)
def test_read_window_refuses(text: str) -> None:
    with pytest.raises(InputError, match="window"):
        Window.read(text)


def test_collocations_refuse(connection: Connection) -> None:
    with pytest.raises(InputError, match="one word"):
        Collocations(word="the dow").ask(connection)
    with pytest.raises(InputError, match="exclude"):
        Collocations(word="dow", window="1,1", dependency="nsubj").ask(connection)


@pytest.mark.parametrize(
    "question",
    [
        Ngrams(pattern="the *", limit=2),
        Ngrams(pattern="<s>", limit=5),
        Ngrams(pattern="nothing *", limit=5),
        Dependencies(head="fell", limit=3),
        Dependencies(head="fell", level=Level.TAG_TAG, limit=900),
        Arguments(word="fell", limit=4),
        Collocations(word="fell", min_count=1, limit=4),
    ],
    ids=str,
)
def test_few_rows_are_those_of_arrow(question: Any, connection: Connection) -> None:
    """A few rows come without Arrow, whose import takes longer; made into a table, types and values are its own."""
    answer = question.ask(connection)

    expected = answer.query.run(connection)

    assert isinstance(answer.rows, Rows)
    assert answer.table.schema.equals(expected.schema)
    assert answer.table.to_pylist() == answer.rows.to_pylist() == expected.to_pylist()
