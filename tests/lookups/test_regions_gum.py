"""Regions of GUM, its paragraphs and speakers, against counts made from the file itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.counts import corpora
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.schema import Store

pytestmark = pytest.mark.data


@dataclass(frozen=True)
class Line:
    """A sentence: its words, its genre, its speaker, and whether a paragraph begins or ends with it."""

    words: list[str]
    document: int
    genre: str
    speaker: str
    paragraph: int
    begins: bool
    ends: bool


@pytest.fixture(scope="module")
def lines(data_dir: Path) -> list[Line]:
    """The sentences of the file; a paragraph ends with the next one, or with the document."""
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
def gum_store(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The store."""
    path = tmp_path_factory.mktemp("gum") / "gum.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(data_dir / "ud" / "en_gum-ud-dev.conllu")], Settings("gum", order=2))
    with Store(path, read_only=True) as store:
        yield store


@pytest.fixture(scope="module")
def gum(gum_store: Store) -> Iterator[Connection]:
    """A connection to it."""
    with gum_store.connect() as opened:
        yield opened


def count(gum: Connection, query: str) -> int:
    """Return the number of hits."""
    return Kwic(cql=query, count=True).ask(gum).total or 0


def test_queries_on_paragraphs_and_speakers(gum: Connection, lines: list[Line]) -> None:
    """Queries for tags, whole regions, `within` and `containing` have the counts of the file."""
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


def test_look_ups_of_what_a_speaker_says(gum: Connection, lines: list[Line]) -> None:
    """Frequency lists, n-grams, breakdowns and keywords by speaker, which is that of a sentence's first token."""
    by_speaker = Counter(one.speaker for one in lines for _ in one.words)
    (name, tokens), *_ = ((name, size) for name, size in by_speaker.most_common() if name)
    said = [one.words for one in lines if one.speaker == name]
    condition = f'speaker.name = "{name}"'

    words = Counter(word for one in said for word in one)
    listed = Frequencies(where=condition, limit=0).ask(gum).table.to_pylist()
    assert {row["word"]: row["count"] for row in listed} == words
    assert listed[0]["per_million"] == pytest.approx(1e6 * listed[0]["count"] / tokens)

    pairs = Counter(pair for one in said for pair in pairwise(["<s>", *one, "</s>"]))
    found = Ngrams(pattern="* *", where=condition, limit=0).ask(gum).table.to_pylist()
    assert {(row["w1"], row["w2"]): row["count"] for row in found} == pairs

    hits = Counter(one.speaker or "_" for one in lines for word in one.words if word == "the")
    rows = Frequencies(query='"the"', by=["speaker.name"], limit=0).ask(gum).table.to_pylist()
    assert {row["speaker.name"]: row["count"] for row in rows} == hits
    for row in rows:
        size = by_speaker[row["speaker.name"].removeprefix("_")]
        assert row["per_million_in_part"] == pytest.approx(1e6 * row["count"] / size)

    others = Counter(word for one in lines if one.speaker != name for word in one.words)
    keywords = Keywords(
        corpus=["gum"], against=["gum"], where=condition, against_where=f"not {condition}", limit=0
    )
    for row in keywords.ask(gum).table.to_pylist():
        assert (row["count"], row["reference_count"]) == (words[row["word"]], others[row["word"]])

    beside = Counter(
        one.words[i]
        for one in lines
        if one.speaker
        for i in range(len(one.words))
        if "the" in (one.words[max(i - 1, 0) : i] + one.words[i + 1 : i + 2])
    )
    near = Collocations(cql='"the" within <speaker/>', window="1", min_count=1, limit=0).ask(gum)
    assert {row["collocate"]: row["count"] for row in near.table.to_pylist()} == beside


def test_paragraphs_as_parts(gum: Connection, lines: list[Line]) -> None:
    """Dispersion over paragraphs has the counts of the file; text outside of paragraphs is one part."""
    spread = Counter(word for word, _ in {(word, one.paragraph) for one in lines for word in one.words})
    rows = Frequencies(parts="p", limit=0).ask(gum).table.to_pylist()
    assert {row["word"]: row["parts"] for row in rows} == spread


def test_the_regions_of_the_corpus(gum_store: Store, lines: list[Line]) -> None:
    """Regions are listed with their numbers and their tokens."""
    turns = sum(
        bool(one.speaker)
        and (before is None or (before.document, before.speaker) != (one.document, one.speaker))
        for before, one in pairwise([None, *lines])
        if one
    )
    assert corpora.Corpus(name="gum", regions=True).show(gum_store).to_pylist() == [
        {
            "kind": "p",
            "attributes": "",
            "regions": len({one.paragraph for one in lines} - {0}),
            "tokens": sum(len(one.words) for one in lines if one.paragraph),
        },
        {
            "kind": "speaker",
            "attributes": "name",
            "regions": turns,
            "tokens": sum(len(one.words) for one in lines if one.speaker),
        },
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"request": "pattern { X [] } global { speaker_name = Ann }"},
        {"request": "pattern { X [speaker_name=Ann] }"},
        {"request": "pattern { X [] }", "key": ["speaker.name"]},
        {"request": "pattern { X [] }", "key": ["X.speaker_name"]},
    ],
)
def test_requests_for_trees_send_regions_to_where(gum: Connection, asked: dict[str, Any]) -> None:
    """A request has no regions, but its sentences can be selected by them."""
    with pytest.raises(InputError, match=r"speaker\.name is said of regions: give `where` 'speaker\.name = "):
        Match(**asked).ask(gum)
