"""Breakdowns of hits by several keys, against counting in Python."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, QueryError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

#: Texts of one sentence, with their genre, if any, and their year.
TEXTS = (
    ("the old man saw the sea", "fiction", "1950"),
    ("the man went home", "fiction", "2020"),
    ("the old bank fell", "news", "2020"),
    ("the bank saw the old sea fell", "news", "2020"),
    ("old men saw it", None, "2020"),
)


@pytest.fixture(scope="module")
def genres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store of the texts, each a document with metadata."""
    folder = tmp_path_factory.mktemp("genres")
    lines = [
        {"id": str(number), "text": text, "year": year} | ({"genre": genre} if genre else {})
        for number, (text, genre, year) in enumerate(TEXTS)
    ]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    (folder / "more.txt").write_text("the old man and the old sea\n")
    with Store(folder / "genres.duckdb", create=True) as store:
        ingest(store, [str(folder / "texts.jsonl")], Settings("texts"))
        ingest(store, [str(folder / "more.txt")], Settings("more"))
        with store.connect() as connection:
            yield connection


def test_words_by_metadata(genres: Connection) -> None:
    """What follows a *the*, by genre: of all tokens, and of those of that genre."""
    answer = Frequencies(query='"the" a:[]', by=["a.word,match.doc_genre"], corpus=["texts"], limit=0).ask(
        genres
    )
    hits, sizes = Counter[tuple[str, str]](), Counter[str]()
    for text, genre, _ in TEXTS:
        words = text.split()
        sizes[genre or "_"] += len(words)
        hits.update((after, genre or "_") for word, after in pairwise(words) if word == "the")
    rows = answer.table.to_pylist()

    assert list(rows[0])[:3] == ["a.word", "match.doc_genre", "count"]
    assert {(row["a.word"], row["match.doc_genre"]): row["count"] for row in rows} == hits
    for row in rows:
        assert row["share"] == pytest.approx(row["count"] / hits.total())
        assert row["per_million"] == pytest.approx(1e6 * row["count"] / sizes.total())
        part = sizes[row["match.doc_genre"]]
        assert row["per_million_in_part"] == pytest.approx(1e6 * row["count"] / part)
        assert row["document_share"] == row["documents"] / len(TEXTS)
        assert 0 <= row["juilland_d"] <= 1
        assert 0 <= row["dp"] <= 1


def test_parts_agree_in_all_metadata(genres: Connection) -> None:
    """With genre and year, a part is what has both; *saw* occurs once in each of three of them."""
    rows = Frequencies(query="saw", by=["match.doc_genre,match.doc_year"], corpus=["texts"]).ask(genres).table
    matched = (
        Match(request='pattern { X [form="saw"] }', key=["meta.genre", "meta.year"], corpus=["texts"])
        .ask(genres)
        .table
    )
    expected = {("fiction", "1950"): 1e6 / 6, ("news", "2020"): 1e6 / 11, ("_", "2020"): 1e6 / 4}

    for table, missing in ((rows, "_"), (matched, "__undefined__")):
        keys = zip(table[0].to_pylist(), table[1].to_pylist(), strict=True)
        found = dict(zip(keys, table["per_million_in_part"].to_pylist(), strict=True))
        assert found == {
            (missing if genre == "_" else genre, year): pytest.approx(rate)
            for (genre, year), rate in expected.items()
        }


def test_metadata_of_a_label_that_may_stand_for_nothing(genres: Connection) -> None:
    """Hits count once for each place of a label, and not at all where it has none."""
    bound = Frequencies(query='"the" a:"old"? []', by=["a.doc_genre"], corpus=["texts"]).ask(genres).table
    words = Frequencies(query='"the" a:"old"? []', by=["a.word,word"], corpus=["texts"]).ask(genres).table

    # "the old man" and "the old bank"; "the old" itself, and all others, have no "old" between.
    assert dict(zip(bound["a.doc_genre"].to_pylist(), bound["count"].to_pylist(), strict=True)) == {
        "fiction": 1,
        "news": 2,
    }
    assert sorted(words["word"].to_pylist()) == ["the old bank", "the old man", "the old sea"]


def test_a_pattern_as_of_kwic_is_a_query(genres: Connection) -> None:
    """As many as a concordance has; its ends are the labels."""
    rows = Frequencies(query="the *", by=["matchend.word,word"], limit=0).ask(genres).table
    total = Kwic(pattern="the *", count=True).ask(genres).table.to_pylist()[0]["hits"]

    assert sum(rows["count"].to_pylist()) == total == 8
    assert all(
        word == f"the {end}" for end, word in zip(rows[0].to_pylist(), rows[1].to_pylist(), strict=True)
    )
    assert "per_million_in_part" not in rows.column_names


def test_keys_are_given_one_by_one_or_with_commas(genres: Connection) -> None:
    """In their order; without any, words are counted, and without a query by one key only."""
    asked = {"query": '"the" a:[]', "corpus": ["texts"], "limit": 0}
    apart, joined, mixed = (
        Frequencies(by=by, **asked).ask(genres).table.to_pylist()
        for by in (
            ["word", "a.word", "match.doc_genre"],
            ["word,a.word,match.doc_genre"],
            ["word", "a.word,match.doc_genre"],
        )
    )

    assert apart == joined == mixed
    assert list(apart[0])[:3] == ["word", "a.word", "match.doc_genre"]
    assert Frequencies(**asked).ask(genres).table.column_names[0] == "word"


