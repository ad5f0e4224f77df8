"""Labels of lines as keys of look-ups, against counts of the lines as they are listed."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from labeled_texts import NAMED, conllu, listed
from sqlalchemy import Connection

from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel, TakenBack
from sentgen.desk.lending import DeskLabels, lend_labels
from sentgen.desk.line_sets import NewLineSet, remove
from sentgen.errors import InputError, NotFoundError, SentgenError
from sentgen.lookups.base.question import Question
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.browsing import chosen_by, label_facets
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.subcorpora import define
from sentgen.schema import Store
from sentgen.schema.engine import LINE_LABELS, raw
from sentgen.schema.guard import require_harmless
from sentgen.schema.store import fetch_rows

MAKE = '[lemma="make"]'


@pytest.fixture
def labeled(desk: Desk) -> Desk:
    """The set with labels of two labelers, who agree on the lines that both have labeled."""
    for lines, label, labeler in [
        ("1,3", "light", "ann"),
        ("2", "full", "ann"),
        ("6", "Doubtful case", "ann"),
        ("3", "light", "ben"),
        ("4", "full", "ben"),
    ]:
        GivenLabel(name="make", lines=lines, label=label, labeler=labeler).give(desk)
    return desk


@contextmanager
def opened(store: Path) -> Iterator[Connection]:
    with lend_labels(Store(store, read_only=True)) as lent, lent.connect() as connection:
        yield connection


def ask(store: Path, question: Question) -> Answer:
    with opened(store) as connection:
        return question.ask(connection)


def counts(store: Path, by: str, query: str = MAKE, **more: Any) -> dict[Any, int]:
    rows = ask(store, Frequencies(by=[by], query=query, limit=0, **more)).rows.to_pylist()
    keys = by.split(",")
    return {tuple(row[key] for key in keys) if len(keys) > 1 else row[by]: row["count"] for row in rows}


def listed_labels(desk: Desk, store: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the label of each line by any labeler, `_` for none, with the line."""
    rows = listed(desk, store, show=["word"])
    return [(next((row[name] for name in ("label_ann", "label_ben") if row[name]), "_"), row) for row in rows]


def found(store: Path, where: str) -> list[tuple[str, str]]:
    rows = ask(store, Kwic(pattern="[]", where=where, limit=0)).rows.to_pylist()
    return sorted({(row["document"], row["sent_id"]) for row in rows})


def test_hits_are_counted_by_their_labels(labeled: Desk, store: Path) -> None:
    lines = listed_labels(labeled, store)

    assert counts(store, "lines.make") == Counter(label for label, _ in lines)
    assert counts(store, "lines.make") == {"light": 2, "full": 2, "Doubtful case": 1, "_": 2}
    by_word = Counter((label, row["word"]) for label, row in lines)
    assert counts(store, "lines.make,word") == by_word
    assert counts(store, "document,lines.make") == Counter((row["document"], label) for label, row in lines)


def test_the_innermost_line_counts(desk: Desk, store: Path) -> None:
    """Of nested lines the innermost counts; of two of the same length the one that begins later."""
    with opened(store) as connection:
        NewLineSet(name="nested", pattern="[]{2}").make(desk, connection)
    for row in listed(desk, store, name="nested"):
        if row["node"] in ("we make", "make a"):
            GivenLabel(name="nested", lines=str(row["line"]), label=row["node"], labeler="ann").give(desk)

    assert counts(store, "word,lines.nested", '[word="we|make|a"] within "we" "make" "a"') == {
        ("we", "we make"): 1,
        ("make", "make a"): 1,
        ("a", "make a"): 1,
    }


def test_labels_of_one_labeler(labeled: Desk, store: Path) -> None:
    of_ben = Counter(row["label_ben"] or "_" for row in listed(labeled, store))

    assert counts(store, "lines.make.ben") == of_ben == {"light": 1, "full": 1, "_": 5}


