"""`sentgen pairs`, as a user runs it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Sentgen, refused
from stored import problems
from toy_pairs import PAIRS, write_jsonl

from sentgen.alignment import Pair
from sentgen.alignment.stored.stored_pairs import stored_pairs
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.schema import Store, folders


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Six pairs as JSON Lines."""
    return write_jsonl(tmp_path / "toy.jsonl")


@pytest.fixture
def filled(sentgen: Sentgen, pairs: Path) -> Sentgen:
    """The command line over a store with the pairs."""
    assert sentgen("pairs", "ingest", pairs, "--corpus", "toy", "--licence", "CC0").code == 0
    return sentgen


def sound(store: Path) -> list[str]:
    """Return the checks that a store does not pass."""
    with Store(store, read_only=True) as opened:
        return [*problems(opened)]


def test_report(sentgen: Sentgen, pairs: Path, store: Path) -> None:
    """The command prints what was stored, and the store passes its checks."""
    told = sentgen("pairs", "ingest", pairs, "--corpus", "toy")

    facts = {line[:16].strip(): line[16:] for line in told.out.splitlines()}
    assert facts["pairs"] == "6"
    assert facts["document words"] == str(sum(len(document.split()) for _, document, _ in PAIRS))
    assert facts["abstract words"] == str(sum(len(abstract.split()) for _, _, abstract in PAIRS))
    assert sound(store) == []


