"""Sets of lines: their content, and their state after changes of the store."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from labeled_texts import NAMED, UNNAMED, WORDS, conllu, listed, states
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.desk import line_sets
from sentgen.desk.desk import Desk, desk_beside
from sentgen.desk.labels import GivenLabel
from sentgen.desk.line_sets import NewLineSet, SetLines
from sentgen.errors import InputError, NotFoundError, StoreError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store, snapshots
from sentgen.schema.manifests import Snapshot
from sentgen.system import files


def test_a_set_has_the_lines_of_its_query(desk: Desk, store: Path) -> None:
    """They are those of the concordance in its order, and the query that is kept gives them again."""
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        want = Kwic(pattern="lemma:make", limit=0).ask(connection).rows.to_pylist()
    got = listed(desk, store)
    (row,) = line_sets.overview(desk).to_pylist()
    again = CliRunner().invoke(build(), [*shlex.split(str(row["query"]))[1:], "--db", str(store), "--json"])

    assert [[one[word] for word in WORDS] for one in got] == [[one[word] for word in WORDS] for one in want]
    assert [one["line"] for one in got] == [1, 2, 3, 4, 5, 6, 7]
    assert [one["node"] for one in json.loads(again.stdout)] == [one["node"] for one in want]
    assert (row["lines"], row["labeled"], row["labelers"]) == (7, 0, None)


@pytest.mark.parametrize("limit", [0, 5, 100])
def test_a_set_is_as_long_as_the_server_allows(desk: Desk, store: Path, limit: int) -> None:
    """Few lines come without Arrow, and many with it."""
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        made, of = NewLineSet(name="some", pattern="lemma:make", limit=limit).make(desk, connection)

    assert (made, of) == (min(limit or 7, 7), 7)
    assert len(listed(desk, store, name="some")) == made


def test_lines_are_drawn_sorted_and_filtered_once(store: Path, desk: Desk) -> None:
    """A set keeps the sample, order and filters of its query."""
    asked = {"pattern": "lemma:make", "sort": "1R", "filter": ["they"], "within": ["not 1L"], "sample": 2}
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        want = Kwic(**asked, limit=0).ask(connection).rows.to_pylist()  # type: ignore[arg-type]
        NewLineSet(name="few", **asked).make(desk, connection)  # type: ignore[arg-type]
    got = listed(desk, store, name="few")

    assert [one["right"] for one in got] == [one["right"] for one in want]
    assert len(got) == 2


def test_lines_are_known_in_a_store_that_was_made_anew(desk: Desk, read: Callable[..., Path]) -> None:
    """Lines are found in a new store with other sentence ids, with and without names of sentences."""
    other = read("b.duckdb", after=conllu(["one more"], ["and", "others"]))

    assert states(desk, other) == {}
    assert [one["node"] for one in listed(desk, other)] == [
        "make",
        "made",
        "make",
        "made",
        "make",
        "make",
        "make",
    ]


def test_what_is_gone_and_what_has_changed_is_told(desk: Desk, read: Callable[..., Path]) -> None:
    """Sentence t2 is gone, t3 has another word there, `make way` too; a label stays, as does what was seen."""
    GivenLabel(name="make", lines="1-7", label="light", labeler="ann").give(desk)
    named, unnamed = NAMED[:], UNNAMED[:]
    named[2], unnamed[0] = "he will take do", "makes way"
    text = conllu(named, unnamed)
    start = text.index("# sent_id = t2")
    other = read("b.duckdb", text=text[:start] + text[text.index("# sent_id = t3") :])
    with Store(other, read_only=True) as opened, opened.connect() as connection:
        found = SetLines(name="make", labeler="ann", limit=0).find(desk, connection)

    assert states(desk, other) == {2: "gone", 3: "changed", 5: "changed"}
    assert found.notes == (
        "1 line is gone from the store, and shown as it was",
        "2 lines are of other words in the store now, and shown as they were",
    )
    assert {one["label"] for one in found.rows.to_pylist()} == {"light"}
    assert listed(desk, other)[2]["node"] == "make"


def test_of_sentences_with_one_name_the_one_with_the_words_is_meant(
    desk: Desk, read: Callable[..., Path]
) -> None:
    """Of sentences with one name, the one with the words of the line counts; without one it has changed."""
    twice = conllu().replace("# sent_id = t2", "# sent_id = t1", 1)
    other = read("b.duckdb", text=twice.replace("we\twe", "you\tyou"))

    assert states(desk, other) == {2: "gone"}


def test_a_snapshot_is_read_with_the_desk_of_its_store(desk: Desk, store: Path, tmp_path: Path) -> None:
    """A snapshot uses the desk of its store, and its folder gets none."""
    folder = tmp_path / "snapshots"
    snapshots.publish(store, folder)
    before = sorted(folder.iterdir())

    assert states(desk, Snapshot.newest(folder).path) == {}
    assert sorted(folder.iterdir()) == before
    with pytest.raises(StoreError, match="`desk` FILE"):
        desk_beside(Snapshot.newest(folder).path)


def test_a_snapshot_knows_lines_of_documents_that_are_named_by_their_files(tmp_path: Path) -> None:
    """It leaves out the folders; where two names are the same then, their lines are gone rather than mixed up."""
    texts = {"one/a.txt": "we make a\n", "one/b.txt": "you make b\n", "two/c.txt": "they make c\n"}
    store, desk = named_by_files(tmp_path, texts)
    snapshot = snapshots.publish(store, tmp_path / "snapshots").snapshot.path
    with Store(snapshot, read_only=True) as opened, opened.connect() as connection:
        NewLineSet(name="there", pattern="make").make(desk, connection)
    folder = f"{tmp_path}/"

    for name in ("make", "there"):
        assert (states(desk, store, name), states(desk, snapshot, name)) == ({}, {})
        assert [one["document"] for one in listed(desk, store, name=name)] == [
            folder + each for each in texts
        ]
        assert [one["document"] for one in listed(desk, snapshot, name=name)] == [*texts]


def test_files_of_one_name_are_not_taken_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a common folder, as on two drives, a snapshot has numbers instead of folders."""
    made = []
    for names in (("x/a.txt", "y/a.txt"), ("a.txt", "a.txt (2)")):
        (folder := tmp_path / str(len(made))).mkdir()
        monkeypatch.chdir(folder)
        store, desk = named_by_files(Path(), dict(zip(names, ("we make\n", "they make\n"), strict=True)))
        assert [one["document"] for one in listed(desk, store)] == [*names]
        made.append((folder / store, Desk(folder / "files.desk")))
    (store, desk), (other, there) = made

    assert states(desk, other) == states(there, store) == {1: "gone", 2: "gone"}


