"""``sentgen parser train``: a parser under a name, from a treebank of the store, and text that it tags."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_parser
from conftest import Sentgen, refused

from sentgen.demo import TREEBANK
from sentgen.models import parser_training

TEXT = "The trucks brought water. Families left the camp.\n"
#: The column of heads.
HEADS = 6
#: As many as are trained on in less than a second.
SENTENCES = [f"{text}\n\n" for text in TREEBANK.read_text().split("\n\n")[:30]]


@pytest.fixture
def trees(sentgen: Sentgen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sentgen:
    """The demo's treebank in a store, a data folder for parsers, and settings that train in seconds."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(parser_training, "TOKENIZER", tiny_parser.TOKENIZER.replace("epochs=3", "epochs=1"))
    monkeypatch.setattr(parser_training, "TAGGER", tiny_parser.TAGGER)
    monkeypatch.setattr(parser_training, "PARSER", tiny_parser.PARSER)
    Path("relief.conllu").write_text("".join(SENTENCES))
    assert sentgen("ingest", "relief.conllu", "--corpus", "relief").code == 0
    Path("news.txt").write_text(TEXT)
    return sentgen


def scores(printed: str) -> dict[str, float]:
    """Return the table of scores."""
    return {row["part"]: row["score"] for row in json.loads(printed)}


def test_named_parser(trees: Sentgen) -> None:
    """Trained, scored on what it has not seen, and named wherever there is `--parser`."""
    told = trees("parser", "train", "small", "--corpus", "relief", "--json")

    assert told.code == 0, told
    assert list(scores(told.out)) == ["words", "sentences", "upos", "xpos", "lemmas", "UAS", "LAS"]
    assert "learnt from 27 sentences" in told.err
    assert Path("data/sentgen/parsers/small.udpipe").stat().st_size > 10_000
    parsed = trees("parser", "run", "news.txt", "--parser", "small").out
    same = trees("parser", "run", "news.txt", "--parser", "udpipe:data/sentgen/parsers/small.udpipe").out
    assert parsed == same
    assert all(line.split("\t")[HEADS] != "_" for line in parsed.splitlines() if "\t" in line)


def test_scores_are_those_of_the_sentences_held_out(trees: Sentgen) -> None:
    """Each tenth sentence taken out by hand and named as held out: the same model, the same scores."""
    for name, chosen in (
        ("tenth", SENTENCES[9::10]),
        ("rest", [each for i, each in enumerate(SENTENCES, 1) if i % 10]),
    ):
        Path(f"{name}.conllu").write_text("".join(chosen))
        trees("ingest", f"{name}.conllu", "--corpus", name)
    own = trees("parser", "train", "own", "--corpus", "relief", "--only", "tags", "--json")
    named = trees(
        "parser", "train", "named", "--corpus", "rest", "--held-out", "tenth", "--only", "tags", "--json"
    )

    assert scores(own.out) == scores(named.out)
    assert (
        Path("data/sentgen/parsers/own.udpipe").read_bytes()
        == Path("data/sentgen/parsers/named.udpipe").read_bytes()
    )


def test_tags_alone(trees: Sentgen) -> None:
    """No trees are learnt, none are made up, and what was tagged is asked by lemma and tag."""
    told = trees("parser", "train", "tags", "--corpus", "relief", "--only", "tags", "--json")

    assert list(scores(told.out)) == ["words", "sentences", "upos", "xpos", "lemmas"]
    parsed = trees("parser", "run", "news.txt", "--parser", "tags").out
    assert all(line.split("\t")[HEADS] == "_" for line in parsed.splitlines() if "\t" in line)
    assert trees("ingest", "news.txt", "--corpus", "news", "--parser", "tags").code == 0
    query = (
        "select count(*) as n, count(upos) as tags, count(head) as heads from v_tokens where corpus = 'news'"
    )
    assert json.loads(trees("sql", query, "--json").out) == [{"n": 10, "tags": 10, "heads": 0}]
    assert trees("db", "check", "--quick").code == 0


def test_trained_anew(trees: Sentgen) -> None:
    """The same sentences give the same model; the old one stays until the new one is whole."""
    trees("parser", "train", "small", "--corpus", "relief", "--only", "tags")
    path = Path("data/sentgen/parsers/small.udpipe")
    first = path.read_bytes()
    trees("parser", "train", "small", "--corpus", "relief", "--only", "tags")

    assert path.read_bytes() == first
    Path("bad.lines").write_text("one two\n" * 20)
    trees("ingest", "bad.lines", "--corpus", "plain")
    refused(
        trees("parser", "train", "small", "--corpus", "plain"),
        "20 sentences of plain without a tree; a parser learns from a treebank",
    )
    refused(trees("parser", "train", "small", "--corpus", "plain", "--only", "tags"), "without tags (upos)")
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", ["../x", "", "a/b", "gold", "udpipe:x"])
def test_names(trees: Sentgen, name: str) -> None:
    """A name is that of a file in the folder of parsers, and of nothing else."""
    refused(trees("parser", "train", name, "--corpus", "relief"), f"{name!r} cannot be the name of a parser")


def test_what_cannot_be_trained_on(trees: Sentgen) -> None:
    """No such corpus, and too few sentences."""
    refused(trees("parser", "train", "small", "--corpus", "none"), "no corpus 'none'")
    Path("few.conllu").write_text("1\ta\ta\tNOUN\tNN\t_\t0\troot\t_\t_\n\n" * 9)
    trees("ingest", "few.conllu", "--corpus", "few")
    refused(trees("parser", "train", "small", "--corpus", "few"), "9 sentences; a parser needs ten")


def test_unknown_parser_names_those_that_are_there(trees: Sentgen) -> None:
    """With how to train one, where there is none."""
    trees("parser", "train", "small", "--corpus", "relief", "--only", "tags")
    refused(trees("parser", "run", "news.txt", "--parser", "smal"), "trained here: small")


def test_interrupt(trees: Sentgen, store: Path) -> None:
    """Ctrl-C ends the training at once, and leaves neither a model nor a draft."""
    slow = (
        "from sentgen.models import parser_training as t; from sentgen.cli import main; import sys;"
        "t.TOKENIZER = 'dimension=64;epochs=1000'; sys.argv[0] = 'sentgen'; main()"
    )
    words = ["parser", "train", "slow", "--corpus", "relief", "--db", str(store)]
    with subprocess.Popen([sys.executable, "-c", slow, *words], stderr=subprocess.PIPE, text=True) as process:
        folder = Path("data/sentgen/parsers")
        while process.poll() is None and not any(folder.glob("*")):
            pass
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "Traceback" not in said
    assert not list(folder.iterdir())