def test_progress_of_ingestion(sentgen: Sentgen, pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal shows the file with its pairs, how much was read, and two times: elapsed and left."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # for Rich, this is a terminal
    told = sentgen("pairs", "ingest", pairs, "--corpus", "toy")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", told.err)

    assert re.search(r"toy\.jsonl: 6 pairs .*100% +[0-9:]+ +[0-9:]+", shown)


def test_progress_is_of_all_files(tmp_path: Path, store: Path) -> None:
    """Files of this size are read at once, so that each pair is told with all bytes up to its file."""
    first = write_jsonl(tmp_path / "1.jsonl", PAIRS[:2])
    second = write_jsonl(tmp_path / "2.jsonl", PAIRS[2:])
    part = first.stat().st_size / (first.stat().st_size + second.stat().st_size)
    told: list[tuple[str, int, float]] = []
    with Store(store, create=True) as opened:
        ingest_pairs(opened, [str(first), str(second)], "toy", progress=lambda *each: told.append(each))

    assert told == [
        *((str(first), count, part) for count in (1, 2)),
        *((str(second), count, 1.0) for count in (1, 2, 3, 4)),
    ]


def test_others_read_while_pairs_are_read(tmp_path: Path, store: Path) -> None:
    """Until there is something to write, another process finds what was there before."""
    first, second = (write_jsonl(tmp_path / f"{number}.jsonl", [PAIRS[number]]) for number in (0, 1))
    reading = "import sys; from sentgen.schema import Store; Store(sys.argv[1], read_only=True).close()"
    codes: list[int] = []

    def read(*_: object) -> None:
        codes.append(subprocess.run([sys.executable, "-c", reading, str(store)], check=False).returncode)

    with Store(store, create=True) as opened:
        ingest_pairs(opened, [str(first), str(second)], "toy", progress=read)

    assert codes == [0, 0]


def test_a_second_run_is_a_no_op(filled: Sentgen, pairs: Path, store: Path) -> None:
    """Pairs are known by name and content."""
    told = filled("pairs", "ingest", pairs, "--corpus", "toy")

    assert "pairs           0 (6 unchanged)" in told.out
    assert len(filled("pairs", "list", "toy", "--jsonl").out.splitlines()) == 6
    assert sound(store) == []


def test_more_of_the_same_file(sentgen: Sentgen, tmp_path: Path, store: Path) -> None:
    """A file that has grown adds what is new."""
    path = write_jsonl(tmp_path / "toy.jsonl", PAIRS[:2])
    sentgen("pairs", "ingest", path, "--corpus", "toy")
    write_jsonl(path)

    told = sentgen("pairs", "ingest", path, "--corpus", "toy")

    assert "pairs           4 (2 unchanged)" in told.out
    assert sound(store) == []


def test_another_pair_of_the_same_name(filled: Sentgen, tmp_path: Path) -> None:
    """Names say which pair is meant, so that they must differ; nothing of the batch is stored."""
    other = write_jsonl(tmp_path / "other.jsonl", [("new", "x", "x"), ("p0", "another", "text")])

    refused(
        filled("pairs", "ingest", other, "--corpus", "toy"),
        "other.jsonl:2",
        "another pair 'p0'",
        "[pair-name]",
    )
    assert len(filled("pairs", "list", "toy", "--jsonl").out.splitlines()) == 6


def test_small_files_share_a_transaction(sentgen: Sentgen, tmp_path: Path, store: Path) -> None:
    """A folder of pairs is stored as one file of them is: with a bad pair, nothing of the batch."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    for name, text in (("a", "fine"), ("b", "also fine"), ("c", "not\x01fine")):
        (folder / f"{name}.document").write_text(text)
        (folder / f"{name}.abstract").write_text("fine")

    refused(sentgen("pairs", "ingest", folder, "--corpus", "c"), "c.document", "control character")
    assert sentgen("corpora", "list", "--json").out == "[]\n"

    (folder / "c.document").write_text("fine at last")
    assert sentgen("pairs", "ingest", folder, "--corpus", "c").code == 0
    assert [
        json.loads(line)["segments"] for line in sentgen("corpora", "list", "--jsonl").out.splitlines()
    ] == [1]
    assert sound(store) == []


def test_bad_pairs_can_be_left_out(sentgen: Sentgen, pairs: Path, store: Path) -> None:
    """They are named, and recorded once however often they are met."""
    pairs.write_text(pairs.read_text() + '{"id": "bad", "document": "x"}\n')
    refused(sentgen("pairs", "ingest", pairs, "--corpus", "toy"), "toy.jsonl:7", "[pair-field]")

    for _ in range(2):
        told = sentgen("pairs", "ingest", pairs, "--corpus", "toy", "--on-error", "skip")
        assert "left out        1" in told.out
        assert "left out: " in told.err
        assert "toy.jsonl:7" in told.err

    assert len(json.loads(sentgen("corpora", "show", "toy", "--rejected", "--json").out)) == 1
    assert sound(store) == []


def test_list_of_corpora_and_of_pairs(filled: Sentgen) -> None:
    """Sizes are in words; a corpus is listed with its licence."""
    corpora = json.loads(filled("pairs", "list", "--json").out)
    first = json.loads(filled("pairs", "list", "toy", "--limit", "1", "--json").out)

    assert [(row["corpus"], row["pairs"], row["licence"]) for row in corpora] == [("toy", 6, "CC0")]
    assert (first[0]["name"], first[0]["document_words"], first[0]["abstract_words"]) == ("p0", 8, 6)
    assert "kind" in filled("corpora", "list").out


def figures_of(corpus: str, side: str, texts: Sequence[Pair], sides: Sequence[str]) -> dict[str, object]:
    """Count what a row of the statistics says, word by word."""
    words = [getattr(pair, name) for pair in texts for name in sides]
    sentences = sum(len(getattr(pair, f"{name}_starts")) for pair in texts for name in sides)
    number, tokens = len(words), [word for text in words for word in text]
    shares = [sum(len(getattr(pair, name)) for pair in texts) for name in ("abstract", "document")]
    return {
        "corpus": corpus,
        "side": side,
        "texts": number,
        "sentences": sentences,
        "words": len(tokens),
        "types": len(set(tokens)),
        "sentences_per_text": pytest.approx(sentences / number),
        "words_per_text": pytest.approx(len(tokens) / number),
        "words_per_sentence": pytest.approx(len(tokens) / sentences),
        "compression": pytest.approx(shares[0] / shares[1]) if side == "both" else None,
    }


def test_statistics_of_corpora(filled: Sentgen, tmp_path: Path, store: Path) -> None:
    """Table 4 of Daumé and Marcu 2004, counted again; documents, abstracts and corpora are kept apart."""
    other = write_jsonl(tmp_path / "other.jsonl", [("q", "The dog ran. It ran home.", "The dog ran.")])
    filled("pairs", "ingest", other, "--corpus", "other")
    expected = []
    for corpus in ("other", "toy"):
        with Store(store, read_only=True) as opened:
            texts = list(stored_pairs(opened, corpus))
        for side in (("document",), ("abstract",), ("document", "abstract")):
            name = "both" if len(side) == 2 else f"{side[0]}s"
            expected.append(figures_of(corpus, name, texts, side))

    found = json.loads(filled("pairs", "list", "--statistics", "--json").out)

    assert found == expected
    assert (found[0]["sentences"], found[0]["words"], found[0]["types"]) == (2, 8, 6)
    assert json.loads(filled("pairs", "list", "toy", "--statistics", "--json").out) == expected[3:]


def test_statistics_are_of_pairs(filled: Sentgen, pets: Path) -> None:
    """Corpora without pairs have no statistics."""
    filled("ingest", pets, "--corpus", "pets")

    refused(filled("pairs", "list", "pets", "--statistics"), "the corpus 'pets' holds no pairs")
    refused(filled("pairs", "list", "nope", "--statistics"), "no corpus")


def test_show_a_pair(filled: Sentgen) -> None:
    """The first one, or one by name; sentences are lines."""
    assert "pair p0\n\ndocument: 8 words\nthe physician bought" in filled("pairs", "show", "toy").out
    assert "abstract: 4 words\nthe house burned ." in filled("pairs", "show", "toy", "p5").out
    refused(filled("pairs", "show", "toy", "nope"), "no pair 'nope' in 'toy'")


def test_what_is_shown_as_json_can_be_read_again(filled: Sentgen, tmp_path: Path, store: Path) -> None:
    """The words survive the round trip."""
    (tmp_path / "again.jsonl").write_text(filled("pairs", "show", "toy", "--json").out)

    assert filled("pairs", "ingest", tmp_path / "again.jsonl", "--corpus", "again").code == 0

    with Store(store, read_only=True) as opened:
        assert list(stored_pairs(opened, "again")) == list(stored_pairs(opened, "toy"))


def test_removing_the_corpus_removes_its_pairs(filled: Sentgen, store: Path) -> None:
    """As any corpus; the store is sound, and the pairs can be stored again."""
    assert filled("corpora", "remove", "toy", "--yes").code == 0

    assert filled("pairs", "list", "--json").out == "[]\n"
    assert sound(store) == []


def test_pairs_are_a_corpus_of_their_own(sentgen: Sentgen, pets: Path, pairs: Path) -> None:
    """A treebank takes no pairs, and the commands on pairs take no treebank."""
    sentgen("ingest", pets, "--corpus", "pets")

    refused(
        sentgen("pairs", "ingest", pairs, "--corpus", "pets"), "is of kind corpus", "choose another --corpus"
    )
    refused(sentgen("pairs", "list", "pets"), "holds no pairs")


def test_words_of_pairs_can_be_searched(filled: Sentgen) -> None:
    """Documents and abstracts are ordinary documents."""
    assert len(json.loads(filled("kwic", "physician", "--json").out)) == 4


def test_hostile_text_is_escaped(sentgen: Sentgen, tmp_path: Path) -> None:
    """What could steer a terminal is shown, not obeyed."""
    path = write_jsonl(tmp_path / "evil.jsonl", [("e\u202e", "x \u202e y", "[red]x[/red]")])
    sentgen("pairs", "ingest", path, "--corpus", "evil")

    told = sentgen("pairs", "show", "evil")

    assert "\u202e" not in told.out
    assert "\\u202e" in told.out
    assert "[red" in told.out.replace(" ", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.jsonl", "--corpus", "c"), "no such file or folder"),
        (("toy.jsonl", "--corpus", " "), "a corpus needs a name"),
        (("empty.jsonl", "--corpus", "c"), "has no pairs"),
    ],
)
def test_refusals(sentgen: Sentgen, pairs: Path, arguments: tuple[str, ...], message: str) -> None:
    """The error has one line, and no corpus is made."""
    (pairs.parent / "empty.jsonl").write_text("")

    refused(sentgen("pairs", "ingest", *arguments), message)
    assert sentgen("corpora", "list", "--json").out == "[]\n"


_KILLED = """
import os, signal, sys
from sentgen.counts import batch, pair_ingestion
from sentgen.schema import Store

batch.BATCH_TOKENS = 20  # a pair or two a batch

def kill(name, pairs, fraction):
    if pairs == 5:
        os.kill(os.getpid(), signal.SIGKILL)

with Store(sys.argv[1], create=True) as store:
    pair_ingestion.ingest_pairs(store, [sys.argv[2]], "toy", progress=kill)
"""


@pytest.mark.nightly
def test_a_killed_run_loses_at_most_its_batch(pairs: Path, store: Path) -> None:
    """What was committed is whole; run again, the rest comes, and the pairs are those of one run."""
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(store), str(pairs)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert sound(store) == []
    with Store(store) as opened:
        kept = len(list(stored_pairs(opened, "toy")))
        done = ingest_pairs(opened, [str(pairs)], "toy")
        assert [pair.key for pair in stored_pairs(opened, "toy")] == [key for key, _, _ in PAIRS]

    assert 2 <= kept <= 4
    assert (done.pairs, done.unchanged) == (6 - kept, kept)
    assert sound(store) == []


def test_what_a_killed_run_spilled_is_removed_first(pairs: Path, store: Path) -> None:
    """It may be large, and the disk be full: its place is free before the first pair is read."""
    spilled = Path(f"{store}.runs")
    folders.make(spilled)
    (spilled / "0.records").write_bytes(b"x")
    there = []

    with Store(store, create=True) as opened:
        ingest_pairs(opened, [str(pairs)], "toy", progress=lambda *_: there.append(spilled.exists()))

    assert there == [False] * len(PAIRS)