def named_by_files(folder: Path, texts: Mapping[str, str]) -> tuple[Path, Desk]:
    """Return a store of plain texts in files of a folder, and its desk with the set `make`."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    store, desk = folder / "files.duckdb", Desk(folder / "files.desk", create=True)
    with Store(store, create=True) as opened:
        ingest(opened, [str(folder / name) for name in texts], Settings("texts", format="text"))
        with opened.connect() as connection:
            NewLineSet(name="make", pattern="make").make(desk, connection)
    return store, desk


@pytest.mark.parametrize(
    ("name", "said"),
    [("make", "there is a line set 'make'"), (" ", "no name"), ("?", "no name"), ("a/b", "no name")],
)
def test_a_set_needs_a_name_of_its_own(desk: Desk, store: Path, name: str, said: str) -> None:
    """An existing set is not replaced."""
    with (
        Store(store, read_only=True) as opened,
        opened.connect() as connection,
        pytest.raises(InputError, match=said),
    ):
        NewLineSet(name=name, pattern="no").make(desk, connection)

    assert len(listed(desk, store)) == 7


def test_a_query_that_finds_nothing_makes_no_set(desk: Desk, store: Path, tmp_path: Path) -> None:
    """A query without hits makes no set and no desk; the error has the reason and the existing sets."""
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        with pytest.raises(InputError, match="set 'none' is not made: no occurrence of 'lemma:mkae'"):
            NewLineSet(name="none", pattern="lemma:mkae").make(desk, connection)
        with pytest.raises(NotFoundError, match="no line set 'none'; there are: make"):
            SetLines(name="none").find(desk, connection)
        with pytest.raises(InputError, match="is not made"):
            NewLineSet(name="none", pattern="lemma:mkae").make(
                Desk(tmp_path / "new", create=True), connection
            )
    assert not (tmp_path / "new").exists()


def test_a_list_says_which_of_the_lines_it_has(desk: Desk, store: Path) -> None:
    """A list says which lines it has, also after an offset."""
    asked = ["lines", "list", "make", "--desk", str(desk.path), "--db", str(store), "-n", "2"]

    assert "2 of 7 lines (--limit 0 for all)" in CliRunner().invoke(build(), asked).stderr
    assert "3 to 4 of 7 lines" in CliRunner().invoke(build(), [*asked, "--offset", "2"]).stderr


def test_a_new_file_is_told(store: Path, tmp_path: Path) -> None:
    """A new file is noted once, with other desks in the folder, as their labels would seem lost."""
    (tmp_path / "study.desk").touch()
    asked = ["lines", "new", "--desk", str(tmp_path / "studdy.desk"), "--db", str(store)]
    first, second = (CliRunner().invoke(build(), [*asked, name, "lemma:make"]).stderr for name in "ab")

    assert "studdy.desk: no such file, so a new one is made, without line sets; " in first
    assert "not in it: study.desk" in first
    assert second.splitlines() == ["b: 7 lines"]


@pytest.mark.parametrize("content", [b"", b"my notes\n", b"SQLite format 3\0" + bytes(200)])
def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """It is refused before SQLite opens it, and not a byte changes."""
    file = tmp_path / "a.desk"
    file.write_bytes(content)

    with pytest.raises(StoreError, match="no desk of sentgen; it is left as it is"):
        Desk(file, create=True)
    assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("version", [1, 3])
def test_another_database_and_a_desk_of_another_version_are_refused(
    tmp_path: Path, desk: Desk, version: int
) -> None:
    """A SQLite database of another program stays as it is, and so does the desk of another version."""
    file = tmp_path / "b.desk"
    with sqlite3.connect(file) as other:
        other.execute("create table line_set (name)")
    with sqlite3.connect(desk.path) as changed:
        changed.execute(f"pragma user_version = {version}")

    with pytest.raises(StoreError, match="no desk of sentgen"):
        Desk(file)
    with pytest.raises(StoreError, match="a desk of another version of sentgen"):
        Desk(desk.path)


def test_a_set_that_is_removed_takes_its_labels_along(desk: Desk, store: Path) -> None:
    """Removing a set removes its labels; a dry run and the answer have their number."""
    GivenLabel(name="make", lines="2,3", label="light", labeler="ann").give(desk)

    assert line_sets.remove(desk, "make", dry_run=True) == (7, 2)
    assert line_sets.remove(desk, "make") == (7, 2)
    with sqlite3.connect(desk.path) as raw:
        assert [raw.execute(f"select count(*) from {table}").fetchone() for table in ("line", "label")] == [
            (0,),
            (0,),
        ]


_LABELS = """
import sys
import time
from pathlib import Path
from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel

