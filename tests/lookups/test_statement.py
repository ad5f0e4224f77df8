"""A statement as it is run gives the rows of the shown statement."""

from __future__ import annotations

from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection
from sqlalchemy import Connection

from sentgen.cli.console.options import StoreOptions
from sentgen.lookups.base import cache
from sentgen.lookups.base.cache import id_of
from sentgen.lookups.base.statement import Statement
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.ngram_search import Ngrams
from sentgen.schema.engine import raw

_NAMED = "(select id from word where form = $word)"


@pytest.mark.parametrize("word", ["fell", "no such word", "it's"])
@pytest.mark.parametrize(
    "condition",
    [
        f"id in {_NAMED}",
        f"id not in {_NAMED}",
        f"nullif(id, 3) in {_NAMED}",
        f"(nullif(id, 3) in {_NAMED}) is null",
        f"not (nullif(id, 3) in {_NAMED} or id in {_NAMED.replace('$word', '$other')})",
    ],
)
def test_numbers_stand_for_words(connection: Connection, condition: str, word: str) -> None:
    """Replacing a word by its id changes no row, also for an unknown word, or a null."""
    shown = Statement(f"select id from word where {condition} order by id", {"word": word, "other": "rose"})

    run = shown.run(connection)["id"].to_pylist()

    assert run == [
        number for (number,) in raw(connection).execute(shown.text, shown.used_parameters).fetchall()
    ]
    assert shown.with_ids(connection).text != shown.text or word != "fell"


@pytest.mark.parametrize("pattern", ["* fell", "fell *", "the * fell", "* the", "* * *", "</s>", "zebra *"])
@pytest.mark.parametrize("ignore_case", [False, True])
def test_ngrams_are_those_of_the_statement(connection: Connection, pattern: str, ignore_case: bool) -> None:
    """N-grams and their probabilities are those of the shown statement, for wildcards at any place."""
    found = Ngrams(pattern=pattern, ignore_case=ignore_case, limit=0).ask(connection)

    assert list(found.rows) == raw(connection).execute(found.query.with_values()).fetchall()


@pytest.mark.parametrize("often", [1, 2, 9])
def test_lines_are_the_same_when_all_words_are_kept(
    path: Path, connection: Connection, monkeypatch: pytest.MonkeyPatch, often: int
) -> None:
    """Lines are the same with words from queries, and with the cache that is filled after many of these."""
    asked = Kwic(pattern="*ll", sort="left", limit=0)
    expected = asked.ask(connection).query
    monkeypatch.setattr(cache, "_OFTEN", often)

    with StoreOptions(db=path).store(read_only=True) as store, store.connect() as opened:
        found = [list(asked.ask(opened).rows) for _ in range(3)]

    assert found == [raw(connection).execute(expected.with_values()).fetchall()] * 3
    assert found[0]


@pytest.mark.parametrize("often", [1, 3, 1000])
def test_numbers_are_the_same_when_all_words_are_kept(
    path: Path, connection: Connection, monkeypatch: pytest.MonkeyPatch, often: int
) -> None:
    """Ids come from queries until all words are cached; the empty word and unknown ones have none."""
    expected = dict(raw(connection).execute("select form, id from word").fetchall())
    asked, looked_up = list[str](), cache.one_row

    def one_row(duck: DuckDBPyConnection, query: str, given: dict[str, str]) -> tuple[int, ...] | None:
        asked.append(given["string"])
        return looked_up(duck, query, given)

    monkeypatch.setattr(cache, "_OFTEN", often)
    monkeypatch.setattr(cache, "one_row", one_row)
    with StoreOptions(db=path).store(read_only=True) as store, store.connect() as opened:
        found = {form: id_of(opened, "word", form) for form in [*expected, "zebra", ""] * 2}

    assert found == expected | {"zebra": None, "": None}
    assert len(asked) == min(often - 1, len(found))
