"""Regions of GUM, its paragraphs and speakers, against counts made from the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.cli.console.options import open_store
from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store

pytestmark = pytest.mark.data


@dataclass(frozen=True)
class Line:
    """A sentence: its words, genre, speaker, and whether a paragraph begins or ends with it."""

    words: list[str]
    document: int
    genre: str
    speaker: str
    paragraph: int
    begins: bool
    ends: bool


@pytest.fixture(scope="module")
def lines(data_dir: Path) -> list[Line]:
    """The sentences, read a paragraph goes on until the next one, or the end of the document."""
    blocks = (data_dir / "ud" / "en_gum-ud-dev.conllu").read_text("utf-8").strip().split("\n\n")
    raw, document, genre, speaker, paragraph, inside = [], 0, "", "", 0, 0
    for block in blocks:
        told = block.splitlines()
        new = any(one.startswith("# newdoc") for one in told)
        if new:
            genre = next(one.split(" = ")[1] for one in told if one.startswith("# meta::genre"))
            document, speaker = document + 1, ""
            inside = 0
        if any(re.match(r"# newpar\b", one) for one in told):
            inside = paragraph = paragraph + 1
        speaker = next((one.split(" = ", 1)[1] for one in told if one.startswith("# speaker = ")), speaker)
        words = [one.split("\t")[1] for one in told if re.match(r"\d+\t", one)]
        raw.append((words, document, genre, speaker, inside))
    numbers = [0, *(one[4] for one in raw), 0]
    return [
        Line(
            *one,
            begins=bool(one[4]) and numbers[i - 1] != one[4],
            ends=bool(one[4]) and numbers[i + 1] != one[4],
        )
        for i, one in enumerate(raw, 1)
    ]


@pytest.fixture(scope="module")
def gum(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The store."""
    path = tmp_path_factory.mktemp("gum") / "gum.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(data_dir / "ud" / "en_gum-ud-dev.conllu")], Settings("gum", order=2))
    with open_store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def count(gum: Connection, query: str) -> int:
    """Return the number of hits."""
    return Kwic(cql=query, count=True).ask(gum).total or 0


def test_queries_on_paragraphs_and_speakers(gum: Connection, lines: list[Line]) -> None:
    """Tags, whole regions, what lies within them, and what contains something."""
    spoken = [one for one in lines if one.speaker]
    anne = [one for one in spoken if re.fullmatch("[A-K].*", one.speaker)]
    the = [one for one in lines if "the" in one.words]
    expected = {
        "<p> []": sum(one.begins for one in lines),
        '[word="[.?!]"] </p>': sum(one.ends and one.words[-1] in ".?!" for one in lines),
        "<p/>": sum(one.paragraph > 0 for one in lines),
        '<p/> containing "the"': sum(one.paragraph > 0 for one in the),
        '"the" within <speaker/>': sum(one.words.count("the") for one in spoken),
        '"I" within <speaker name="[A-K].*"/>': sum(one.words.count("I") for one in anne),
        '"I" within <speaker name!="[A-K].*"/>': sum(
            one.words.count("I") for one in spoken if one not in anne
        ),
        '"i"%c :: match.speaker_name = "[a-k].*"%c': sum(
            word in "Ii" for one in spoken if "a" <= one.speaker[0].lower() <= "k" for word in one.words
        ),
        '"the" :: match.speaker_name = ""': sum(one.words.count("the") for one in lines if not one.speaker),
        '<doc genre="news"> []': len({one.document for one in lines if one.genre == "news"}),
        '"the" within <doc genre="news"/>': sum(
            one.words.count("the") for one in lines if one.genre == "news"
        ),
        '"the" expand to p': len(the),
    }
    assert all(expected.values())
    assert {query: count(gum, query) for query in expected} == expected