desk, labeler, number = Desk(Path(sys.argv[1])), sys.argv[2], 0
while True:
    number += 1
    GivenLabel(name="make", lines="1-7", label=f"x{number}", labeler=labeler).give(desk)
    print(number, flush=True)
    time.sleep(0.01)
"""


def test_two_write_at_once_and_no_label_that_was_told_is_lost_when_they_are_killed(desk: Desk) -> None:
    """Each label that a process said it had given is there after a SIGKILL in the middle of the next one."""
    command = [sys.executable, "-c", _LABELS, str(desk.path)]
    told = {}
    writers = {
        who: subprocess.Popen([*command, who], stdout=subprocess.PIPE, text=True) for who in ("ann", "ben")
    }
    for who, writer in writers.items():
        assert writer.stdout is not None
        for _ in range(2):
            told[who] = int(writer.stdout.readline())
    for who, writer in writers.items():
        writer.kill()
        rest = writer.communicate()[0].split()
        told[who] = max([told[who], *map(int, rest)])

    with desk.reading() as reading:
        from sentgen.desk.tables import find_set, labels_of

        found = labels_of(reading, find_set(reading, "make").id)
    for who, number in told.items():
        # The last label may have been on the disk before it was reported.
        assert set(found[who].values()) in ({f"x{number}"}, {f"x{number + 1}"})


#: Ends as by a kill, before a new desk has its name, or after that.
_ENDED = """
import os, sys
from pathlib import Path
from sentgen.desk import desk
from sentgen.system import files

def end(draft: Path, path: Path) -> None:
    if sys.argv[2] == "named":
        os.link(draft, path)
    os._exit(9)

files.give_name = end
desk.Desk.begin(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("when", ["unnamed", "named"])
def test_what_a_kill_left_of_a_new_desk_goes(tmp_path: Path, when: str) -> None:
    """The next set removes the remains of a killed new desk, but no files of others with similar names."""
    path = tmp_path / "new[1].desk"
    others = {tmp_path / name for name in (".new[1].desk.notes.tmp", f".new1.desk.{'0' * 16}.tmp")}
    for other in others:
        other.touch()
    assert subprocess.run([sys.executable, "-c", _ENDED, str(path), when], check=False).returncode == 9
    assert len({*tmp_path.glob(".*.tmp")} - others) == 1

    assert line_sets.overview(Desk.begin(path)).num_rows == 0
    assert {*tmp_path.iterdir()} == {*others, path}


def test_a_desk_that_another_makes_meanwhile_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A desk that another process makes meanwhile is used, even if that one removed this draft."""
    path, give_name = tmp_path / "new.desk", files.give_name

    def late(draft: Path, name: Path) -> None:
        monkeypatch.setattr(files, "give_name", give_name)
        Desk.begin(path)
        assert [each.name for each in tmp_path.iterdir()] == ["new.desk"]
        give_name(draft, name)

    monkeypatch.setattr(files, "give_name", late)
    assert line_sets.overview(Desk.begin(path)).num_rows == 0
