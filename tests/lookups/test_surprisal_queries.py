"""Surprisal and other numbers in queries, lines and frequency lists, against counts in Python."""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meta_treebank import WORDS, sentences, store_of
from scipy import stats
from sqlalchemy import Connection

from sentgen.errors import InputError, QueryError, SentgenError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.hits import HitLookup
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.intervals import RatioSums
from sentgen.models import build
from sentgen.models.surprisal import ApplyRequest
from sentgen.schema import Store
from sentgen.schema.engine import raw
from sentgen.schema.guard import require_harmless

ROWS = sentences()
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: A token: its sentence, position, form and tag, and its surprisal in bits, if any.
Token = tuple[str, int, str, str, float | None]


def make(path: Path, *applied: tuple[str, str]) -> Path:
    """Make a store with two models, and apply them."""
    store_of(path, ROWS)
    with Store(path) as store:
        for name, order in (("pair", 2), ("my-one", 1)):
            build(store, name, ["first"], order=order)
        for model, corpus in applied:
            ApplyRequest(name=model, corpus=[corpus]).apply(store)
    return path


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store in which one model was applied to one of two corpora."""
    path = make(tmp_path_factory.mktemp("surprisal") / "s.duckdb", ("pair", "first"))
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store in which two models were applied."""
    both = (("pair", "first"), ("my-one", "first"), ("my-one", "second"))
    path = make(tmp_path_factory.mktemp("surprisal") / "s.duckdb", *both)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def tokens(connection: Connection, model: str = "pair") -> list[Token]:
    query = "select sent_id, position, surprisal from v_surprisal where model = ?"
    bits = {(sent, place): value for sent, place, value in raw(connection).execute(query, [model]).fetchall()}
    return [
        (one.sent_id, place, form, tag, bits.get((one.sent_id, place)))
        for one in ROWS
        for place, (form, tag, _) in enumerate(one.tokens, 1)
    ]


def lines(connection: Connection, query: str, **options: Any) -> list[tuple[str, int]]:
    found = Kwic(pattern=query, limit=0, **options).ask(connection).table.to_pylist()
    return [(row["sent_id"], len(row["left"].split()) + 1) for row in found]


def among(connection: Connection, *keys: str, **options: Any) -> list[dict[str, Any]]:
    return Frequencies(by=list(keys), limit=0, **options).ask(connection).table.to_pylist()


