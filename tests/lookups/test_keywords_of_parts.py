"""Keywords of subcorpora and of selected sentences, against tokens counted in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import meta_treebank
import pytest
from meta_treebank import Sentence
from sqlalchemy import Connection
from typer.testing import CliRunner

import sentgen
from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, QueryError
from sentgen.lookups import subcorpora
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.schema import Store

ROWS = meta_treebank.sentences()
Meets = Callable[[Sentence], bool]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two corpora, with a subcorpus of the first one, and one of both."""
    path = meta_treebank.store_of(tmp_path_factory.mktemp("keyness") / "store.duckdb", ROWS)
    (path.parent / "plain.txt").write_text("the dog runs\n")
    with Store(path) as store:
        with store.begin() as connection:
            subcorpora.define(connection, "bob", "speaker = Bob", ["first"])
            subcorpora.define(connection, "ann", "speaker = Ann", ["first"])
            subcorpora.define(connection, "said", "exists speaker")
        ingest(store, [str(path.parent / "plain.txt")], Settings("plain"))
    return path


@pytest.fixture(scope="module")
def opened(path: Path) -> Iterator[Connection]:
    """The store, for reading."""
    with Store(path, read_only=True) as store, store.connect() as connection:
        yield connection


def of(corpus: str, **values: str) -> Meets:
    """Return a function that tests whether a sentence is of a corpus and has these values."""
    return lambda row: row.corpus == corpus and all(row.value(key) == one for key, one in values.items())


def in_second(row: Sentence) -> bool:
    return row.corpus == "second" and row.value("speaker") is not None


def tokens(meets: Meets, by: By) -> Counter[str]:
    """Count the tokens of some sentences."""
    column = 0 if by in (By.WORD, By.LEMMA) else 1
    return Counter(token[column] for row in ROWS if meets(row) for token in row.tokens)


@pytest.mark.nightly(by_day=8)
@pytest.mark.parametrize("by", [By.WORD, By.LEMMA, By.UPOS])
@pytest.mark.parametrize(
    ("sides", "conditions", "focus", "reference"),
    [
        (("bob", "ann"), (None, None), of("first", speaker="Bob"), of("first", speaker="Ann")),
        (("bob", "second"), (None, None), of("first", speaker="Bob"), of("second")),
        (("second", "bob"), (None, None), of("second"), of("first", speaker="Bob")),
        # Sentences on both sides count on each.
        (("first", "bob"), (None, None), of("first"), of("first", speaker="Bob")),
        (("said", "second"), (None, None), lambda row: row.value("speaker") is not None, of("second")),
        (
            ("first", "first"),
            ("genre = news", "genre = fiction"),
            of("first", genre="news"),
            of("first", genre="fiction"),
        ),
        (("first", "second"), ("genre = news", None), of("first", genre="news"), of("second")),
        (("first", "said"), (None, "corpus = second"), of("first"), in_second),
    ],
)
def test_each_side_has_its_own_sentences(
    opened: Connection,
    by: By,
    sides: tuple[str, str],
    conditions: tuple[str | None, str | None],
    focus: Meets,
    reference: Meets,
) -> None:
    """Counts and rates are those of the sentences of each side, whatever names and conditions choose them."""
    here, there = tokens(focus, by), tokens(reference, by)
    found = Keywords(
        corpus=[sides[0]],
        against=[sides[1]],
        where=conditions[0],
        against_where=conditions[1],
        by=by,
        limit=0,
    ).ask(opened)
    rows = found.table.to_pylist()

    assert {row[by]: (row["count"], row["reference_count"]) for row in rows} == {
        item: (here[item], there[item]) for item in here | there
    }
    for row in rows:
        assert row["per_million"] == pytest.approx(1e6 * here[row[by]] / here.total())
        assert row["reference_per_million"] == pytest.approx(1e6 * there[row[by]] / there.total())
    shared = sum(focus(row) and reference(row) for row in ROWS)
    assert found.notes == ([f"{shared} sentences are on both sides, and counted on each"] if shared else [])


@pytest.mark.parametrize(
    ("sides", "conditions", "told"),
    [
        (("bob", "bob"), (None, None), "compared with itself: bob.*`against_where`"),
        (("first", "first"), ("genre = news", "genre = news"), "compared with itself: first"),
        (("bob", "first"), (None, "speaker = Bob"), "both sides have the same sentences"),
        (("first", "second"), ("genre = nwes", None), "first has no tokens.*'nwes', did you mean news"),
        (("first", "bob"), (None, "speaker = Ann"), "bob has no tokens to compare"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    opened: Connection, sides: tuple[str, str], conditions: tuple[str | None, str | None], told: str
) -> None:
    """A side without sentences, or the same sentences on both sides, is refused, not answered with zeros."""
    with pytest.raises(InputError, match=told):
        Keywords(corpus=[sides[0]], against=[sides[1]], where=conditions[0], against_where=conditions[1]).ask(
            opened
        )


def test_a_side_without_tags_is_refused(opened: Connection) -> None:
    """A side of plain text is refused for parts of speech, as all of the other side would be keywords."""
    with pytest.raises(InputError, match="plain has no upos to compare; compare by word"):
        Keywords(corpus=["first"], against=["plain"], by=By.UPOS).ask(opened)
    with pytest.raises(QueryError, match="no metadata 'gnre'"):
        Keywords(corpus=["first"], against=["plain"], where="gnre = news").ask(opened)


def test_the_command_and_python_take_conditions(path: Path, tmp_path: Path) -> None:
    """In the command, ``--where`` selects from the corpora, ``--against-where`` from those compared with."""
    copy = tmp_path / "store.duckdb"
    copy.write_bytes(path.read_bytes())
    words = ["keyness", "first", "--where", "genre = news", "--against", "first"]
    words += ["--against-where", "genre = fiction", "--limit", "0", "--tsv"]
    told = CliRunner().invoke(build(), [*words, "--db", str(copy)])
    with sentgen.open(copy, read_only=True) as db:
        same = db.keyness("first", "first", where="genre = news", against_where="genre = fiction", limit=0)

    assert told.exit_code == 0
    counts = [line.split("\t")[:4:3] for line in told.stdout.splitlines()[1:]]
    assert counts == [[row[0], str(row.reference_count)] for row in same]
