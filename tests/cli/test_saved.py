"""Saved queries: command lines of look-ups, checked when they are saved, in the store and its copies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from raising import sentgen
from ten_sentences import fill

from sentgen.errors import InputError, NotFoundError, QueryError, SentgenError, StoreError
from sentgen.schema.durability.write_lock import lock_policy
from sentgen.schema.snapshots import publish

QUERY = ("kwic", '[lemma="fall"]', "--limit", "1")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a saved query; no test changes it."""
    store = tmp_path_factory.mktemp("saved") / "toy.duckdb"
    fill(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENTGEN_DB", str(store))
        assert sentgen("saved", "add", "falls", "--", *QUERY).exit_code == 0
    return store


@pytest.fixture
def path(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which commands find by themselves."""
    store = Path(shutil.copy(made, tmp_path))
    monkeypatch.setenv("SENTGEN_DB", str(store))
    return store


def listed() -> list[dict[str, str]]:
    """The saved queries."""
    found: list[dict[str, str]] = json.loads(sentgen("saved", "list", "--json").stdout)
    return found


def test_a_saved_query_is_the_command(path: Path) -> None:
    """It prints what the command prints; later options win."""
    assert sentgen("saved", "run", "falls").stdout == sentgen(*QUERY).stdout
    more = sentgen("saved", "run", "falls", "--", "--limit", "3", "--csv")
    assert more.stdout == sentgen(*QUERY[:2], "--limit", "3", "--csv").stdout
    assert len(more.stdout.splitlines()) == 4


def test_help_of_the_command_stays_as_it_is(path: Path) -> None:
    """Both of its names are known, when a saved query runs and afterwards."""
    sentgen("saved", "add", "home", "--", "kwic", "home")

    assert "Usage: sentgen kwic" in sentgen("saved", "run", "home", "--", "-h").stdout
    assert "Usage: sentgen kwic" in sentgen("kwic", "-h").stdout


def test_the_list_has_command_lines(path: Path) -> None:
    """As they can be typed, by name."""
    sentgen("saved", "add", "a", "--", "freq", "--by", "lemma")

    assert [(one["name"], one["query"]) for one in listed()] == [
        ("a", "sentgen freq --by lemma"),
        ("falls", "sentgen kwic '[lemma=\"fall\"]' --limit 1"),
    ]
    sentgen("saved", "remove", "falls")
    assert [one["name"] for one in listed()] == ["a"]


@pytest.mark.nightly(by_day=5)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kwic", "x", "--limt", "3"), "No such option: --limt"),
        (("kwic", "x", "--limit", "-3"), "greater than or equal to 0"),
        (("kwic", "x", "y"), "unexpected extra argument"),
        (("keyness", "toy"), "Missing option '--against'"),
        (("freq", "--parquet", "x.parquet"), "names no files; leave out --parquet"),
        (("sql", "--file", "x.sql"), "names no files; leave out --file"),
        (
            ("kwic", "x", "--db", "x.duckdb"),
            "names no files; leave out --db, and give it to sentgen saved add and",
        ),
        (("kwic", "x", "--desk", "x.desk"), "names no files; leave out --desk, and give it to sentgen"),
        (("ingest", "x"), "'ingest' cannot be saved; these commands can: ngrams,"),
        (("saved", "run", "falls"), "'saved' cannot be saved"),
        (("kwic",), "nothing is asked for"),
        (("kwic", "x", "--csv", "--json"), "--csv and --json exclude each other"),
        (("kwic", "x", "--corpus", "nix"), "no corpus 'nix'"),
        (("kwic", "x", "--where", "nix = 1"), "column 1: no metadata 'nix'"),
        (("kwic", "foo:x"), "no attribute 'foo'"),
        (("kwic", '[lemma="fall" upos]'), "column 15: unexpected 'upos'"),
        (("kwic", "--limit", "0", '[nix="x"]'), "column 2: no attribute 'nix'"),
        (("freq", "--query", '[word="(a"]'), "column 8: no regular expression"),
        (("freq", "--query", '"a"', "--by", "z.lemma"), "no label 'z'"),
        (("collocations", '[lemma="a"'), "column 11: the query ends too early"),
        (("collocations", "a", "--window", "x"), "'x' is no window"),
        (("match", "pattern { V -[nsubj-> S }"), "column 21: expected one of"),
        (("match", "pattern { V -[nsubj]-> S }", "--key", "Z.lemma"), "no node or edge 'Z'"),
        (("match", "pattern { V -> S }", "--count", "--conllu"), "counts have no sentences"),
        (("match",), "give one request"),
        (("ngrams", "a b c d e f"), "the pattern has 6 words"),
        (("keyness", "toy", "--against", "nix"), "no corpus 'nix'"),
        (("sql",), "give one query"),
        (("sql", "select * from nix"), "no table or view 'nix'"),
        (("sql", "select form + 1 from v_tokens"), "No function matches"),
        (("sql", "select $form"), "Values were not provided"),
        (("sql", "drop table word"), "only SELECT queries"),
    ],
)
def test_what_would_not_run_is_refused(path: Path, words: tuple[str, ...], said: str) -> None:
    """In one line, and nothing is saved; the wait of this command stays what it was."""
    with pytest.raises(SentgenError, match=said) as refused:
        sentgen("saved", "add", "bad", "--wait", "3", "--", *words)

    assert "\n" not in str(refused.value)
    assert lock_policy.wait == 3
    assert [one["name"] for one in listed()] == ["falls"]


def test_what_is_wrong_with_a_query_is_shown(path: Path) -> None:
    """The place is in the error, from which the terminal draws it; that of a condition is in what was typed."""
    for words, picture in (
        (("kwic", '[lemma="fall" upos]'), '  [lemma="fall" upos]\n                ^'),
        (("kwic", "x", "--where", "length = "), "  length = \n          ^"),
    ):
        with pytest.raises(QueryError) as refused:
            sentgen("saved", "add", "bad", "--", *words)
        assert refused.value.picture == picture


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize(
    "words",
    [
        ("ngrams", "the *", "--limit", "0"),
        ("deps", "fell", "--where", "length > 3"),
        ("args", "fell", "--explain"),
        ("kwic", "zebra", "--sort", "left", "--random", "1"),
        ("kwic", '[lemma="fall"] []*', "--count"),
        ("match", "pattern { V -[nsubj]-> S }", "--key", "V.lemma", "--whether", "S [upos=PRON]"),
        ("match", "-", "--conllu"),
        ("freq", "--by", "a.lemma,match.word", "--query", 'a:"fell"'),
        ("collocations", "fell", "--dependency", "*"),
        ("sketch", "fell", "--limit", "0"),
        ("sql", "select * from v_tokens where form = $form -- all", "--param", "form=fell"),
        ("sql", "-"),
    ],
)
def test_what_would_run_is_saved(path: Path, words: tuple[str, ...]) -> None:
    """Of each command, also where it finds nothing, or gets its query when it runs."""
    assert sentgen("saved", "add", "good", "--", *words).exit_code == 0
    assert [one["name"] for one in listed()] == ["falls", "good"]


def test_names(path: Path) -> None:
    """Each is there once; another one is told those that there are."""
    with pytest.raises(InputError, match="there is a saved query 'falls'"):
        sentgen("saved", "add", "falls", "--", "freq")
    sentgen("saved", "add", "falls", "--replace", "--", "freq")
    assert [(one["name"], one["query"]) for one in listed()] == [("falls", "sentgen freq")]
    with pytest.raises(NotFoundError, match="no saved query 'fall'; there are: falls"):
        sentgen("saved", "run", "fall")
    with pytest.raises(NotFoundError, match="no saved query 'fall'"):
        sentgen("saved", "remove", "fall")
    with pytest.raises(InputError, match="a blank is no name"):
        sentgen("saved", "add", " ", "--", "freq")


def test_exit_codes_are_those_of_the_command(path: Path) -> None:
    """1 where nothing is found, 2 for an option that the command does not have."""
    sentgen("saved", "add", "none", "--", "kwic", "zebra")

    assert sentgen("saved", "run", "none").exit_code == 1
    assert sentgen("saved", "run", "none", "--", "--limt", "3").exit_code == 2


def test_copies_of_the_store_have_them(path: Path, tmp_path: Path) -> None:
    """Snapshots, and lakes, which cannot be written to; `--db` goes on to the command."""
    published = publish(path, tmp_path / "published").snapshot.path
    sentgen("cluster", "export", "--to", str(tmp_path / "lake"))
    expected = sentgen(*QUERY).stdout

    for copy in (published, tmp_path / "lake"):
        assert sentgen("saved", "run", "falls", "--db", str(copy)).stdout == expected
    with pytest.raises(StoreError, match="a lake is only read"):
        sentgen("saved", "add", "more", "--db", str(tmp_path / "lake"), "--", "freq")


def test_labels_of_another_desk(path: Path, tmp_path: Path) -> None:
    """`--desk` says whose labels a query is checked with, and runs with; SQL sees none."""
    desk, by = ("--desk", str(tmp_path / "other.desk")), ("freq", "--query", "fell", "--by", "lines.fell")
    sentgen("lines", "new", "fell", "fell", *desk)
    sentgen("lines", "label", "fell", "1", "literal", "--labeler", "ann", *desk)

    with pytest.raises(NotFoundError, match="no line set"):
        sentgen("saved", "add", "labels", "--", *by)
    assert sentgen("saved", "add", "labels", *desk, "--", *by).exit_code == 0
    with pytest.raises(NotFoundError, match="no line set"):
        sentgen("saved", "run", "labels")
    expected = sentgen(*by, *desk).stdout
    assert "literal" in expected
    assert sentgen("saved", "run", "labels", *desk).stdout == expected
    assert sentgen("saved", "run", "labels", "--", *desk).stdout == expected
    for words in (("add", "sql", *desk, "--", "sql", "select 1"), ("run", "one", *desk)):
        sentgen("saved", "add", "one", "--replace", "--", "sql", "select 1")
        with pytest.raises(InputError, match="sees no labels of line sets; leave out --desk"):
            sentgen("saved", *words)


def test_a_chain_of_filters_is_one_query(path: Path) -> None:
    """Windows and their opposites keep their order; what is left is said above the lines."""
    chain = ["--filter", "the", "--within", "2L", "--filter", "sharply", "--without=1R", "--sort", "1L"]
    sentgen("saved", "add", "chain", "--", "kwic", "fell", *chain, "--limit", "2")

    found = sentgen("saved", "run", "chain")

    assert found.stderr.splitlines() == [
        "the within 2L leaves 2 of 4 hits",
        "sharply without 1R leaves 1 of 2 hits",
        "corpus toy, document d2",
    ]
    # All lines, which come part by part, have the same said above them, once.
    every = sentgen("saved", "run", "chain", "--", "--limit", "0")
    assert (every.stdout, every.stderr) == (found.stdout, found.stderr)
    assert (
        sentgen("saved", "run", "chain", "--", "--csv").stdout
        == sentgen(
            *("kwic", "fell", "--sort", "1L", "--csv"),
            *("--filter", "the", "--filter", "sharply", "--within", "2L", "--within", "not 1R"),
        ).stdout
    )