@settings(max_examples=settings.default.max_examples // 5)
@given(st.sampled_from(sorted(OPERATORS)), st.integers(0, 6), st.sampled_from(["", "DET", "NOUN"]))
def test_bounds(connection: Connection, sign: str, limit: int, tag: str) -> None:
    """Conditions in CQL and Grew, alone and with tags; a negated one also matches tokens without surprisal."""
    met = {
        (sent, place)
        for sent, place, _, upos, bits in tokens(connection)
        if bits is not None and OPERATORS[sign](bits, limit) and tag in ("", upos)
    }
    others = {(sent, place) for sent, place, _, upos, _ in tokens(connection) if tag in ("", upos)} - met
    of = f'upos="{tag}" & ' if tag else ""
    grew = f"V [{f'upos={tag}, ' if tag else ''}surprisal {sign} {limit}]"

    assert set(lines(connection, f"[{of}surprisal {sign} {limit}]")) == met
    assert len(lines(connection, f"[{of}surprisal.pair {sign} {limit}]", across=True)) == len(met)
    assert set(lines(connection, f"[{of}!(surprisal {sign} {limit})]")) == others
    assert Match(request=f"pattern {{ {grew} }}", count=True).ask(connection).total == len(met)


def test_tokens_are_compared(connection: Connection) -> None:
    """Labels in CQL, nodes in Grew: the second of two is more surprising, or it is with a bound."""
    there = {(sent, place): bits for sent, place, _, _, bits in tokens(connection)}
    pairs = [
        (bits, there[sent, place + 1]) for (sent, place), bits in there.items() if (sent, place + 1) in there
    ]
    more = sum(1 for one, two in pairs if one is not None and two is not None and one < two)
    bound = sum(1 for one, two in pairs if one is not None and two is not None and one < two and two >= 3)
    clauses = "pattern { A []; B []; A < B; A.surprisal < B.surprisal }"

    assert len(lines(connection, "a:[] b:[] :: a.surprisal < b.surprisal")) == more
    assert len(lines(connection, "a:[] b:[] :: a.surprisal < b.surprisal & b.surprisal.pair >= 3")) == bound
    assert len(lines(connection, "a:[] b:[] :: !(a.surprisal < b.surprisal)")) == len(pairs) - more
    assert Match(request=clauses, count=True).ask(connection).total == more


def test_lines_are_sorted_and_show_it(connection: Connection) -> None:
    """Lines are sorted by the surprisal of the first token; those without are first, or last if descending."""
    nouns = [one for one in tokens(connection) if one[3] == "NOUN"]
    expected = sorted((one[4] for one in nouns if one[4] is not None), reverse=True)
    found = Kwic(pattern="upos:NOUN", sort="-surprisal", show=["surprisal"], limit=0).ask(connection)
    shown = [row["surprisal"] for row in found.table.to_pylist()]
    turned = Kwic(pattern="upos:NOUN", sort="surprisal", show=["surprisal.pair"], limit=0).ask(connection)
    matched = Match(request="pattern { N [upos=NOUN] }", sort="-surprisal", limit=3).ask(connection)

    assert shown == [*expected, *[None] * (len(nouns) - len(expected))]
    assert [row["surprisal.pair"] for row in turned.table.to_pylist()] == shown[::-1]
    first = found.table.to_pylist()[:3]
    assert [row["sent_id"] for row in matched.table.to_pylist()] == [row["sent_id"] for row in first]
    across = Kwic(pattern="upos:NOUN", sort="-surprisal", show=["surprisal"], context="3s", limit=0)
    assert [row["surprisal"] for row in across.ask(connection).table.to_pylist()] == shown


def test_bins(connection: Connection) -> None:
    """Tokens, hits and labels are counted by bins of one bit; missing surprisal counts as `_`."""

    def binned(bits: float | None) -> str:
        return "_" if bits is None else f"{math.floor(bits)}-{math.floor(bits) + 1}"

    counted: dict[str, int] = defaultdict(int)
    by_tag: dict[tuple[str, str], int] = defaultdict(int)
    for _, _, _, tag, bits in tokens(connection):
        counted[binned(bits)] += 1
        by_tag[tag, binned(bits)] += 1

    assert {row["surprisal"]: row["count"] for row in among(connection, "surprisal")} == counted
    found = among(connection, "a.upos", "a.surprisal.pair", query="a:[]")
    assert {(row["a.upos"], row["a.surprisal.pair"]): row["count"] for row in found} == by_tag
    counted["__undefined__"] = counted.pop("_")
    keyed = Match(request="pattern { V [upos] }", key=["V.surprisal"], limit=0).ask(connection).table
    assert {row["V.surprisal"]: row["count"] for row in keyed.to_pylist()} == counted


@pytest.mark.parametrize("key", ["genre", "upos"])
def test_means_with_intervals(connection: Connection, key: str) -> None:
    """Means have intervals over documents; tokens without surprisal do not count."""
    about = {one.sent_id: one for one in ROWS}
    sums: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for sent, _, _, tag, bits in tokens(connection):
        if bits is not None:
            value = tag if key == "upos" else about[sent].value("genre") or "_"
            sums[value][about[sent].document].append(bits)

    found = {row[key]: row for row in among(connection, key, mean="surprisal")}
    assert set(sums) <= set(found)
    for value, parts in sums.items():
        y = [sum(bits) for bits in parts.values()]
        n = [float(len(bits)) for bits in parts.values()]
        mean = sum(y) / sum(n)
        row = found[value]
        assert row["mean"] == pytest.approx(mean)
        if len(n) < 3:
            assert row["mean_low"] is row["mean_high"] is None
            continue
        squares = sum((one - mean * size) ** 2 for one, size in zip(y, n, strict=True))
        error = math.sqrt(squares * len(n) / (len(n) - 1)) / sum(n)
        reach = stats.t.ppf(0.975, len(n) - 1) * error
        assert (row["mean_low"], row["mean_high"]) == pytest.approx((mean - reach, mean + reach), rel=0.01)


def test_intervals_in_python_are_those_in_sql(connection: Connection) -> None:
    """Intervals of means in SQL, for stored surprisal, and in Python, for new scores, agree."""
    about = {one.sent_id: one.document for one in ROWS}
    parts: dict[str, list[float]] = defaultdict(list)
    for sent, _, _, _, bits in tokens(connection):
        if bits is not None:
            parts[about[sent]].append(bits)
    (row,) = among(connection, "corpus", corpus=["first"], mean="surprisal")
    sums = RatioSums()
    assert math.isnan(sums.interval[0])
    for number, bits in enumerate(parts.values()):
        assert math.isnan(sums.interval[1]) == (number < 3)
        sums.add(sum(bits), len(bits))
        sums.add(0, 0)

    assert sums.interval == pytest.approx((row["mean"], row["mean_low"], row["mean_high"]))


def test_means_of_other_numbers(connection: Connection) -> None:
    """Metadata and keys of every sentence have means, also of labels; values that are no numbers are left out."""
    lengths = [len(one.tokens) for one in ROWS for _ in one.tokens]
    by_corpus = {row["corpus"]: row for row in among(connection, "corpus", mean="match.length")}
    second = {
        row["upos"]: row["mean"] for row in among(connection, "upos", query='[upos="DET"]', mean="year")
    }
    years = [
        float(year)
        for one in ROWS
        for _, tag, _ in one.tokens
        if tag == "DET" and (year := one.of_document.get("year")) not in (None, "n.d.", "nan")
    ]

    total = sum(row["mean"] * row["count"] for row in by_corpus.values())
    assert total == pytest.approx(sum(lengths))
    assert second == {"DET": pytest.approx(sum(years) / len(years))}
    with pytest.raises(InputError, match="lemma is never a number here"):
        among(connection, "upos", mean="lemma")
    with pytest.raises(InputError, match="a mean is that of one number"):
        among(connection, "upos", mean="surprisal,length")
    with pytest.raises(QueryError, match="no attribute 'lenght'"):
        among(connection, "upos", mean="lenght")


@pytest.mark.parametrize("sign", sorted(OPERATORS))
def test_numbers_in_metadata_and_attributes(connection: Connection, sign: str) -> None:
    """Years in any spelling are compared as numbers in CQL, Grew and `--where`; other values never match."""

    def met(value: str | None) -> bool:
        return value not in (None, "n.d.", "nan") and OPERATORS[sign](float(str(value)), 2010)

    expected = sum(len(one.tokens) for one in ROWS if met(one.of_document.get("year")))
    where = Kwic(pattern="[]", where=f"year {sign} 2010", count=True).ask(connection).total

    assert len(lines(connection, f"[] :: match.doc_year {sign} 2010")) == where == expected
    assert len(lines(connection, f'[] :: year {sign} "2010.0"')) == expected
    grew = Match(request=f"global {{ year {sign} 2010 }} pattern {{ V [upos] }}", count=True)
    assert grew.ask(connection).total == expected
    assert lines(connection, f"[word {sign} 1]") == []


def test_models_are_named_where_several_were_applied(several: Connection) -> None:
    """`surprisal` alone is refused with the names of models; an underscore stands for a hyphen, as in other names."""
    for query in ("[surprisal > 3]", "[] :: match.surprisal > 3"):
        with pytest.raises(SentgenError, match=r"which model\? Write surprisal.my_one or surprisal.pair"):
            lines(several, query)
    for options in ({"sort": "surprisal"}, {"show": ["surprisal"]}):
        with pytest.raises(SentgenError, match="the surprisal by which model"):
            lines(several, "[]", **options)
    with pytest.raises(SentgenError, match=r"no 'surprisal.x'; write surprisal.my_one or surprisal.pair"):
        lines(several, "[surprisal.x > 3]")
    for name in ("my_one", "my_one_1"):
        expected = [one[:2] for one in tokens(several, "my-one") if one[4] is not None and one[4] > 3]
        assert sorted(lines(several, f"[surprisal.{name} > 3]")) == sorted(expected)
        assert Match(request=f"pattern {{ V [surprisal.{name} > 3] }}", count=True).ask(several).total == len(
            expected
        )
    assert lines(several, "[]", sort="surprisal.my-one@1") == lines(several, "[]", sort="surprisal.my_one")
    # The second corpus has the surprisal of one model only.
    assert lines(several, "[surprisal < 99]", corpus=["second"])


def test_nothing_to_ask_is_refused(connection: Connection, tmp_path: Path) -> None:
    """Without any surprisal, a question is refused with the command for it."""
    with pytest.raises(
        SentgenError,
        match="no token of second has a surprisal; store it with: sentgen models apply MODEL --corpus second",
    ):
        lines(connection, "[surprisal > 3]", corpus=["second"])
    for options in ({"sort": "surprisal"}, {"show": ["surprisal"]}):
        with pytest.raises(SentgenError, match="no token of second has a surprisal"):
            lines(connection, "[]", corpus=["second"], **options)
    for ask in (
        lambda: among(connection, "surprisal", corpus=["second"]),
        lambda: among(connection, "corpus", corpus=["second"], mean="surprisal"),
        lambda: Match(request="pattern { V [surprisal > 3] }", corpus=["second"]).ask(connection),
        lambda: Match(request="pattern { V [] }", key=["V.surprisal"], corpus=["second"]).ask(connection),
    ):
        with pytest.raises(SentgenError, match="no token of second has a surprisal"):
            ask()
    path = store_of(tmp_path / "plain.duckdb", ROWS[:5])
    with (
        Store(path, read_only=True) as store,
        store.connect() as plain,
        pytest.raises(
            SentgenError,
            match="no token has a surprisal; store it with: sentgen models apply MODEL --corpus CORPUS",
        ),
    ):
        lines(plain, "[surprisal > 3]")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ('[surprisal = "3"]', "surprisal is a number: compare it by <, <=, > or >="),
        ('[surprisal > "x"]', "what is compared by > is a number, such as 12.5"),
        ("[surprisal > nan]", "a value stands in quotes"),
        ("surprisal:[]", "surprisal is an attribute of tokens; take another label"),
        ('a:[] :: a.b.lemma = "x"', "a.b.lemma has two labels"),
        ("[a.surprisal > 2]", "a label is compared behind the pattern"),
    ],
)
def test_what_cannot_be_asked(connection: Connection, query: str, message: str) -> None:
    """A wrong query on surprisal is refused in one line."""
    with pytest.raises(QueryError, match=message):
        lines(connection, query)


