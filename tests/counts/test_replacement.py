"""Changed files: reported, or replacing the sources read from their paths before, completely or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from all_counts import CONLLU, all_counts
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from stored import problems, rows

from sentgen.counts import batch, corpora, ingestion, stored_sources
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.errors import InputError, ModelError
from sentgen.models import build
from sentgen.models.prune import PruneRequest
from sentgen.schema import Store

REPLACE = Settings("pets", replace=True)
OTHER = CONLLU.replace("cat", "dog").replace("\tThe\t", "\tA\t")
BROKEN = OTHER.replace("5\tdog\tdog\tNOUN\tNN\t_\t3", "5\tdog\tdog\tNOUN\tNN\t_\t9")


TEXTS = st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), min_size=1, max_size=4)


@pytest.mark.nightly
@example(files=[([["a"]], [["a", "a"]]), ([["a"]], [["a"]])], by_parts=False)
@example(files=[([["a"]], [["b"]]), ([["b"]], [["a"]])], by_parts=False)
@settings(
    max_examples=settings.default.max_examples // 7,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), st.booleans())
def test_counts_are_those_of_a_fresh_store(tmp_path_factory, files, by_parts) -> None:  # type: ignore[no-untyped-def]
    """After replacing changed files of trees and lines, all counts are as if the old ones had never been read."""
    folder = tmp_path_factory.mktemp("replaced")
    paths = [folder / "trees.conllu", *(folder / f"{number}.lines" for number in range(len(files)))]
    versions = [(CONLLU, OTHER), *(tuple(map(_lines, texts)) for texts in files)]

    def write(number: int) -> list[str]:
        for path, version in zip(paths, versions, strict=True):
            path.write_text(version[number])
        return [str(path) for path in paths]

    with (
        Store(folder / "a.duckdb", create=True) as store,
        Store(folder / "b.duckdb", create=True) as fresh,
        pytest.MonkeyPatch.context() as patched,
    ):
        if by_parts:
            patched.setattr(stored_sources, "PART_TOKENS", 5)
        (folder / "stays.lines").write_text("a b c\nb b\n")
        for one in (store, fresh):
            ingest(one, [str(folder / "stays.lines")], Settings("pets"))
        ingest(store, write(0), Settings("pets"))
        ingest(store, write(1), REPLACE)
        ingest(fresh, write(1), Settings("pets"))

        assert all_counts(store) == all_counts(fresh)
        assert problems(store) == {}


def _lines(sentences: list[list[str]]) -> str:
    return "".join(f"{' '.join(words)}\n" for words in sentences)


def test_a_changed_file_is_told_and_can_be_replaced_after(store: Store, treebank: Path) -> None:
    """Without the setting, a corpus has both contents; with it, only the new one, even if that is known already."""
    ingest(store, [str(treebank)], Settings("pets"))
    treebank.write_text(OTHER)

    added = ingest(store, [str(treebank)], Settings("pets"))
    told = ingest(store, [str(treebank)], Settings("pets"))
    replaced = ingest(store, [str(treebank)], REPLACE)
    again = ingest(store, [str(treebank)], REPLACE)

    assert (added.sources, added.changed_paths) == (1, [str(treebank)])
    assert (told.unchanged, told.changed_paths) == (1, [str(treebank)])
    assert (replaced.unchanged, replaced.replaced, replaced.changed_paths) == (1, 1, [])
    assert (again.unchanged, again.replaced) == (1, 0)
    assert rows(store, "select count(*) from source") == [(1,)]
    assert rows(store, "select count(*) from sentence") == [(2,)]
    assert set(corpora.verify(store, "pets").column("status")) == {"same"}


@pytest.fixture
def exchanged(store: Store, tmp_path: Path) -> Store:
    """A store of three files: two have exchanged their names; one was moved, and its name given to another."""
    for name, text in {"a": "one\n", "b": "two\n", "c": "three\n"}.items():
        (tmp_path / f"{name}.lines").write_text(text)
    ingest(store, [str(tmp_path)], Settings("pets"))
    for name, text in {"a": "two\n", "b": "one\n", "c": "four\n", "d": "three\n"}.items():
        (tmp_path / f"{name}.lines").write_text(text)
    return store


@pytest.mark.parametrize("tokens", [1, 100])
def test_content_that_went_to_another_file_stays(
    exchanged: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: int
) -> None:
    """Exchanged files are replaced in one batch or in several."""
    store = exchanged
    monkeypatch.setattr(batch, "BATCH_TOKENS", tokens)

    for _ in range(2):
        ingest(store, [str(tmp_path)], REPLACE)
        found = rows(store, "select path from source order by path")
        assert [Path(path).name for (path,) in found] == ["a.lines", "b.lines", "c.lines", "d.lines"]
        assert sorted(rows(store, "select form from v_tokens")) == [("four",), ("one",), ("three",), ("two",)]
        assert set(corpora.verify(store, "pets").column("status")) == {"same"}
    assert problems(store) == {}


def test_a_new_path_is_no_replacement(store: Store, treebank: Path, tmp_path: Path) -> None:
    """Sources from other paths or in other corpora stay."""
    ingest(store, [str(treebank)], Settings("pets"))
    (tmp_path / "other.conllu").write_text(OTHER)
    ingest(store, [str(tmp_path / "other.conllu")], Settings("other"))

    summary = ingest(store, [str(tmp_path / "other.conllu")], REPLACE)

    assert (summary.sources, summary.replaced, summary.changed_paths) == (1, 0, [])
    assert rows(store, "select count(*) from source") == [(3,)]


@pytest.mark.parametrize("on_error", ["raise", "collect"])
def test_a_refused_file_leaves_the_old_one(store: Store, treebank: Path, on_error: str) -> None:
    """A good file before a bad one in the same batch replaces its source with `collect` only."""
    first = treebank.with_name("a.lines")
    first.write_text("one two\n")
    paths = [str(first), str(treebank)]
    ingest(store, paths, Settings("pets"))
    before = all_counts(store)
    first.write_text("one three\n")
    treebank.write_text(BROKEN)
    asked = Settings("pets", replace=True, on_error=on_error)

    if on_error == "raise":
        with pytest.raises(InputError, match="head-range"):
            ingest(store, paths, asked)

        assert all_counts(store) == before
    else:
        assert (ingest(store, paths, asked).refused, problems(store)) == (1, {})
        assert rows(store, "select sentences from source order by path") == [(1,), (2,)]
    assert rows(store, "select count(*) from v_tokens where form = 'cat'") == [(1,)]


def test_stopped_before_its_commit_it_leaves_the_old_one(
    store: Store, treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interruption after all is written and removed changes nothing; tests/cli/test_kills.py kills the commit."""
    ingest(store, [str(treebank)], Settings("pets"))
    before, sources = all_counts(store), rows(store, "from source")
    treebank.write_text(OTHER)

    def stopping(*arguments: object) -> None:
        stored_sources.remove_sources(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(ingestion, "remove_sources", stopping)
    with pytest.raises(KeyboardInterrupt):
        ingest(store, [str(treebank)], REPLACE)

    assert (all_counts(store), rows(store, "from source"), problems(store)) == (before, sources, {})


def test_what_was_refused_goes_with_its_source(store: Store, treebank: Path) -> None:
    """After a corrected file is read, the corpus has no rejections."""
    treebank.write_text(BROKEN)
    ingest(store, [str(treebank)], Settings("pets", on_error="skip"))
    assert corpora.Corpus(name="pets", rejected=True).show(store).num_rows == 1
    treebank.write_text(OTHER)

    ingest(store, [str(treebank)], REPLACE)

    assert corpora.Corpus(name="pets", rejected=True).show(store).num_rows == 0


def test_nothing_is_left_to_count(store: Store, treebank: Path) -> None:
    """All sentences of the new content are refused: the corpus has a source without sentences, and no counts."""
    ingest(store, [str(treebank)], Settings("pets"))
    treebank.write_text("1\ta\t_\t_\t_\t_\t9\tx\t_\t_\n\n")

    ingest(store, [str(treebank)], Settings("pets", on_error="skip", replace=True))

    assert rows(store, "select sentences from source") == [(0,)]
    assert rows(store, "select * from segment") == rows(store, "select * from ngram_1") == []
    assert problems(store) == {}


def test_a_stream_replaces_nothing(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams of the same name are two sources."""
    for text in (b"one two\n", b"three\n"):
        (tmp_path / "in").write_bytes(text)
        with (tmp_path / "in").open() as stdin, monkeypatch.context() as patched:
            patched.setattr("sys.stdin", stdin)
            assert ingest(store, ["-"], Settings("pets", format="lines")).changed_paths == []
    with (tmp_path / "in").open() as stdin, monkeypatch.context() as patched:
        patched.setattr("sys.stdin", stdin)
        with pytest.raises(InputError, match="a stream has no path"):
            ingest(store, ["-"], REPLACE)


def test_a_model_is_stale_though_as_many_tokens_came(store: Store, treebank: Path) -> None:
    """A model is stale after a corrected letter, which changes no number of tokens."""
    ingest(store, [str(treebank)], Settings("pets"))
    model = build(store, "m", ["pets"], order=1)
    assert model.changes(store) == []
    treebank.write_text(OTHER)

    ingest(store, [str(treebank)], REPLACE)

    assert model.changes(store) == ["corpus 'pets' has as many tokens, some from sources that came later"]
    # A model made from it would not count as stale, as it would be younger than the sources.
    with pytest.raises(ModelError, match=r"m@1: corpus 'pets' has as many tokens.*; build it again first"):
        PruneRequest(name="small", of="m", entropy=1e-8).make(store)


def test_a_corpus_of_pairs_takes_no_sources(store: Store, treebank: Path, tmp_path: Path) -> None:
    """Sources of a corpus of pairs are not replaced; a changed pair is refused with the cure."""
    pairs = tmp_path / "p.jsonl"
    pairs.write_text('{"id": "a", "document": "One two.", "abstract": "One."}\n')
    ingest_pairs(store, [str(pairs)], "pairs")
    with pytest.raises(InputError, match="is of kind pairs, not corpus"):
        ingest(store, [str(treebank)], Settings("pairs", order=1, replace=True))
    pairs.write_text('{"id": "a", "document": "One three.", "abstract": "One."}\n')

    with pytest.raises(InputError, match=r"another pair 'a'.*sentgen corpora remove pairs"):
        ingest_pairs(store, [str(pairs)], "pairs")
    assert rows(store, "select count(*) from pair") == [(1,)]