def test_every_token_of_a_line_has_its_label(labeled: Desk, store: Path) -> None:
    """Every token of a line has its label, so that hits within it have it, too."""
    with opened(store) as connection:
        NewLineSet(name="longer", pattern='"we" "make" "a"').make(labeled, connection)
    GivenLabel(name="longer", lines="1", label="x", labeler="ann").give(labeled)

    assert counts(store, "lines.longer", "[]") == {"x": 3, "_": 25 - 3}
    assert counts(store, "lines.longer", '"make" "a"') == {"x": 1}
    assert counts(store, "lines.longer", '"list"') == {"_": 1}


def test_sentences_are_chosen_by_labels(labeled: Desk, store: Path) -> None:
    lines = listed_labels(labeled, store)

    def holding(*labels: str) -> list[tuple[str, str]]:
        return sorted({(row["document"], row["sent_id"]) for label, row in lines if label in labels})

    everything = found(store, "length > 0")
    assert found(store, "lines.make = light") == holding("light")
    assert found(store, "lines.make in (light, full)") == holding("light", "full")
    assert found(store, "lines.make ~ 'D.*'") == holding("Doubtful case")
    assert found(store, "exists lines.make") == holding("light", "full", "Doubtful case")
    assert found(store, "lines.make != light") == [one for one in everything if one not in holding("light")]
    assert found(store, "lines.make = light and length = 4 or lines.make.ben = full") == sorted(
        {*holding("full")} & {("talk", "t5")} | {("talk", "t1"), ("talk", "t3")}
    )


def test_the_case_of_labels_does_not_matter(labeled: Desk, store: Path) -> None:
    assert found(store, "lines.make = 'DOUBTFUL case'") == found(store, "lines.make = 'Doubtful case'") != []


def test_other_questions_take_the_condition(labeled: Desk, store: Path) -> None:
    """Other look-ups with a condition on labels count the tokens of the sentences that meet it."""
    for question in (Ngrams(pattern="* *", limit=0), Frequencies(limit=0)):
        by_label, by_name = (
            ask(store, replace(question, where=where)).rows.to_pylist()
            for where in ("lines.make = light", "sent_id in (t1, t3)")
        )
        assert by_label == by_name != []


def matched(store: Path, request: str, *keys: str) -> dict[Any, int]:
    answer = ask(store, Match(request=request, key=list(keys), limit=0))
    rows = answer.rows.to_pylist()
    # The value of Grew for no value.
    return {tuple(row[key].replace("__undefined__", "_") for key in keys): row["count"] for row in rows}


def test_matches_of_trees_are_counted_by_the_label_of_their_first_token(labeled: Desk, store: Path) -> None:
    lines = listed_labels(labeled, store)

    by_label = matched(store, 'pattern { V [lemma="make"] }', "lines.make", "V.form")
    assert by_label == Counter((label, row["word"]) for label, row in lines)
    of_ben = Counter((row["label_ben"] or "_",) for row in listed(labeled, store))
    assert matched(store, 'pattern { V [lemma="make"] }', "lines.make.ben") == of_ben
    # The head stands before its dependent in these texts.
    heads = Counter((label,) for label, row in lines if row["right"])
    assert matched(store, 'pattern { V [lemma="make"]; V -> O }', "lines.make") == heads
    by_key = (
        Match(request='pattern { V [lemma="make"] }', sort="lines.make"),
        Kwic(pattern=MAKE, sort="lines.make"),
    )
    places = [[(row["sent_id"], row["left"]) for row in ask(store, one).rows.to_pylist()] for one in by_key]
    assert places[0] == places[1]


def test_lines_show_labels_and_are_sorted_by_them(labeled: Desk, store: Path) -> None:
    answer = ask(store, Kwic(pattern=MAKE, show=["lines.make"], sort="lines.make", limit=0))

    labels = [row["lines.make"] for row in answer.rows.to_pylist()]
    assert labels == [None, None, "Doubtful case", "full", "full", "light", "light"]


def test_numbers_among_labels(desk: Desk, store: Path) -> None:
    for lines, label in (("1-2", "2"), ("3", "10"), ("4", "none")):
        GivenLabel(name="make", lines=lines, label=label, labeler="ann").give(desk)

    assert found(store, "lines.make >= 3") == [("talk", "t3")]
    (row,) = ask(store, Frequencies(by=["corpus"], query=MAKE, mean="lines.make")).rows.to_pylist()
    assert row["mean"] == pytest.approx((2 + 2 + 10) / 3)


