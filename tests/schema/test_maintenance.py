"""Sizes, checks and compaction of the store in conftest."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from sqlalchemy import text

from sentgen.errors import StoreError
from sentgen.schema import Store, engine, maintenance, migrate
from sentgen.schema.checks import Check
from sentgen.schema.sum_checks import checks, reference_ngrams_sql

from .conftest import Rows


def failed(path: Path, **options: Any) -> dict[str, int]:
    """Return the checks that fail, each with the number of its problems."""
    with Store(path, read_only=True, threads=1) as store:
        return {r.check.name: r.problems for r in maintenance.check(store, **options) if r.problems}


def test_sound_store_passes(path: Path) -> None:
    """All checks pass, with the recounts of n-grams."""
    assert failed(path) == {}


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("insert into word values (4, 'twice')", {"duplicate word ids"}),
        ("insert into word values (99, 'dog')", {"duplicate word forms"}),
        ("update word set form = 'x' where id = 1", {"reserved words"}),
        ("update token set word_id = 77 where position = 5", {"token.word_id without word"}),
        ("update token set deprel_id = 77 where position = 5", {"token.deprel_id without tag"}),
        ("insert into multiword values (1, 9, 1, 2, 'x')", {"multiword.sentence_id without sentence"}),
        ("insert into multiword values (1, 2, 3, 4, 'x')", {"multiword ranges"}),
        (
            "insert into parse select 'p', '1', false, 'h', 1, 1, '[]', now() from range(2)",
            {"duplicate parses"},
        ),
        (
            "insert into saved_query select 'q', 'freq', '[]', now() from range(2)",
            {"duplicate saved queries"},
        ),
        (  # a space of one word without it, and of two dimensions with a vector of one
            "insert into vector_space values (1, 'v', 'c', 'window', 2, 2, 1, 0.75, 1, 0.5, 1, 9, 1, 9, now())",
            {"vectors of all words"},
        ),
        (
            "insert into vector_space values (1, 'v', 'c', 'window', 2, 2, 1, 0.75, 1, 0.5, 1, 9, 1, 9, now());"
            "insert into word_vector values (1, 1, 'dog', 3, [1.0])",
            {"vectors of all words"},
        ),
        ("update rejection set corpus_id = 5", {"rejection.corpus_id without corpus"}),
        ("update ngram_4 set segment_id = 9 where w1 = 5", {"ngram_4.segment_id without segment"}),
        ("update token set position = 6 where position = 5", {"positions 1 to length"}),
        ("update token set head = 4 where sentence_id = 2 and position = 1", {"head in range"}),
        ("update token set head = position where sentence_id = 2 and position = 1", {"head in range"}),
        ("update token set corpus_id = 2 where sentence_id = 2 and position = 1", {"corpus of a token"}),
        ("update document set sentences = 3", {"sentences of a document"}),
        ("update source set tokens = 9", {"totals of a source"}),
        ("update segment set tokens = 6 where id = 1", {"totals of the segments"}),
        (
            "update ngram_1 set count = 3 where segment_id = 2 and w1 = 7",
            {"n-grams of order 1 sum to those of the sentences"},
        ),
        ("update ngram_2 set count = 0 where w1 = 7", {"positive counts in ngram_2"}),
        ("insert into score values (3, 'x', null, 'bleu', 1, null)", {"score.run_id without run"}),
    ],
)
def test_damage_is_found(path: Path, damage: str, expected: set[str]) -> None:
    """Each damage is found by its check, without a recount."""
    with duckdb.connect(str(path)) as duck:
        duck.execute(damage)

    assert expected <= set(failed(path, quick=True))


_RECOUNTED = {"occurrence of each word recounted"}
_SUMS = {"occurrence sums to the words and lemmas of the tokens"}
_OF_SEGMENTS = {"occurrence sums to the tokens of the segments"}


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("damage", "expected", "example"),
    [
        (
            "delete from occurrence where word_id = 7",
            _RECOUNTED | _SUMS | _OF_SEGMENTS,
            "corpus_id 1, word_id 7, token 21, stored 0, expected 1",
        ),
        (
            "insert into occurrence from occurrence where word_id = 7",
            _RECOUNTED | _SUMS | _OF_SEGMENTS,
            "corpus_id 1, word_id 7, token 21, stored 2, expected 1",
        ),
        (
            "insert into occurrence values (2, 'word', 7, 99)",
            _RECOUNTED | _SUMS | _OF_SEGMENTS,
            "corpus_id 1, word_id 7, token 99, stored 1, expected 0",
        ),
        (
            "insert into occurrence values (2, 'lemma', 7, 21)",
            {"occurrence of each lemma recounted"} | _SUMS,
            "corpus_id 1, word_id 7, token 21, stored 1, expected 0",
        ),
        ("update occurrence set word_id = 5 where word_id = 7", _RECOUNTED, "token 21"),
        ("update occurrence set token = 29 where word_id = 7", _RECOUNTED, "word_id 7"),
        ("update occurrence set segment_id = 1 where word_id = 7", _OF_SEGMENTS, ""),
        (
            "update occurrence set attribute = 'lemma' where word_id = 7",
            _RECOUNTED | {"occurrence of each lemma recounted"} | _SUMS | _OF_SEGMENTS,
            "stored 0, expected 1",
        ),
        (
            "update sentence set first_token = 13 where id = 2",
            _RECOUNTED | {"numbers of tokens ascend"},
            "",
        ),
        ("update occurrence set segment_id = 9", {"occurrence.segment_id without segment"}, ""),
    ],
)
def test_wrong_occurrences_are_found(path: Path, damage: str, expected: set[str], example: str) -> None:
    """Missing, additional or wrong rows and overlapping numbers are found, each with an example."""
    with duckdb.connect(str(path)) as duck:
        duck.execute(damage)
    with Store(path, read_only=True) as store:
        found = {r.check.name: r.example for r in maintenance.check(store) if r.problems}

    assert expected <= found.keys()
    if "segment" not in damage:
        assert found.keys() == expected
    assert any(example in told for told in found.values())


def test_wrong_ngram_is_found_by_the_recount(path: Path) -> None:
    """A trigram in the place of another is found by the recount only, not by `--quick`, as the sum is right."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("update ngram_3 set w3 = 5 where w1 = 4 and w2 = 7")

    assert failed(path, quick=True) == {}
    assert failed(path) == {"n-grams of order 3 recounted": 2}


