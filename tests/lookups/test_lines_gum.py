"""Concordance lines of GUM, sorted and filtered, against its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

pytestmark = pytest.mark.data


@dataclass
class Line:
    """A token of the lemma, with its sentence and the genre of its document."""

    name: str
    genre: str
    words: list[list[str]]
    at: int

    def word(self, step: int) -> str:
        place = self.at + step
        return self.words[place][1] if 0 <= place < len(self.words) else ""

    def tags(self, low: int, high: int) -> list[str]:
        return [one[3] for one in self.words[max(self.at + low, 0) : max(self.at + high + 1, 0)]]


@pytest.fixture(scope="module")
def lines(data_dir: Path) -> list[Line]:
    """All forms of *make*, in the order of the file."""
    found, genre = list[Line](), ""
    for block in (data_dir / "ud" / "en_gum-ud-dev.conllu").read_text("utf-8").split("\n\n"):
        rows = block.splitlines()
        told = dict(row[2:].split(" = ", 1) for row in rows if row[:1] == "#" and " = " in row)
        genre = told.get("meta::genre", genre)
        words = [row.split("\t") for row in rows if row.split("\t")[0].isdecimal()]
        found += [Line(told["sent_id"], genre, words, at) for at, one in enumerate(words) if one[2] == "make"]
    return found


@pytest.fixture(scope="module")
def gum(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The store."""
    path = tmp_path_factory.mktemp("gum-lines") / "gum.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(data_dir / "ud" / "en_gum-ud-dev.conllu")], Settings("gum", order=2))
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def shown(asked: Kwic, connection: Connection) -> list[tuple[str, str, str]]:
    """Return sentence, genre and node of the lines."""
    table = asked.ask(connection).table
    return list(zip(*(table[name].to_pylist() for name in ("sent_id", "genre", "node")), strict=True))


def test_lines_are_sorted_by_the_words_before_them(gum: Connection, lines: list[Line]) -> None:
    in_order = sorted(lines, key=lambda one: (one.word(-1), one.word(-2)))

    found = shown(Kwic(cql='[lemma="make"]', sort="1L,2L", show=["genre"], limit=0), gum)
    first = shown(Kwic(cql='[lemma="make"]', sort="1L,2L", show=["genre"], limit=20), gum)

    assert found == [(one.name, one.genre, one.word(0)) for one in in_order]
    assert first == found[:20]


def test_lines_go_through_filters(gum: Connection, lines: list[Line]) -> None:
    """Filters for an adjective behind and for no pronoun before leave the right lines."""
    left = [one for one in lines if "ADJ" in one.tags(1, 3) and "PRON" not in one.tags(-2, -1)]
    chain = {"filter": ['[upos="ADJ"]', '[upos="PRON"]'], "within": ["3R", "not 2L"]}

    found = shown(Kwic(cql='[lemma="make"]', show=["genre"], limit=0, **chain), gum)
    counted = Frequencies(query='[lemma="make"]', by=["genre"], limit=0, **chain).ask(gum).table.to_pylist()

    assert 0 < len(left) < len(lines)
    assert found == [(one.name, one.genre, one.word(0)) for one in left]
    assert {row["genre"]: row["count"] for row in counted} == Counter(one.genre for one in left)