def test_a_changed_label_counts_at_once(labeled: Desk, store: Path) -> None:
    """A changed label counts at once, also in an open connection with a cache."""
    with opened(store) as connection:

        def now() -> dict[Any, int]:
            rows = Frequencies(by=["lines.make"], query=MAKE).ask(connection).rows.to_pylist()
            return {row["lines.make"]: row["count"] for row in rows}

        def sentences() -> int:
            return Kwic(pattern="[]", where="lines.make = light", limit=0).ask(connection).rows.num_rows

        assert (now()["light"], sentences()) == (2, 8)
        GivenLabel(name="make", lines="7", label="light", labeler="ann").give(labeled)
        assert (now()["light"], sentences()) == (3, 12)
        TakenBack(name="make", labeler="ann").undo(labeled)
        assert (now()["light"], sentences()) == (2, 8)


def test_a_subcorpus_of_labels_follows_them(labeled: Desk, store: Path) -> None:
    """Its condition is looked up each time; without the set there is no subcorpus."""
    with lend_labels(Store(store)) as lent, lent.begin() as connection:
        assert define(connection, "light", "lines.make = light", ["texts"])[1] == 2
        define(connection, "short", "length < 5", ["light"])

    def sentences(corpus: str) -> list[str]:
        rows = ask(store, Kwic(pattern="[]", corpus=[corpus], limit=0)).rows.to_pylist()
        return sorted({row["sent_id"] for row in rows})

    assert (sentences("light"), sentences("short")) == (["t1", "t3"], ["t1", "t3"])
    GivenLabel(name="make", lines="3-4", label="light", labeler="ann").give(labeled)
    assert sentences("light") == ["t1", "t3", "t5"]
    TakenBack(name="make", labeler="ann").undo(labeled)
    assert sentences("light") == ["t1", "t3"]
    remove(labeled, "make")
    with pytest.raises(NotFoundError, match="no line set 'make'"):
        sentences("light")
    with (
        lend_labels(Store(store)) as lent,
        lent.begin() as connection,
        pytest.raises(NotFoundError, match="no line set 'make'"),
    ):
        define(connection, "full", "lines.make = full")


def test_labelers_who_differ(labeled: Desk, store: Path) -> None:
    """A sentence has a label if any labeler gave it; for a token, which has one label, a labeler must be named."""
    GivenLabel(name="make", lines="1", label="full", labeler="ben").give(labeled)

    assert ("talk", "t1") in found(store, "lines.make = light")
    assert ("talk", "t1") in found(store, "lines.make = full")
    with pytest.raises(
        InputError,
        match=r"^lines\.make: labelers give 1 line different labels; say whose, lines\.make\.ann or"
        r" lines\.make\.ben$",
    ):
        counts(store, "lines.make")
    assert counts(store, "lines.make.ann")["light"] == 2


