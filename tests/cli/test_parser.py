"""Sessions with a parser: train, measure, run, ingest, and what the store keeps."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Sentgen, command, refused

from sentgen.corpus.formats import READERS
from sentgen.corpus.parsers.qualities import QUALITIES, Quality
from sentgen.demo import TREEBANK

TEXT = "Heavy rains flooded the villages. Officials sent food to the families.\n"
TREES = "select count(*) as tokens, count(head) as heads, count(np) as nps, count(deprel) as deprels from v_tokens"


@pytest.fixture
def parser(tiny_model: Path) -> str:
    return f"udpipe:{tiny_model}"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Plain text."""
    path = tmp_path / "news.txt"
    path.write_text(TEXT)
    return path


def rows(sentgen: Sentgen, query: str) -> list[dict[str, object]]:
    """Ask the store."""
    found: list[dict[str, object]] = json.loads(sentgen("sql", query, "--json").out)
    return found


def test_ingested_text_has_trees(sentgen: Sentgen, parser: str, text: Path) -> None:
    """Heads, relations, base noun phrases and dependency events, as a treebank has them."""
    assert sentgen("ingest", text, "--corpus", "news", "--parser", parser).code == 0

    # Heavy rains flooded the villages . | Officials sent food to the families .
    assert rows(sentgen, TREES) == [{"tokens": 13, "heads": 13, "nps": 13, "deprels": 13}]
    assert rows(sentgen, "select text from sentence order by id") == [
        {"text": part}
        for part in ("Heavy rains flooded the villages.", "Officials sent food to the families.")
    ]
    # Each token has a head, the two roots in <root>.
    assert rows(
        sentgen,
        "select sum(count)::int as n from v_dependencies where layer = 'word' and level = 'word-word'",
    ) == [{"n": 13}]
    assert sentgen("db", "check").code == 0


def test_text_through_a_parser_is_the_treebank_of_its_parses(
    sentgen: Sentgen, parser: str, text: Path
) -> None:
    """Ingesting what `parser run` prints gives the same tokens and trees."""
    printed = sentgen("parser", "run", text, "--parser", parser)
    Path("news.conllu").write_text(printed.out)
    sentgen("ingest", "news.conllu", "--corpus", "treebank")
    sentgen("ingest", text, "--corpus", "text", "--parser", parser)
    query = (
        "select form, lemma, upos, xpos, feats, head, deprel, np, unit_head, space_after from v_tokens "
        "where corpus = '{}' order by sentence_id, position"
    )

    assert printed.code == 0
    assert rows(sentgen, query.format("text")) == rows(sentgen, query.format("treebank"))


def test_tokenized_lines_are_parsed_as_they_are(sentgen: Sentgen, parser: str) -> None:
    """The tokens of the format `lines` stay."""
    Path("news.lines").write_text("officials can't send food .\n")
    sentgen("ingest", "news.lines", "--corpus", "news", "--parser", parser)

    assert rows(
        sentgen, "select string_agg(form, ' ' order by position) as forms, count(head) as heads from v_tokens"
    ) == [{"forms": "officials can't send food .", "heads": 5}]


def test_parses_are_kept_listed_and_forgotten(sentgen: Sentgen, parser: str, text: Path) -> None:
    """A second corpus of the same text takes them from the store."""
    sentgen("ingest", text, "--corpus", "one", "--parser", parser)
    first = json.loads(sentgen("parser", "list", "--json").out)
    sentgen("ingest", text, "--corpus", "two", "--parser", parser)
    second = json.loads(sentgen("parser", "list", "--json").out)

    # One paragraph with two sentences and 13 tokens.
    assert first == second
    assert [(row["parser"], row["texts"], row["sentences"], row["tokens"]) for row in first] == [
        ("udpipe", 1, 2, 13)
    ]
    assert "would remove 1 parsed text" in sentgen("parser", "forget", "udpipe", "--dry-run").err
    assert "removed 1 parsed text" in sentgen("parser", "forget", "udpipe").err
    refused(sentgen("parser", "forget", "udpipe"), "no parses of 'udpipe'; the store has no parses")


def test_the_same_text_parsed_otherwise_is_another_source(
    sentgen: Sentgen, parser: str, text: Path, pets: Path
) -> None:
    """The version of the source names the parser; a treebank is the same source with and without one."""
    for arguments in ((), ("--parser", parser), ("--parser", parser)):
        sentgen("ingest", text, "--corpus", "news", *arguments)
    for arguments in ((), ("--parser", parser)):
        sentgen("ingest", pets, "--corpus", "pets", *arguments)
    found = [row["reader_version"] for row in rows(sentgen, "select reader_version from source order by id")]

    assert len(found) == 3
    assert found[0] == READERS["text"].version
    assert found[2] == READERS["conllu"].version
    assert str(found[1]).startswith("1+udpipe@1-")


def test_gold_refuses_text(sentgen: Sentgen, text: Path, pets: Path) -> None:
    """With its place, and nothing is stored."""
    refused(
        sentgen("ingest", text, "--corpus", "news", "--parser", "gold"),
        "news.txt:1: no tree here; --parser gold needs a treebank",
    )
    assert sentgen("ingest", pets, "--corpus", "pets", "--parser", "gold").code == 0


def test_parser_that_is_not_there(sentgen: Sentgen, text: Path, store: Path) -> None:
    """Told before a store is made."""
    refused(
        sentgen("ingest", text, "--corpus", "news", "--parser", "udpipe:no.udpipe"),
        "no.udpipe: no model here; train one with: sentgen parser train",
    )
    assert not store.exists()


