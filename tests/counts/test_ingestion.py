"""Ingestion: sentences are stored and counted once, completely, in any order, and undone by removal."""

from __future__ import annotations

import multiprocessing
import signal
import time
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
import sqlalchemy
from all_counts import CONLLU, all_counts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import problems, rows

from sentgen.counts import batch, corpora
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow, raw
from sentgen.schema.sum_checks import reference_ngrams_sql


def test_summary(store: Store, treebank: Path) -> None:
    """The summary has the numbers of sources, sentences, tokens and types."""
    summary = ingest(store, [str(treebank)], Settings("pets"))

    # dog, chased, a, cat, ., The | Do, n't, chase, the: 10 types; 6 + 5 tokens.
    assert (summary.sources, summary.sentences, summary.tokens, summary.types) == (1, 2, 11, 10)


def test_sentences_keep_their_metadata(store: Store, treebank: Path) -> None:
    """Names, raw text, comments, documents and ranges of the source survive."""
    ingest(store, [str(treebank)], Settings("pets"))

    assert rows(store, "select sent_id, length, line, text, metadata from sentence order by id") == [
        ("1", 6, 1, "The dog chased a cat.", None),
        ("2", 5, 11, None, "note = kept"),
    ]
    assert rows(store, "select name, sentences from document order by id") == [("d1", 1), ("d2", 1)]
    assert rows(store, "select first, last, form from multiword") == [(1, 2, "Don't")]


def test_dependency_events_by_hand(store: Store, treebank: Path) -> None:
    """Events of the first sentence's verb, over words and over units, with direction and distance."""
    ingest(store, [str(treebank)], Settings("pets"))
    query = """
        select layer, head, modifier, direction, distance, count from v_dependencies
        where level = 'word-word' and head in ('chased', 'dog') order by all
    """

    # Word layer: dog is 1 left of chased, cat 2 right, "." 3 right; The is 1 left of dog; "the" 1 left of dog.
    # Unit layer: [The dog] chased [a cat] . : units at places 1, 2, 3, 4, so cat is 1 right and "." 2 right.
    assert rows(store, query) == [
        ("unit", "chased", ".", "right", 2, 1),
        ("unit", "chased", "cat", "right", 1, 1),
        ("unit", "chased", "dog", "left", 1, 1),
        ("word", "chased", ".", "right", 3, 1),
        ("word", "chased", "cat", "right", 2, 1),
        ("word", "chased", "dog", "left", 1, 1),
        ("word", "dog", "The", "left", 1, 1),
        ("word", "dog", "the", "left", 1, 1),
    ]


def test_argument_counts_by_hand(store: Store, treebank: Path) -> None:
    """NN (dog, cat, dog) has one determiner on the left each and nothing on the right, in the word layer."""
    ingest(store, [str(treebank)], Settings("pets"))
    query = """
        select direction, arguments, count from v_arguments
        where layer = 'word' and level = 'tag' and head_tag = 'NN' order by all
    """

    assert rows(store, query) == [("left", 1, 3), ("right", 0, 3)]


def test_function_heads_are_promoted_in_the_unit_layer_only(store: Store, treebank: Path) -> None:
    """`Do` heads `chase` in the unit layer, as UD's aux is promoted; the word layer is as annotated."""
    ingest(store, [str(treebank)], Settings("pets"))
    query = "select layer, head, modifier from v_dependencies where level = 'word-word' and {} = 'Do' order by all"

    assert ("unit", "<root>", "Do") in rows(store, query.format("modifier"))
    assert ("word", "chase", "Do") in rows(store, query.format("modifier"))


def test_without_function_heads(store: Store, treebank: Path) -> None:
    """Without the setting, function words are not promoted."""
    ingest(store, [str(treebank)], Settings("pets", function_heads=False))
    query = "select distinct head from v_dependencies where layer = 'unit' and level = 'word-word' and modifier = 'Do'"

    assert rows(store, query) == [("chase",)]