def test_lines_that_are_gone_or_changed_have_no_label(
    labeled: Desk, read: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    """Lines are found after their text was read again; removed lines, and those with other words, have no label."""
    text = conllu(["he makes do" if sentence == "they made it" else sentence for sentence in NAMED])
    later = read("later.duckdb", after=conllu(["first"], ["x"]).replace("talk", "before"), text=text)
    with lend_labels(Store(later, read_only=True), labeled.path) as lent, lent.connect() as connection:
        rows = Frequencies(by=["lines.make"], query=MAKE).ask(connection).rows.to_pylist()

    kept = Counter(
        row["label_ann"] or row["label_ben"] or "_"
        for row in listed(labeled, later)
        if row["state"] != "changed"
    )
    assert {row["lines.make"]: row["count"] for row in rows} == kept
    assert caplog.messages == [
        "1 line of make is gone from the store, or changed since it was labeled, and without a label here"
    ]


def test_sentences_of_the_same_name_and_words(read: Callable[..., Path], tmp_path: Path) -> None:
    """Of sentences with the same name and words, the labeled one is found by its place in the document."""
    twins = read("twins.duckdb", text=conllu(["you make it", "no", "you make it"]).replace("= t3", "= t1"))
    desk = Desk(tmp_path / "twins.desk", create=True)
    with opened(twins) as connection:
        NewLineSet(name="make", pattern="lemma:make").make(desk, connection)
    GivenLabel(name="make", lines="2", label="x", labeler="ann").give(desk)

    rows = ask(twins, Kwic(pattern="lemma:make", show=["lines.make"], limit=3)).rows.to_pylist()
    assert [row["lines.make"] for row in rows] == [None, "x", None]


def test_no_labels_that_are_still_there(labeled: Desk, read: Callable[..., Path]) -> None:
    other = read("other.duckdb", text=conllu().replace("talk", "walk").replace("plain", "plane"))

    with (
        lend_labels(Store(other, read_only=True), labeled.path) as lent,
        lent.connect() as connection,
        pytest.raises(InputError, match=r"^lines\.make has no labels here: 5 lines of make are gone"),
    ):
        Frequencies(by=["lines.make"], query=MAKE).ask(connection)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Frequencies(by=["lines.mkae"], query=MAKE), "no line set 'mkae'; there are: bare, make"),
        (Frequencies(where="lines.mkae = light"), "no line set 'mkae'; there are: bare, make"),
        (Match(request="pattern { V [] }", key=["lines.mkae"]), "no line set 'mkae'; there are: bare, make"),
        (Kwic(pattern="make", show=["lines.mkae"]), "no line set 'mkae'; there are: bare, make"),
        (Frequencies(by=["lines.make.bob"]), "'bob' has labeled no line of make; there is lines.make.ann"),
        (Frequencies(where="exists lines.bare"), "no line of bare has a label yet"),
        (Frequencies(by=["lines.bare"]), "no line of bare has a label yet"),
        (Frequencies(by=["lines.make"], compare=True, query=MAKE), "metadata"),
    ],
)
def test_refusals(labeled: Desk, store: Path, question: Question, message: str) -> None:
    with opened(store) as connection:
        NewLineSet(name="bare", pattern="make").make(labeled, connection)

    with pytest.raises(SentgenError, match=message):
        ask(store, question)


def test_a_label_that_is_never_given(labeled: Desk, store: Path) -> None:
    answer = ask(store, Kwic(pattern="[]", where="lines.make = lihgt"))

    assert "lines.make is never 'lihgt', did you mean light?" in answer.notes[-1]


def test_a_name_of_several_words_stands_in_quotes(labeled: Desk, store: Path) -> None:
    with opened(store) as connection:
        NewLineSet(name="two words.v2", pattern="make").make(labeled, connection)
    GivenLabel(name="two words.v2", lines="1", label="x", labeler="a.b").give(labeled)

    assert found(store, '"lines.two words.v2" = x') == [("talk", "t1")]
    assert found(store, '"lines.two words.v2.a.b" = x') == [("talk", "t1")]
    assert counts(store, "lines.two words.v2.a.b")["x"] == 1


@pytest.mark.parametrize("label", ["it's", 'a "b"', "$lines {0} %s", "ß → 語", "2%", "a\\b"])
def test_any_label(desk: Desk, store: Path, label: str) -> None:
    """A label may be any text, and the shown statement gives the same rows."""
    GivenLabel(name="make", lines="1-2", label=label, labeler="ann").give(desk)

    assert counts(store, "lines.make") == {label: 2, "_": 5}
    condition = chosen_by("lines.make", label)
    assert found(store, condition) == [("talk", "t1"), ("talk", "t2")]
    with opened(store) as connection:
        answer = Frequencies(by=["lines.make"], query=MAKE, where=condition).ask(connection)
        assert fetch_rows(connection, answer.query.with_values()).to_pylist() == answer.rows.to_pylist()


def test_what_the_store_and_the_query_call_lines_goes_first(labeled: Desk, read: Callable[..., Path]) -> None:
    """A metadata key, or a label of the query, goes before a set of the same name."""
    text = conllu().replace("# newdoc id = talk", "# newdoc id = talk\n# meta::lines.make = own")
    own = read("own.duckdb", text=text)

    assert found(own, "lines.make = own") == [("talk", f"t{number}") for number in range(1, 6)]
    assert counts(own, "lines.word", f"lines:{MAKE}") == {"make": 5, "made": 2}


