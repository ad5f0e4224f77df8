"""Text types of corpora, from their metadata, against counts in Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from parted_texts import TEXTS, Text, conllu

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import QueryError
from sentgen.lookups.browsing import CorpusSize, Documents, facets, size_of
from sentgen.lookups.subcorpora import define
from sentgen.schema import Store

#: Condition to a function that returns whether a text meets it.
CONDITIONS = {
    None: lambda text: True,
    'genre = "news"': lambda text: text.meta["genre"] == "news",
    '(genre = "news") and (date like "1991%")': lambda text: (
        text.meta["genre"] == "news" and text.meta["date"].startswith("1991")
    ),
    '"s_author" = "Bo \\"B.\\" Ray"': lambda text: text.meta.get("s_author") == 'Bo "B." Ray',
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of the texts, and of a corpus without metadata."""
    folder = tmp_path_factory.mktemp("facets")
    (folder / "texts.conllu").write_text(conllu(), "utf-8")
    (folder / "plain.conllu").write_text("1\tcamp\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "utf-8")
    with Store(folder / "store.duckdb", create=True) as made:
        for name in ("texts", "plain"):
            ingest(made, [str(folder / f"{name}.conllu")], Settings(name))
        with made.begin() as connection:
            define(connection, "late", "year > 1750", ["texts"])
        yield made


def _part(key: str, value: str) -> str:
    """Return the value under which a text is listed: dates by their years; years, as there are few, as they are."""
    return value[:4] if key == "date" else value


def _expected(texts: list[Text]) -> set[tuple[str, str, int, int]]:
    found = dict[tuple[str, str], list[Text]]()
    for text in texts:
        for key, value in text.meta.items():
            if key != "title":
                found.setdefault((key, _part(key, value)), []).append(text)
    return {(*key, len(those), sum(one.tokens for one in those)) for key, those in found.items()}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("corpus", ["texts", "late"])
def test_parts_have_their_texts_and_tokens(corpus: str, condition: str | None, store: Store) -> None:
    """Text types of all texts, of a subcorpus and of selections are right; titles, all different, are left out."""
    texts = [text for text in TEXTS if CONDITIONS[condition](text)]
    if corpus == "late":
        texts = [text for text in texts if int(text.meta["year"]) > 1750]
    with store.connect() as connection:
        rows = facets(connection, [corpus], condition).rows.to_pylist()
        size = size_of(connection, [corpus], condition)
        documents = Documents(corpus=[corpus], where=condition, limit=0).ask(connection)

    assert {(row["key"], row["value"], row["documents"], row["tokens"]) for row in rows} == _expected(texts)
    words = {word for text in texts for sentence in text.sentences for word in sentence}
    sentences = sum(len(text.sentences) for text in texts)
    tokens = sum(text.tokens for text in texts)
    assert size == CorpusSize(len(texts), sentences, tokens, len(words))
    listed = [(row["document"], row["tokens"]) for row in documents.rows.to_pylist()]
    assert listed == [(text.name, text.tokens) for text in texts]


def test_the_condition_of_a_part_chooses_it(store: Store) -> None:
    """Conditions are right for quotes and backslashes in values, and for keys with the prefixes of queries."""
    with store.connect() as connection:
        for row in facets(connection, [], None).rows.to_pylist():
            size = size_of(connection, [], str(row["condition"]))
            assert (size.documents, size.tokens) == (row["documents"], row["tokens"]), row


def test_the_statement_is_told(store: Store) -> None:
    """It gives the same values."""
    with store.connect() as connection:
        answer = facets(connection, ["texts"], 'genre = "news"')
        told = answer.query.run(connection).to_pylist()
    assert [row["tokens"] for row in told] == [row["tokens"] for row in answer.rows.to_pylist()]


def test_a_corpus_without_metadata_has_no_parts(store: Store) -> None:
    """A corpus without metadata has a size all the same."""
    with store.connect() as connection:
        assert not facets(connection, ["plain"], None).rows.num_rows
        assert size_of(connection, ["plain"], None) == CorpusSize(1, 1, 1, 1)


def test_of_one_key_all_values_are_there(tmp_path: Path) -> None:
    """Of a key with many values, those with most tokens are listed."""
    lines = []
    for number in range(90):
        lines += [
            f"# newdoc id = d{number}",
            f"# meta::author = a{number % 30:02}",
            f"# meta::half = {number % 2}",
        ]
        lines += [
            *(f"{place}\tx\t_\t_\t_\t_\t{place - 1}\tdep\t_\t_" for place in range(1, 2 + number % 30)),
            "",
        ]
    (tmp_path / "many.conllu").write_text("\n".join([*lines, ""]), "utf-8")
    with Store(tmp_path / "store.duckdb", create=True) as made:
        ingest(made, [str(tmp_path / "many.conllu")], Settings("many"))
        with made.connect() as connection:
            some, every = (facets(connection, [], None, key).rows.to_pylist() for key in ("", "author"))

    authors = [row for row in some if row["key"] == "author"]
    assert [row["value"] for row in authors] == [f"a{number:02}" for number in range(29, 5, -1)]
    assert [row["value"] for row in every] == [f"a{number:02}" for number in range(29, -1, -1)]
    assert every[:24] == authors
    assert {row["different"] for row in every} == {30}


def test_an_unknown_key_is_refused(store: Store) -> None:
    """An unknown key is refused, with one that may be meant."""
    with store.connect() as connection, pytest.raises(QueryError, match="did you mean genre"):
        facets(connection, [], "gnre = news")