def test_sentences_with_and_without_annotation_in_one_block(store: Store, tmp_path: Path) -> None:
    """Base NPs need tags, heads and relations; promotion needs heads and relations; both treat sentences apart."""
    whole = "1\tin\tin\tADP\tIN\t_\t2\tcase\t_\t_\n2\tRome\tRome\tPROPN\tNNP\t_\t0\troot\t_\t_\n\n"
    no_tags = whole.replace("ADP", "_").replace("PROPN", "_")
    no_relations = whole.replace("case", "_").replace("root", "_")
    no_heads = whole.replace("\t2\tcase", "\t_\tcase").replace("\t0\troot", "\t_\troot")
    (tmp_path / "mixed.conllu").write_text(no_heads + whole + no_tags + no_relations + whole)
    ingest(store, [str(tmp_path / "mixed.conllu")], Settings("pets"))
    query = "select np, head, unit_head from token order by sentence_id, position"

    assert rows(store, query) == [
        *[(None, None, None), (None, None, None)],
        *[(0, 2, 0), (1, 0, 1)],
        *[(None, 2, 0), (None, 0, 1)],
        *[(None, 2, 2), (None, 0, 0)],
        *[(0, 2, 0), (1, 0, 1)],
    ]


def test_cooccurrence_by_hand(store: Store, treebank: Path) -> None:
    """dog and chased share one sentence; a word does not co-occur with itself unless it is there twice."""
    ingest(store, [str(treebank)], Settings("pets"))
    query = "select a, b, count from v_cooccurrences where layer = 'word' and a = 'dog' and b in ('dog', 'chased', 'chase')"

    assert sorted(rows(store, query)) == [("dog", "chase", 1), ("dog", "chased", 1)]


@pytest.mark.parametrize("order", [1, 3, 5])
def test_ngrams_equal_the_sql_reference(store: Store, treebank: Path, order: int) -> None:
    """N-grams counted by compiled code are those of LEAD and GROUP BY, up to the order of the setting."""
    ingest(store, [str(treebank)], Settings("pets", order=order))
    for n in range(1, 6):
        words = ", ".join(f"w{i}" for i in range(1, n + 1))
        counted = f"select corpus_id, {words}, sum(count)::bigint from ngram_{n} join segment on segment.id = segment_id group by all"

        assert sorted(rows(store, counted)) == sorted(rows(store, reference_ngrams_sql(n)))
        assert bool(rows(store, counted)) == (n <= order)


def test_same_content_is_stored_once(store: Store, treebank: Path, tmp_path: Path) -> None:
    """A second run is a no-op, and so is a copy under another name."""
    ingest(store, [str(treebank)], Settings("pets"))
    before = all_counts(store)
    (tmp_path / "copy.conllu").write_text(treebank.read_text())
    again = ingest(store, [str(treebank), str(tmp_path / "copy.conllu")], Settings("pets"))

    assert (again.sources, again.unchanged) == (0, 2)
    assert all_counts(store) == before


def test_same_content_in_another_language_is_stored_once(store: Store, tmp_path: Path) -> None:
    """A copy of a file in the same batch is read once, too."""
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("Il fait nuit.\n")

    summary = ingest(store, [str(path) for path in paths], Settings("nuit", language="fr"))

    assert (summary.sources, summary.unchanged) == (1, 1)


def test_lowercase(store: Store, treebank: Path) -> None:
    """Forms are lower-cased; the raw text is not."""
    ingest(store, [str(treebank)], Settings("pets", lowercase=True))

    assert rows(store, "select count(*) from v_tokens where form = 'the'") == [(2,)]
    assert rows(store, "select text from sentence where sent_id = '1'") == [("The dog chased a cat.",)]


