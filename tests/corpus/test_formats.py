"""Detection of formats."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sentgen.corpus.formats import READERS, detect, reader_named, takes_tags_for_words
from sentgen.corpus.paths import expand
from sentgen.errors import InputError

CONLLU = "1\tA\ta\tDET\tDT\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.conllu", "anything", "conllu"),
        ("a.CONLLU.gz", "anything", "conllu"),
        ("a.mrg", "(", "mrg"),
        ("a.dp", "a\tb\t0", "dp"),
        ("a.tok", "x", "lines"),
        ("a.conll", CONLLU, "conllu"),
        ("a.conll", "# x\n" + CONLLU, "conllu"),
        ("a.conll", CONLLU.replace("DT", "DET"), "conllx"),
        ("a.conll", "1\tA\ta\tDET\tDET\t_\t0\troot\n", "conllx"),
        ("a.conll", "A\tDT\t0\n", "dp"),
        ("a.txt", "A DT B-NP\n. . O\n", "conll2000"),
        ("a", "( (S (NN a)))", "mrg"),
        ("a", "=====\n[ a/DT ]\nb/NN c/NN\n", "pos"),
        ("a.json", '{"text": "a"}', "jsonl"),
        ("a.txt", "This is, in short, prose.\n", "text"),
        ("a.txt", "This is , in short , tokenised .\n", "lines"),
        ("a.txt", "no punctuation", "text"),
        ("README.md", "# It\n\n* some `words`, and [a link](b.md)\n", "markdown"),
        ("LICENSE", "Apache License\n\nEach contributor grants it.\n", "text"),
        ("chapter.one", "It was the “best” of times, wasn't it?\nYes - it was (so they say).\n", "text"),
        ("a.html", "<!DOCTYPE html>\n<p>It is so, and was so.\n", "html"),
        ("a.csv", '{"text": "a"}', "jsonl"),
        ("a.tsv", CONLLU, "conllu"),
        ("conte.fr", "L’été, «c’était» bien…\n", "text"),
    ],
)
def test_detect(tmp_path: Path, name: str, content: str, expected: str) -> None:
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (source,) = expand([str(tmp_path / name)])

    assert detect(source) == expected


def test_many_slashes_take_no_time(tmp_path: Path) -> None:
    """A line of slashes is read at once; a pattern once tried all ways to cut it into tagged words, for a minute."""
    (tmp_path / "a.txt").write_text("a/b/" * 5_000 + "\n  \tx\n")
    (source,) = expand([str(tmp_path / "a.txt")])

    assert detect(source) == "text"


@pytest.mark.parametrize(
    ("line", "tagged"),
    [
        *(("a/B", True), ("[ a/B c/D ]", True), ("a/B c/D ", True), ("a/B/C", True), ("[ a/B", True)),
        *(
            ("a", False),
            ("/B", False),
            ("a/", False),
            ("a/B  c/D", False),
            ("[ ]", False),
            ("a/B\tc/D", False),
        ),
    ],
)
def test_tagged_words(tmp_path: Path, line: str, tagged: bool) -> None:
    """Words with tags, one blank between them, in brackets or not."""
    (tmp_path / "a.txt").write_text(f"{line}\n")
    (source,) = expand([str(tmp_path / "a.txt")])

    assert (detect(source) == "pos") == tagged


@pytest.mark.parametrize(("name", "text"), [("a.dp", "a\tNN\t0\n"), ("a.mrg", "( (NP (NN a)) )\n")])
def test_trees_with_their_tagged_file_are_wsj(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (source,) = expand([str(tmp_path / name)])
    alone = detect(source)
    (tmp_path / "a.pos").write_text("a/NN\n")

    assert (alone, detect(source)) == (name[2:], "wsj")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.conllu", "", "is empty"),
        ("a.txt", "\n \n", "is empty"),
        ("a.xyz", "some words", "give `format`"),
        ("a.tsv", "1\tb\tc", "is a table, which is not read here"),
        ("a.tsv", "Yes.\tno", "is a table, which is not read here"),
        ("a.csv", "name,age\nann,12.\nbob,13.\n", "is a table, which is not read here"),
        ("a.py", 'def f(a):\n    """Say it."""\n    return a\n', "give `format`"),
        ("a.sql", "-- Get it.\nselect a\nfrom b where c = d.\n", "give `format`"),
        ("rss.xml", '<?xml version="1.0"?>\n<rss><p>It is so.</p></rss>\n', "is XML or HTML"),
        ("a.page", "<div>It is so.</div>\n", "is XML or HTML"),
        ("b.xml", "<rss><item>Hello</item></rss>\n", "is XML or HTML"),
    ],
)
def test_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    (source,) = expand([str(tmp_path / name)])

    with pytest.raises(InputError, match=message):
        detect(source)


@pytest.mark.parametrize(
    ("content", "markup"),
    [
        ('<?xml version="1.0"?>\n<TEI>a</TEI>\n', True),
        ("  <html>\n", True),
        ("<p>One.</p>\n<p>Two.</p>\n", True),
        ("<unk> said <unk> .\n", False),
        ("a < b, and c > d\n", False),
        (f"{'words ' * 100}<b>bold</b>\n", False),
    ],
)
def test_markup_that_is_read_as_text(tmp_path: Path, content: str, markup: bool) -> None:
    """Tags read as words are noted; a few tags in prose, and `<unk>` in a corpus, are not."""
    (tmp_path / "a.txt").write_text(content)
    (source,) = expand([str(tmp_path / "a.txt")])

    assert takes_tags_for_words(reader_named("text"), source) == markup
    assert not takes_tags_for_words(reader_named("conllu"), source)


def test_the_registry_is_sorted_and_described() -> None:
    assert list(READERS) == sorted(READERS)
    assert all(reader.description and reader.version for reader in READERS.values())