@pytest.mark.parametrize(
    ("lent", "message"),
    [
        (lambda store: None, "no line set 'make' here"),
        (DeskLabels, r"alone\.desk: no line sets yet; make one with: sentgen lines new SET QUERY$"),
        (
            lambda store: DeskLabels(store, store.with_name("none.desk")),
            r"none\.desk: no line sets yet; make one with: sentgen lines new SET QUERY$",
        ),
        (
            # A server does not tell where the file would be.
            lambda store: DeskLabels(store, store.with_name("none.desk"), tells_place=False),
            "^no line set 'make'; make one with: sentgen lines new SET QUERY$",
        ),
        (
            lambda store: DeskLabels(store.parent),
            "^no line set 'make': sets lie beside a store, and .* is a lake or a snapshot",
        ),
    ],
)
def test_without_a_desk(
    read: Callable[..., Path], lent: Callable[[Path], DeskLabels | None], message: str
) -> None:
    store = read("alone.duckdb")
    with Store(store, read_only=True) as alone:
        alone.lent[LINE_LABELS] = lent(store)
        with alone.connect() as connection, pytest.raises(SentgenError, match=message):
            Frequencies(where="lines.make = x").ask(connection)


@pytest.mark.parametrize("name", ["$foo", "$most", 'a"$b', "it's -- $labeled", "{rows} {0}"])
def test_a_set_may_have_any_name(desk: Desk, store: Path, name: str) -> None:
    """A set may have any name, as it is no part of the statement, which runs as it is shown."""
    with opened(store) as connection:
        NewLineSet(name=name, pattern="lemma:make").make(desk, connection)
    GivenLabel(name=name, lines="1", label=f"{name}?", labeler="ann").give(desk)
    with opened(store) as connection:
        answer = Frequencies(by=[f"lines.{name}"], query=MAKE, limit=0).ask(connection)
        require_harmless(raw(connection), answer.query.with_values())
        again = fetch_rows(connection, answer.query.with_values())

    rows = answer.rows.to_pylist()
    assert sum(row["count"] for row in rows if row[f"lines.{name}"] == f"{name}?") == 1
    assert [tuple(row) for row in again] == [tuple(row) for row in answer.rows]


def offered(store: Path, *corpora: str, key: str = "") -> dict[str, dict[str, int]]:
    with opened(store) as connection:
        rows = label_facets(connection, corpora, key).to_pylist()
    keys = dict.fromkeys(row["key"] for row in rows)
    return {key: {row["value"]: row["lines"] for row in rows if row["key"] == key} for key in keys}


def test_labels_are_offered_with_the_lines_that_have_them(labeled: Desk, store: Path) -> None:
    """Each set, and each labeler where there are several; their conditions find the sentences of these."""
    with opened(store) as connection:
        NewLineSet(name="bare", pattern="make").make(labeled, connection)
        NewLineSet(name='a "b" c', pattern="make").make(labeled, connection)
        GivenLabel(name='a "b" c', lines="1-2", label='x "y"', labeler="ann").give(labeled)
        rows = label_facets(connection, ()).to_pylist()
    lines = listed(labeled, store)

    assert [*offered(store)] == [
        'lines.a "b" c',
        "lines.make",
        "lines.make.ann",
        "lines.make.ben",
    ]
    for row in rows:
        name, label = row["key"].removeprefix("lines."), row["value"]
        if name.startswith("make"):
            columns = [
                f"label_{labeler}" for labeler in ("ann", "ben") if name in ("make", f"make.{labeler}")
            ]
            having = [line for line in lines if label in [line[column] for column in columns]]
            assert row["lines"] == len(having)
            assert found(store, row["condition"]) == sorted(
                {(line["document"], line["sent_id"]) for line in having}
            )
        else:
            assert (row["lines"], len(found(store, row["condition"]))) == (2, 2)
    assert offered(store, "texts") == offered(store)