def test_settings_of_a_corpus_cannot_change(store: Store, treebank: Path, tmp_path: Path) -> None:
    """Other settings for an existing corpus are refused, as its counts need the same settings."""
    ingest(store, [str(treebank)], Settings("pets"))
    with pytest.raises(InputError, match=r"was made with `order` 5, not with `order` 3"):
        ingest(store, [str(treebank)], Settings("pets", order=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": " "}, "needs a name"),
        ({"order": 6}, "not between 1 and 5"),
        ({"tags": "pos"}, "neither xpos nor upos"),
        ({"on_error": "ignore"}, "none of: raise, collect, skip"),
        ({"format": "word"}, "no format 'word'; there are: .*conll2000"),
    ],
)
def test_bad_settings(changes: dict[str, object], message: str) -> None:
    """Wrong settings are refused before a file is read."""
    with pytest.raises(InputError, match=message):
        Settings(**({"corpus": "x"} | changes))  # type: ignore[arg-type]


BROKEN = CONLLU.replace("5\tdog\tdog\tNOUN\tNN\t_\t3", "5\tdog\tdog\tNOUN\tNN\t_\t9")


def test_raise_stores_nothing(store: Store, tmp_path: Path) -> None:
    """One bad sentence: file, line, sentence and check are named, and the corpus does not exist."""
    (tmp_path / "bad.conllu").write_text(BROKEN)
    with pytest.raises(InputError, match=r"bad\.conllu:\d+: .*\(sentence 2\) \[head-range\]"):
        ingest(store, [str(tmp_path / "bad.conllu")], Settings("pets"))

    assert rows(store, "select count(*) from corpus") == [(0,)]
    assert rows(store, "select count(*) from token") == [(0,)]


def test_skip_stores_the_rest_and_the_reason(store: Store, tmp_path: Path) -> None:
    """The good sentence is stored, the bad one is listed."""
    (tmp_path / "bad.conllu").write_text(BROKEN)
    summary = ingest(store, [str(tmp_path / "bad.conllu")], Settings("pets", on_error="skip"))

    assert (summary.sentences, len(summary.rejections)) == (1, 1)
    assert [
        row["check_name"] if "check_name" in row else row["check"]
        for row in corpora.Corpus(name="pets", rejected=True).show(store).to_pylist()
    ] == ["head-range"]


def test_collect_refuses_the_file_and_keeps_the_others(store: Store, tmp_path: Path, treebank: Path) -> None:
    """All problems are reported, nothing of the bad file is stored, the good file is."""
    (tmp_path / "bad.conllu").write_text(BROKEN + BROKEN.replace("sent_id = 2", "sent_id = 4"))
    summary = ingest(
        store, [str(tmp_path / "bad.conllu"), str(treebank)], Settings("pets", on_error="collect")
    )

    assert (summary.sources, summary.refused, len(summary.rejections)) == (1, 1, 2)
    assert rows(store, "select count(*) from sentence") == [(2,)]


def test_unknown_corpus(store: Store, treebank: Path) -> None:
    """The message names the corpora that exist."""
    ingest(store, [str(treebank)], Settings("pets"))
    with pytest.raises(NotFoundError, match="no corpus 'cats'; there are: pets"):
        corpora.Corpus(name="cats").show(store)


WORDS = st.sampled_from(["a", "b", "c", "dd", "ü", "x\u00a0y"])
FILES = st.lists(
    st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=5), min_size=1, max_size=5
)