def test_wrong_count_is_found(path: Path) -> None:
    """A trigram that is counted too often is found, with its words as an example."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("update ngram_3 set count = 2 where w1 = 4 and w2 = 7")

    assert failed(path, quick=True) == {"n-grams of order 3 sum to those of the sentences": 1}
    with Store(path, read_only=True) as store:
        (problem,) = [r for r in maintenance.check(store) if r.problems and r.check.slow]
    assert problem.example == "corpus_id 1, w1 4, w2 7, w3 8, stored 2, expected 1"


def test_orders_above_the_highest_of_the_corpus_are_wrong(path: Path) -> None:
    """max_order 3: the 4-grams and 5-grams are too many: of order 4 6 in all, one of them once per row."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("update corpus set max_order = 3")

    assert set(failed(path)) == {
        f"n-grams of order {order} {how}"
        for order in (4, 5)
        for how in ("recounted", "sum to those of the sentences")
    }


def test_extra_checks_run_too(path: Path) -> None:
    """Checks of higher packages run, too."""
    extra = Check("no dogs", "select id from word where form = 'dog'", "remove the dog")

    assert failed(path, extra=[extra], quick=True) == {"no dogs": 1}


def test_checks_have_distinct_names_and_cures() -> None:
    """All checks have different names, and each has a cure."""
    names = [check.name for check in checks()]

    assert len(names) == len(set(names))
    assert all(len(check.cure) > 20 for check in checks())


def test_reference_counts(rows: Rows) -> None:
    """<s> the, the dog: twice; the sentences do not run into each other: no </s> <s>."""
    counts = {row[1:-1]: row[-1] for row in rows(reference_ngrams_sql(2))}

    assert counts[1, 4] == 2
    assert counts[4, 5] == 2
    assert (2, 1) not in counts
    assert sum(counts.values()) == 6 + 4