def test_bad_sentences_of_a_parsed_text(sentgen: Sentgen, parser: str) -> None:
    """The policies for bad sentences hold for what a parser made."""
    Path("bad.lines").write_text("a </s> b\nofficials left .\n")

    told = sentgen("ingest", "bad.lines", "--corpus", "bad", "--parser", parser, "--on-error", "collect")
    assert (told.code, "rejected: bad.lines:1: token 2 is </s>" in told.err) == (1, True)
    told = sentgen("ingest", "bad.lines", "--corpus", "bad", "--parser", parser, "--on-error", "skip")
    assert (told.code, "sentences       1\n" in told.out) == (0, True)
    told = sentgen("parser", "run", "bad.lines", "--parser", parser)
    assert (told.code, told.out.count("\n\n"), told.out.split("\t")[1]) == (1, 1, "officials")
    assert "rejected: bad.lines:1" in told.err


#: As short as training can be.
HASTY = Quality(
    "model=generic", "models=1;iterations=1;order=2;templates=Tag 0\n", "iterations=1;hidden_layer=4"
)


def test_train_and_measure(sentgen: Sentgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has sizes and, with --dev, accuracy; `evaluate` says the same about the model."""
    monkeypatch.setitem(QUALITIES, "fast", HASTY)
    told = sentgen("parser", "train", TREEBANK, "--out", "demo.udpipe", "--dev", TREEBANK)
    lines = dict(line.split(None, 1) for line in told.out.splitlines())
    again = sentgen("parser", "evaluate", TREEBANK, "--parser", "udpipe:demo.udpipe")

    assert told.code == 0
    assert (lines["sentences"], lines["tokens"], lines["model"]) == ("149", "2,506", "demo.udpipe")
    assert int(lines["bytes"].replace(",", "")) == Path("demo.udpipe").stat().st_size
    assert {"seconds", "UAS", "LAS", "upos", "xpos", "lemma", "tokens/s"} <= set(lines)
    assert f"LAS             {lines['LAS']}\n" in again.out
    assert [path.name for path in Path().iterdir()] == ["demo.udpipe"]


def test_progress_of_training(sentgen: Sentgen, pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal shows the part that is trained and its rounds."""
    monkeypatch.setitem(QUALITIES, "fast", HASTY)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # for Rich, this is a terminal
    told = sentgen("parser", "train", pets, "--out", "pets.udpipe")

    assert told.code == 0
    assert "parser" in told.err
    assert "1/1" in told.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["none.conllu", "--out", "x.udpipe"], "none.conllu"),
        ([TREEBANK, "--out", "no/folder/x.udpipe"], "no/folder/x.udpipe: cannot be written"),
        ([TREEBANK, "--out", "x.udpipe", "--dev", "none.conllu"], "none.conllu"),
    ],
)
def test_training_that_cannot_begin(sentgen: Sentgen, arguments: list[object], part: str) -> None:
    """Everything is looked at before the minutes of training."""
    refused(sentgen("parser", "train", *arguments), part)
    assert not Path("x.udpipe").exists()


def test_unknown_quality(sentgen: Sentgen) -> None:
    """A mistake in the usage, with the qualities that there are."""
    told = sentgen("parser", "train", TREEBANK, "--out", "x.udpipe", "--quality", "best")

    assert told.code == 2
    assert "fast, full" in told.err


def test_unknown_format(sentgen: Sentgen, parser: str, text: Path) -> None:
    """A mistake in the usage, with the formats that there are."""
    told = sentgen("parser", "run", text, "--parser", parser, "--format", "word")

    assert told.code == 2
    assert "conllu" in told.err


def training_process(out: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a long training; return its process and the folder of the child that trains, once that runs."""
    process = subprocess.Popen(
        command("parser", "train", TREEBANK, "--out", out, "--quality", "full"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and not children.read_text():
        time.sleep(0.05)
    child = Path("/proc") / children.read_text().strip()
    while "udpipe_trainer" not in (child / "cmdline").read_text():
        time.sleep(0.05)
    return process, child


def wait_until_gone(child: Path) -> None:
    deadline = time.monotonic() + 120
    while child.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.exists()


def test_interrupted_training_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C, in the middle of UDPipe's work, ends both processes; an old model stays as it was."""
    out = tmp_path / "x.udpipe"
    out.write_bytes(b"old")
    process, child = training_process(out)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()

    wait_until_gone(child)
    assert (process.returncode, "interrupted" in told) == (130, True)
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.slow
def test_killed_training_does_not_go_on(tmp_path: Path) -> None:
    """The process that trains ends with the next round of which it cannot tell anybody."""
    process, child = training_process(tmp_path / "x.udpipe")
    process.kill()
    process.communicate()

    wait_until_gone(child)
    assert not (tmp_path / "x.udpipe").exists()


@pytest.mark.data
@pytest.mark.nightly
def test_clusters_get_trees(sentgen: Sentgen, parser: str, data_dir: Path) -> None:
    """Every sentence of 846 clusters stays one sentence and gets a tree that passes all checks."""
    told = sentgen(
        "ingest", data_dir / "clusters/mtref_clusters.jsonl", "--corpus", "mtref", "--parser", parser
    )

    assert told.code == 0
    assert "sentences       3,577\n" in told.out  # members of `sentences`, counted with the json module
    assert rows(sentgen, "select count(*) as n from document") == [{"n": 846}]
    assert rows(sentgen, "select count(*) as n from v_tokens where head is null or deprel is null") == [
        {"n": 0}
    ]
    assert sentgen("db", "check", "--quick").code == 0