@pytest.mark.parametrize("key", ["genre", "meta.genre", "match.genre", "match.doc_genre", "doc_genre"])
def test_a_key_of_metadata_has_one_meaning_everywhere(key: str, genres: Connection) -> None:
    """A key has the same texts in each language's spelling, for counts and for conditions."""
    spoken = Counter(genre or "_" for text, genre, _ in TEXTS for word in text.split() if word == "old")
    hits = Frequencies(query="old", by=[key], corpus=["texts"]).ask(genres).table.to_pylist()
    rows = (
        Match(request='pattern { X [form="old"] }', key=[key], corpus=["texts"]).ask(genres).table.to_pylist()
    )
    chosen = Kwic(pattern="old", where=f"{key} = news", count=True).ask(genres).table.to_pylist()
    constrained = Kwic(cql=f'a:"old" :: {key} = "news"', count=True).ask(genres).table.to_pylist()

    assert {row[key]: row["count"] for row in hits} == spoken == {"fiction": 1, "news": 2, "_": 1}
    assert {row[key].replace("__undefined__", "_"): row["count"] for row in rows} == spoken
    assert chosen == constrained == [{"hits": 2}]


@pytest.mark.parametrize("key", ["corpus", "meta.corpus", "match.document", "document", "source"])
def test_hits_are_counted_by_what_every_sentence_has(key: str, genres: Connection) -> None:
    """By corpus *the* occurs 6 times in one and 2 times in the other; documents are those of the texts."""
    sizes = {"texts": sum(len(text.split()) for text, *_ in TEXTS), "more": 7}
    hits = Frequencies(query="the", by=[key], limit=0).ask(genres).table.to_pylist()
    rows = Match(request='pattern { X [form="the"] }', key=[key], limit=0).ask(genres).table.to_pylist()

    assert {row[key]: row["count"] for row in hits} == {row[key]: row["count"] for row in rows}
    assert sum(row["count"] for row in hits) == 8
    if "corpus" in key:
        assert {row[key]: row["count"] for row in hits} == {"texts": 6, "more": 2}
        for row in (*hits, *rows):
            assert row["per_million_in_part"] == pytest.approx(1e6 * row["count"] / sizes[row[key]])
    elif "document" in key:
        assert len(hits) == 5


def test_all_tokens_are_counted_by_any_attribute(genres: Connection) -> None:
    """Without a query every token is a hit, so that sizes of genres are asked for in one word."""
    sizes = Counter[str]()
    for text, genre, _ in TEXTS:
        sizes[genre or "_"] += len(text.split())
    rows = Frequencies(by=["genre"], corpus=["texts"], limit=0).ask(genres).table.to_pylist()

    assert {row["genre"]: row["count"] for row in rows} == sizes
    with pytest.raises(InputError, match=r"a pattern is of what is listed: word, lemma.*give a `query`"):
        Frequencies(by=["genre"], pattern="un*")


@pytest.mark.parametrize(
    ("request_", "keys", "said"),
    [
        ("pattern { X [] }", ["meta.gnre"], "no metadata 'meta.gnre'; did you mean genre?"),
        (
            "pattern { X [] }",
            ["gnre"],
            "no node or edge 'gnre' in the request; it has X; did you mean genre?",
        ),
        ("pattern { X [] }", ["X.lema"], "X.lema: no attribute 'lema'; did you mean lemma?"),
        ("pattern { X [] }", ["match.doc_gnre"], "no metadata 'match.doc_gnre'; did you mean genre?"),
        ("pattern { X [lema=go] }", [], "no attribute 'lema'; did you mean lemma?"),
        ("pattern { X [!lema] }", [], "no attribute 'lema'"),
        ("pattern { X [] } without { X [lema=go] }", [], "no attribute 'lema'"),
        ("pattern { X []; Y []; X.lema = Y.lemma }", [], "X.lema: no attribute 'lema'"),
        ("pattern { X [] } global { gnre = news }", [], "no metadata 'gnre'; did you mean genre?"),
    ],
)
def test_no_request_counts_by_a_key_that_nothing_has(
    request_: str, keys: list[str], said: str, genres: Connection
) -> None:
    """An unknown key is refused at any place: one row without a value would look like an answer."""
    with pytest.raises(InputError) as caught:
        Match(request=request_, key=keys).ask(genres)

    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("by", "error", "said"),
    [
        ("word,word", InputError, "one twice"),
        ("word,", InputError, "an empty key"),
        ("word,b.word", QueryError, "no label 'b' in the query; there are match, matchend"),
        ("match.doc_gender", QueryError, "no metadata 'doc_gender'; did you mean genre"),
        ("meta.gnre", QueryError, "no metadata 'meta.gnre'; did you mean genre?"),
        ("gnre", QueryError, "no attribute 'gnre'; did you mean genre?"),
        ("nope", QueryError, "no attribute 'nope'"),
    ],
)
def test_keys_that_there_are_not(by: str, error: type[Exception], said: str, genres: Connection) -> None:
    """Unknown keys are refused with a list of the existing ones."""
    with pytest.raises(error, match=said):
        Frequencies(query="the", by=[by]).ask(genres)