def test_grew_refuses_other_dots_and_words(connection: Connection) -> None:
    """Features with a dot in their name, and comparisons with a word, are refused."""
    for request, message in (
        ("V [lemma.pair > 3]", "lemma.pair: a feature has no dot in its name"),
        ("V [surprisal > x]", "is compared with a number"),
    ):
        with pytest.raises(SentgenError, match=message):
            Match(request=f"pattern {{ {request} }}").ask(connection)


def test_statements_run_elsewhere(connection: Connection) -> None:
    """The shown SQL passes the guard and runs elsewhere."""
    asked: list[HitLookup] = [
        Kwic(pattern="[surprisal > 2]", sort="-surprisal", show=["surprisal"]),
        Frequencies(by=["surprisal"]),
        Frequencies(by=["genre"], mean="surprisal"),
        Collocations(word="the", filter=["[surprisal > 2]"], within=["3"]),
    ]
    for one in asked:
        answer = one.ask(connection)
        require_harmless(raw(connection), answer.query.with_values())
        again = raw(connection).execute(answer.query.with_values()).fetchall()
        assert len(again) >= answer.rows.num_rows > 0


def test_words_of_the_store(connection: Connection) -> None:
    """Words that are no numbers do not match a comparison with a number."""
    assert set(WORDS) == {form for _, _, form, _, _ in tokens(connection)}
    assert lines(connection, "[word > 0 | lemma <= 3]") == []