@settings(
    max_examples=settings.default.max_examples // 7,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(FILES, st.randoms())
def test_order_and_grouping_do_not_matter(tmp_path_factory, files, random) -> None:  # type: ignore[no-untyped-def]
    """Files ingested together, one by one, or in another order, give the same counts; removal undoes one exactly."""
    folder = tmp_path_factory.mktemp("order")
    paths = []
    for number, sentences in enumerate(files):
        paths.append(folder / f"{number}.lines")
        paths[-1].write_text("".join(f"{number} {' '.join(sentence)}\n" for sentence in sentences))
    shuffled = random.sample(paths, len(paths))
    with Store(folder / "a.duckdb", create=True) as first, Store(folder / "b.duckdb", create=True) as second:
        ingest(first, [str(path) for path in paths], Settings("x"))
        for path in shuffled:
            ingest(second, [str(path)], Settings("x"))
        expected = all_counts(first)

        assert all_counts(second) == expected
        ingest(second, [str(paths[0])], Settings("y", lowercase=True))
        assert all_counts(second) != expected
        corpora.remove(second, "y")
        assert all_counts(second) == expected


def test_segments_are_merged_without_changing_counts(store: Store, tmp_path: Path, nightly: bool) -> None:
    """Many small additions are merged into few segments, with the counts of a single one."""
    lines = [f"word{i} and word{i % 3} meet\n" for i in range(20 if nightly else corpora.FAN_IN + 2)]
    for number, line in enumerate(lines):
        (tmp_path / f"{number}.lines").write_text(line)
        ingest(store, [str(tmp_path / f"{number}.lines")], Settings("many"))
    (tmp_path / "all.lines").write_text("".join(lines))
    with Store(tmp_path / "one.duckdb", create=True) as single:
        ingest(single, [str(tmp_path / "all.lines")], Settings("many"))

        assert all_counts(store) == all_counts(single)
    with store.connect() as connection:
        assert len(corpora.of_corpora(connection, [1])) < corpora.FAN_IN


def test_verify_tells_changed_and_missing(store: Store, treebank: Path, tmp_path: Path) -> None:
    """Sources are compared with the files on disk."""
    other = tmp_path / "other.lines"
    other.write_text("one two\n")
    ingest(store, [str(treebank), str(other)], Settings("pets"))
    assert set(corpora.verify(store, "pets").column("status")) == {"same"}

    other.write_text("one three\n")
    treebank.unlink()
    assert {Path(path).name: status for path, status, _ in corpora.verify(store, "pets")} == {
        "other.lines": "changed",
        "two.conllu": "missing",
    }


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("select 1", set()),
        (
            "update dependency_event set count = 9 where distance = 3",
            {"dependency_event of pets recounted", "dependency_event sums to the nodes of the trees"},
        ),
        (
            "delete from argument_count where arguments = 0",
            {"argument_count of pets recounted", "argument_count sums to the nodes of the trees"},
        ),
        (
            "delete from posting where layer = 'unit'",
            # What words have in common is counted from these.
            {
                "posting of pets recounted",
                "posting sums to the nodes of the trees",
                "cooccurrence of pets recounted",
            },
        ),
        (
            "update ngram_3 set count = count + 1",
            {"n-grams of order 3 recounted", "n-grams of order 3 sum to those of the sentences"},
        ),
    ],
)
def test_check_recounts_everything(store: Store, treebank: Path, damage: str, found: set[str]) -> None:
    """An ingested store passes every check, and each table of counts is compared with the tokens."""
    ingest(store, [str(treebank)], Settings("pets"))
    with store.begin() as connection:
        raw(connection).execute(damage)

    assert problems(store).keys() == found


def ingest_in_small_transactions(target: str, paths: list[str], started: Event) -> None:
    """Run in a process of its own, to be killed."""
    batch.BATCH_TOKENS = 1
    with Store(target, create=True) as store:
        started.set()
        ingest(store, paths, Settings("x"))