def test_labels_of_other_corpora_are_not_offered(read: Callable[..., Path], tmp_path: Path) -> None:
    both = read("both.duckdb", after=conllu(["we make it"], ["x"]).replace("talk", "other"))
    desk = Desk(tmp_path / "both.desk", create=True)
    with opened(both) as connection:
        NewLineSet(name="two", pattern="lemma:make").make(desk, connection)
    GivenLabel(name="two", lines="1", label="x", labeler="ann").give(desk)
    GivenLabel(name="two", lines="2-3", label="y", labeler="ann").give(desk)

    assert offered(both) == {"lines.two": {"y": 2, "x": 1}}
    assert offered(both, "other") == {"lines.two": {"x": 1}}
    assert offered(both, "texts") == {"lines.two": {"y": 2}}


def test_of_many_labels_the_largest_are_offered(desk: Desk, store: Path) -> None:
    """The largest labels are offered, on request all; names that are read as those of another set are not."""
    with opened(store) as connection:
        NewLineSet(name="all", pattern="[]").make(desk, connection)
        NewLineSet(name="all.ann", pattern="[]").make(desk, connection)
    for number in range(25):
        for labeler in ("ann", "ben"):
            GivenLabel(name="all", lines=str(number + 1), label=f"l{number:02}", labeler=labeler).give(desk)
    GivenLabel(name="all", lines="1", label="l24", labeler="ben").give(desk)

    assert [*offered(store)] == ["lines.all", "lines.all.ben"]
    assert [*offered(store)["lines.all"]] == ["l24", *(f"l{number:02}" for number in range(23))]
    assert len(offered(store, key="lines.all")["lines.all"]) == 25


NAMES = st.text(st.sampled_from("ab1\\\"'.: -%$#{}[]()=<>|*?éß日“”&@;~^"), min_size=1, max_size=6).map(
    str.strip
)


# `*` stands for all labelers.
@given(name=NAMES, label=NAMES, labeler=NAMES.filter(lambda text: "*" not in text))
@example("x\\y", "a\\", 'b"')
@example("and", "not in", "or")
@example("1990", "1e3", "10")
@example("length", "_", "meta.genre")
@example("a%c", "x%c", "b%c")
def test_any_name_is_a_key_and_a_value(
    made: Path, tmp_path_factory: pytest.TempPathFactory, name: str, label: str, labeler: str
) -> None:
    """Of sets, labels and labelers: in breakdowns, columns, orders, trees and conditions."""
    assume("?" not in (name, label, labeler) and "" not in (name, label, labeler))
    folder = tmp_path_factory.mktemp("names")
    store, desk = (Path(shutil.copy(made / f"a.{kind}", folder)) for kind in ("duckdb", "desk"))
    with opened(store) as connection:
        NewLineSet(name=name, pattern="lemma:make").make(Desk(desk), connection)
        given_label = GivenLabel(name=name, lines="1-3", label=label, labeler=labeler)
        given_label.give(Desk(desk))
        for key in (f"lines.{name}", f"lines.{name}.{labeler}"):
            question = Frequencies(by=[key], query=MAKE, limit=0)
            rows = question.ask(connection).rows.to_pylist()
            assert {row[key]: row["count"] for row in rows} == {label: 3, "_": 4} or label == "_"
            # Behind a key, `%c` ignores the case.
            sort = f"-{key}%c" if key.endswith("%c") else f"-{key}"
            shown = Kwic(pattern=MAKE, show=[key], sort=sort, limit=3).ask(connection)
            (column,) = {*shown.rows.columns} - {*Kwic(pattern=MAKE).ask(connection).rows.columns}
            assert shown.rows.column(column) == [label] * 3
            by_tree = Match(request='pattern { V [lemma="make"] }', key=[key]).ask(connection)
            assert (label, 3) in [
                (row[by_tree.rows.columns[0]], row["count"]) for row in by_tree.rows.to_pylist()
            ]
            where = chosen_by(key, label)
            assert Kwic(pattern=MAKE, where=where, limit=0).ask(connection).rows.num_rows == 3
