"""TEI on the command line: from files to answers, and back to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen

NAMESPACE = "http://www.tei-c.org/ns/1.0"


def novel(name: str, author: str) -> str:
    return (
        f'<TEI xmlns="{NAMESPACE}" xml:id="{name}"><teiHeader><fileDesc><titleStmt><title>T</title>'
        f'<author key="{author[0]}">{author}</author></titleStmt></fileDesc></teiHeader><text><body>'
        f"<div type='chapter'><head>One</head><p>{author} loved a <hi>rose</hi>.<note>Or so.</note></p></div>"
        "</body></text></TEI>\n"
    )


ASKED = ("ingest", "novels/*.xml", "--corpus", "eltec", "--meta", "key=//author/@key", "--notes")


@pytest.fixture
def novels(sentgen: Sentgen, tmp_path: Path) -> Sentgen:
    """The command line over a store with two novels."""
    folder = tmp_path / "novels"
    folder.mkdir()
    (folder / "a.xml").write_text(novel("a", "Ann"))
    (folder / "b.xml").write_text(novel("b", "Bob"))
    assert "documents" not in sentgen(*ASKED).err
    return sentgen


def test_novels(novels: Sentgen) -> None:
    found = novels("freq", "--query", '[word="loved"]', "--by", "match.doc_author", "--json")
    assert {row["match.doc_author"]: row["count"] for row in json.loads(found.out)} == {"Ann": 1, "Bob": 1}
    found = novels("kwic", "[] within <note/>", "--where", "key = B", "--json")
    assert [row["node"] for row in json.loads(found.out)] == ["Or", "so", "."]


def test_novels_come_back(novels: Sentgen, tmp_path: Path) -> None:
    assert "0 (2 unchanged)" in novels(*ASKED).out
    # Without notes, it is another reading of the same files.
    assert "unchanged" not in novels(*ASKED[:-1]).out
    novels("corpora", "remove", "eltec", "--yes")
    novels(*ASKED)
    written = novels("corpora", "export", "eltec", "--format", "tei")
    assert written.err == ""
    assert written.out.count("<TEI ") == 2
    (tmp_path / "out.xml").write_text(written.out)
    assert "refused" not in novels("ingest", "out.xml", "--corpus", "again", "--notes").out
    assert novels("corpora", "export", "again", "--format", "tei").out == written.out.replace(
        "eltec", "again"
    )


def test_what_is_wrong_is_one_line_and_leaves_nothing(sentgen: Sentgen, tmp_path: Path) -> None:
    (tmp_path / "good.xml").write_text(novel("a", "Ann"))
    (tmp_path / "cut.xml").write_text(novel("b", "Bob")[:-20])
    (tmp_path / "bomb.xml").write_text('<!DOCTYPE TEI [\n<!ENTITY a "ha">]>\n' + novel("c", "&a;"))
    (tmp_path / "rss.xml").write_text("<?xml version='1.0'?>\n<rss><a>b</a></rss>\n")
    for name, message in (
        ("cut.xml", "cut.xml:1: not well-formed XML: "),
        ("bomb.xml", "bomb.xml:2: declares entities, which are not read; write out what they stand for"),
        (
            "rss.xml",
            "rss.xml: is XML or HTML with the root rss, whose tags would be words; only TEI and FoLiA",
        ),
    ):
        for policy in ("raise", "skip", "collect"):
            told = sentgen("ingest", "good.xml", name, "--corpus", "c", "--on-error", policy)
            assert (told.code, told.err.count("\n")) == (1, 1)
            assert message in told.err
    assert sentgen("corpora", "list", "--json").out.strip() == "[]"
    told = sentgen("ingest", "good.xml", "--corpus", "c", "--meta", "k=//a[")
    assert (told.code, told.err.count("\n")) == (1, 1)
    assert "--meta k: no XPath: '//a['" in told.err
