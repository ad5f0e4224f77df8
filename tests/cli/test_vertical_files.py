"""Vertical files from the command line: columns, what is said of them, attributes, and the way out."""

from __future__ import annotations

from pathlib import Path

from conftest import Sentgen, refused

SPEECH = """\
<doc id="d" genre="news">
<speaker party="Y">
Europa	SUBJ	NE
ruft	ROOT	V
.	PUNCT	P
</speaker>
</doc>
"""


def test_in_and_out(sentgen: Sentgen, tmp_path: Path) -> None:
    """One line says that no tag made sentences; attributes, documents and regions can be asked."""
    (tmp_path / "a.vert").write_text(SPEECH, "utf-8")

    done = sentgen("ingest", "a.vert", "--corpus", "v", "--columns", "word,mode-1,pos")
    assert done.code == 0
    assert done.err == (
        "note: a.vert: 1 sentence without <s>, cut at final punctuation; --sentences KIND takes a region\n"
    )
    assert "Europa" in sentgen("kwic", '[mode_1="SUBJ"]').out
    assert "news" in sentgen("freq", "--query", "[]", "--by", "match.doc_genre").out
    assert "Europa" in sentgen("kwic", '[word="Europa"] within <speaker party="Y"/>').out

    written = sentgen("corpora", "export", "v", "--format", "vertical")
    assert written.out.startswith("<!-- #vrt positional-attributes: word pos lemma mode-1 -->\n<doc id=")
    assert "Europa\tNE\t_\tSUBJ\n" in written.out


def test_a_tag_for_the_sentences(sentgen: Sentgen, tmp_path: Path) -> None:
    (tmp_path / "a.vert").write_text(SPEECH, "utf-8")
    columns = ("--columns", "word,mode,pos")

    done = sentgen("ingest", "a.vert", "--corpus", "v", *columns, "--sentences", "speaker")
    assert (done.code, done.err) == (0, "")


def test_refusals_are_one_line(sentgen: Sentgen, tmp_path: Path) -> None:
    (tmp_path / "a.vert").write_text(SPEECH.replace("ruft	ROOT	V", "ruft	ROOT"), "utf-8")
    (tmp_path / "b.lines").write_text("a b\n", "utf-8")

    refused(sentgen("ingest", "a.vert", "--corpus", "v"), "a.vert:4: 2 tab-separated columns where 3 belong")
    refused(sentgen("ingest", "a.vert", "--corpus", "v", "--columns", "pos"), "word or form", "--columns")
    refused(sentgen("ingest", "b.lines", "--corpus", "v", "--columns", "word"), "--columns is for vertical")
    assert sentgen("ingest", "b.lines", "--corpus", "v").code == 0
    refused(sentgen("corpora", "export", "v", "--format", "xml"), "--format 'xml' is none of: conllu, ")