def test_sizes_and_facts(store: Store) -> None:
    """Every table is there, with its rows."""
    rows = {table: rows for table, rows, _ in maintenance.sizes(store)}
    facts = maintenance.facts(store)

    assert (rows["token"], rows["sentence"], rows["ngram_1"]) == (8, 2, 5 + 5)
    assert (facts["segments"], facts["schema revision"], facts["duckdb"]) == (
        2,
        migrate.REVISIONS[-1],
        duckdb.__version__,
    )


def test_compaction_merges_and_keeps_everything(path: Path) -> None:
    """One segment of 2 sentences and 8 tokens; the counts of each n-gram added: <s>, </s>, the in both segments."""
    with duckdb.connect(str(path)) as duck:
        before = duck.execute("select * from v_ngrams order by all").fetchall()

    done = maintenance.compact(path)

    assert (done.segments_before, done.segments_after, done.packed) == (2, 1, True)
    assert failed(path) == {}
    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select id, sentences, tokens from segment").fetchall() == [(1, 2, 8)]
        assert duck.execute("select w1, count from ngram_1").fetchall() == [
            (1, 2),
            (2, 2),
            (4, 3),
            (5, 2),
            (6, 1),
            (7, 1),
            (8, 1),
        ]
        assert duck.execute("select * from v_ngrams order by all").fetchall() == before
        with pytest.raises(duckdb.ConstraintException):
            duck.execute("insert into tag values (900, 'DET')")
    assert [file.name for file in path.parent.iterdir()] == ["store.duckdb"]


def test_compaction_leaves_other_corpora_alone(path: Path) -> None:
    """A corpus with one segment keeps it."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("insert into segment values (9, 2, 1, 1, timestamp '2026-01-01')")
        duck.execute("insert into ngram_1 values (9, 4, 7)")

    maintenance.compact(path)

    with duckdb.connect(str(path)) as duck:
        assert duck.execute("select id from segment order by id").fetchall() == [(1,), (9,)]
        assert duck.execute("select w1, count from ngram_1 where segment_id = 9").fetchall() == [(4, 7)]


def test_compaction_gives_space_back(path: Path) -> None:
    """A table of a few megabytes is deleted; the file shrinks."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("insert into word select range + 100, md5(range::varchar) from range(200_000)")
        duck.execute("checkpoint")
        duck.execute("delete from word where id >= 100")

    done = maintenance.compact(path)

    assert done.bytes_after < done.bytes_before - 2**21


def test_compaction_without_room_does_not_pack(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without room on the disk, segments are merged all the same."""

    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0))

    done = maintenance.compact(path)

    assert (done.segments_after, done.packed) == (1, False)


def test_copy_that_differs_never_takes_the_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store stays whole and usable, and the draft is removed."""

    def differ(*_: object) -> None:
        raise StoreError("the packed copy differs")

    monkeypatch.setattr(maintenance, "_compare", differ)
    inode = path.stat().st_ino

    with pytest.raises(StoreError, match="differs"):
        maintenance.compact(path)

    assert path.stat().st_ino == inode
    assert failed(path) == {}
    assert not [file for file in path.parent.iterdir() if re.search("compact", file.name)]


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


def test_compaction_of_a_store_in_use_leaves_the_draft_of_the_other_one(path: Path) -> None:
    """Of two compactions at once, the second does not remove the draft that the first is about to rename."""
    draft = path.with_name(f".{path.name}.compact")
    draft.write_bytes(b"of the other one")

    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match="in use by another process"):
            maintenance._pack(path, 1 << 30)
        holder.stdin.close()

    assert draft.read_bytes() == b"of the other one"


def test_a_store_that_is_replaced_while_it_is_opened_is_opened_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writes to a file that a compaction has just replaced would be lost, so that the store is opened again."""
    packed = path.with_name("packed.duckdb")
    shutil.copyfile(path, packed)
    with duckdb.connect(str(packed)) as duck:
        duck.execute("update corpus set licence = 'packed'")
    connect = engine.create_engine

    def replacing(*arguments: Any, **options: Any) -> Any:
        opened = connect(*arguments, **options)
        opened.connect().close()
        if packed.exists():
            packed.replace(path)
        return opened

    monkeypatch.setattr(engine, "create_engine", replacing)
    with Store(path) as store, store.connect() as connection:
        found = connection.execute(text("select distinct licence from corpus")).scalars().all()

    assert found == ["packed"]
