"""Occurrences of words: their rows are those of the tokens after any additions, removals, merges and moves."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from occurrences import EXPECTED, STORED
from stored import problems, rows

from sentgen.counts import batch, corpora, writer
from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store, maintenance
from sentgen.schema.lake_transfer import export, load
from sentgen.schema.places import Place
from sentgen.schema.snapshots import publish

#: Words with their lemmas, `_` for none; the last three have the same lemma.
WORDS = st.sampled_from(["the the", "Hund _", "собака собака", "dogs dog", "dog dog", "DOG dog"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=4)
#: Operations on a file of a corpus, or on the whole store.
STEPS = st.one_of(
    st.tuples(st.sampled_from(["vertical", "lines"]), st.sampled_from("ab"), TEXTS),
    st.tuples(st.sampled_from(["remove", "compact", "lake"]), st.sampled_from("ab"), st.just([])),
)
FIRST = ("vertical", "a", [["the the", "dogs dog"], ["the the", "Hund _"]])
OTHER = ("lines", "b", [["the the", "the the"]])
CHANGED = ("vertical", "a", [["DOG dog"], ["dog dog", "the the"]])
LAKE, COMPACT, REMOVE = ("lake", "", []), ("compact", "", []), ("remove", "b", [])


def verify(store: Store) -> None:
    """Compare the table with the tokens, and check its order and the numbers of tokens."""
    assert Counter(rows(store, STORED)) == Counter(rows(store, EXPECTED))
    by_segment = rows(store, "select segment_id, attribute, word_id, token from occurrence order by rowid")
    for segment in {row[0] for row in by_segment}:
        of_segment = [row for row in by_segment if row[0] == segment]
        # Attributes are written one after the other, and only a merge sorts by them.
        for attribute in ("word", "lemma"):
            of_attribute = [row for row in of_segment if row[1] == attribute]
            assert of_attribute == sorted(of_attribute)
    sentences = rows(store, "select first_token, length from sentence order by id")
    assert all(first + length <= then for (first, length), (then, _) in pairwise(sentences))


def write(folder: Path, form: str, texts: list[list[str]]) -> Path:
    """Write a file with the name of its format."""
    path = folder / f"text.{form}"
    if form == "lines":
        path.write_text("".join(f"{' '.join(word.split()[0] for word in one)}\n" for one in texts))
    else:
        told = ["".join(f"{word.replace(' ', chr(9))}\n" for word in one) for one in texts]
        path.write_text(f"<doc>\n{''.join(f'<s>{chr(10)}{one}</s>{chr(10)}' for one in told)}</doc>\n")
    return path


def run(folder: Path, steps: list[tuple[str, str, list[list[str]]]]) -> Path:
    """Do all steps, verify the store after each, and return its path."""
    path = folder / "s.duckdb"
    for number, (what, corpus, texts) in enumerate(steps):
        if what == "compact" and path.exists():
            maintenance.compact(path)
        elif what == "lake" and path.exists():
            place = Place(folder / f"lake-{number}")
            with Store(path, read_only=True) as store:
                export(store, place)
            with Store(folder / f"lake-{number}", read_only=True) as lake:
                assert Counter(rows(lake, STORED)) == Counter(rows(lake, EXPECTED))
            path = folder / f"{number}.duckdb"
            load(place, path)
        with Store(path, create=True) as store:
            if what in ("vertical", "lines"):
                # A file that was ingested before is removed, and another one read in its place.
                columns = "word,lemma" if what == "vertical" else None
                asked = Settings(corpus, format=what, replace=True, columns=columns)
                ingest(store, [str(write(folder, what, texts))], asked)
            elif what == "remove" and rows(store, f"from corpus where name = '{corpus}'"):
                corpora.remove(store, corpus)
            verify(store)
    with Store(path, read_only=True) as store:
        assert problems(store) == {}
    return path


@pytest.mark.parametrize(
    "steps",
    [[FIRST, CHANGED, COMPACT], [OTHER, FIRST, REMOVE], [FIRST, LAKE]],
    ids=["replaced and compacted", "removed", "through a lake"],
)
def test_a_day_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Any]) -> None:
    """Files added, replaced and removed, a lake, a compaction: the table is that of the tokens after each."""
    monkeypatch.setattr(batch, "BATCH_TOKENS", 1)

    run(tmp_path, steps)


def test_what_is_published_has_them(tmp_path: Path) -> None:
    """A snapshot has the same occurrences as its store, row by row."""
    path = run(tmp_path, [FIRST])
    done = publish(path, tmp_path / "published")
    with Store(path, read_only=True) as store, Store(done.snapshot.path, read_only=True) as snapshot:
        assert rows(snapshot, f"{STORED} order by all") == rows(store, f"{EXPECTED} order by all")


@pytest.mark.nightly
@example(steps=[FIRST, OTHER, LAKE, CHANGED, COMPACT, REMOVE], most=1)
@example(steps=[REMOVE, COMPACT, CHANGED, LAKE, OTHER, FIRST], most=1)
@settings(max_examples=settings.default.max_examples // 7)
@given(st.lists(STEPS, min_size=1, max_size=6), st.integers(1, 5))
def test_any_day_of_a_store(tmp_path_factory, steps, most) -> None:  # type: ignore[no-untyped-def]
    """The table is right after any steps, for any number of parts in which words are sorted."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writer, "BYTES_PER_TOKEN", 1 << 60)
        patched.setattr(writer, "_ROWS", most)
        run(tmp_path_factory.mktemp("day"), steps)