@pytest.mark.slow
def test_kill_in_mid_ingest(tmp_path: Path, nightly: bool) -> None:
    """Kill -9 between small transactions, once by day and eight times at night; tests/cli/test_kills.py kills large ones."""
    rounds = 8 if nightly else 1
    paths = []
    for number in range(40 if nightly else 10):
        paths.append(tmp_path / f"{number}.lines")
        paths[-1].write_text("".join(f"w{(i * number) % 97} w{i % 31} w{i % 7} .\n" for i in range(300)))
    target = tmp_path / "killed.duckdb"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sentgen.counts.ingestion"])
    arguments = (str(target), [str(path) for path in paths])
    killed = 0
    for round_ in range(rounds):
        started = context.Event()
        child = context.Process(target=ingest_in_small_transactions, args=(*arguments, started))
        child.start()
        assert started.wait(60)
        time.sleep(0.04 + 0.03 * (round_ % 7))
        child.kill()
        child.join()
        killed += child.exitcode == -signal.SIGKILL
        with Store(target, create=True) as store:
            check_whole(store)
    last = context.Event()
    child = context.Process(target=ingest_in_small_transactions, args=(*arguments, last))
    child.start()
    child.join()
    assert child.exitcode == 0
    with Store(target) as store, Store(tmp_path / "clean.duckdb", create=True) as clean:
        ingest(clean, [str(path) for path in paths], Settings("x"))

        assert killed > rounds / 2
        assert all_counts(store) == all_counts(clean)


def check_whole(store: Store) -> None:
    """Every source has all its sentences, every count equals a recount, and nothing is an orphan."""
    assert rows(store, "select id from source where sentences <> 300") == []
    total = rows(store, "select count(*) from sentence")[0][0]
    assert rows(store, "select count(*) * 300 from source")[0][0] == total
    assert rows(store, "select count(*) from token where sentence_id not in (select id from sentence)") == [
        (0,)
    ]
    with store.connect() as connection:
        for n in (1, 2, 5):
            words = ", ".join(f"w{i}" for i in range(1, n + 1))
            counted = (
                f"select 1 as corpus_id, {words}, sum(count)::bigint as count from ngram_{n} group by all"
            )
            difference = f"(({counted}) except ({reference_ngrams_sql(n)})) union all (({reference_ngrams_sql(n)}) except ({counted}))"
            assert fetch_arrow(connection, difference).num_rows == 0


def test_a_file_of_a_folder_without_sentences_is_passed_over(tmp_path: Path) -> None:
    """A file without sentences, as the root of a collection, is skipped; named by itself, it is refused."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.conllu").write_text("1\tx" + "\t_" * 8 + "\n\n", encoding="utf-8")
    (folder / "b.vert").write_text("<doc>\n</doc>\n", encoding="utf-8")
    (folder / "c.conllu").write_text("1\ty" + "\t_" * 8 + "\n\n", encoding="utf-8")
    with Store(tmp_path / "a.duckdb", create=True) as store:
        summary = ingest(store, [str(folder)], Settings("a"))
        assert summary.passed_over == [(str(folder / "b.vert"), "has no sentences")]
        with store.connect() as connection:
            rows = connection.exec_driver_sql("select document, form from v_tokens order by all").fetchall()
        assert rows == [(str(folder / "a.conllu"), "x"), (str(folder / "c.conllu"), "y")]
        assert problems(store) == {}
        with pytest.raises(InputError, match="has no sentences"):
            ingest(store, [str(folder / "b.vert")], Settings("a"))


def test_files_that_have_not_changed_are_looked_up_together(store: Store, tmp_path: Path) -> None:
    """Ingesting many unchanged files again takes as many statements as a few do."""

    def statements(number: int) -> int:
        folder = tmp_path / str(number)
        folder.mkdir()
        for place in range(number):
            (folder / f"{place}.lines").write_text(f"word {number} {place}\n")
        asked = Settings(f"of {number}", replace=True)
        ingest(store, [str(folder)], asked)
        said: list[str] = []

        def listen(_connection, _cursor, statement, *_) -> None:  # type: ignore[no-untyped-def]
            said.append(statement)

        sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", listen)
        try:
            assert ingest(store, [str(folder)], asked).unchanged == number
        finally:
            sqlalchemy.event.remove(sqlalchemy.Engine, "before_cursor_execute", listen)
        return len(said)

    assert statements(2) == statements(12) > 0
