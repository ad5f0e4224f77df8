"""Controls that are blanks: form feeds between pages are blanks of plain text, wherever it stands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sentgen.corpus.formats import READERS, detect
from sentgen.corpus.pair_readers import PairFile, PairSettings, TokenizedPair
from sentgen.corpus.paths import source_at
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError

BLANKS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
WORDS = ["It", "is", "so", "."]


def read(path: Path, form: str = "", **settings: str) -> list[Sentence]:
    source = source_at(str(path))
    reader = READERS[form or detect(source)].with_settings(settings)
    reader.digest(source)
    found = list(read_source(reader, source.open()))
    assert all(isinstance(one, Sentence) for one in found), found
    return [one for one in found if isinstance(one, Sentence)]


@pytest.mark.parametrize("sign", BLANKS)
def test_they_are_blanks_of_raw_text_in_every_format(sign: str, tmp_path: Path) -> None:
    """Neither the words nor the stored text have them, and none ends a paragraph within a line."""
    raw = f"It{sign}is so."
    (tmp_path / "a.txt").write_text(f"{raw}\n", "utf-8")
    (tmp_path / "a.md").write_text(f"{raw}\n", "utf-8")
    (tmp_path / "a.csv").write_text(f'id,body\n1,"{raw}"\n', "utf-8")
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": raw}) + "\n", "utf-8")
    (tmp_path / "b.jsonl").write_text(json.dumps({"sentences": [raw]}) + "\n", "utf-8")
    with gzip.open(tmp_path / "a.txt.gz", "wt", encoding="utf-8") as file:
        file.write(f"{raw}\n")
    for name in ("a.txt", "a.txt.gz", "a.md", "a.csv", "a.jsonl", "b.jsonl"):
        settings = {"text": "body", "id": "id"} if name == "a.csv" else {}
        (one,) = read(tmp_path / name, "csv" if settings else "", **settings)

        assert one.forms == WORDS, name
        assert sign not in one.text or name == "a.md", name


@pytest.mark.parametrize("sign", BLANKS)
def test_they_are_blanks_of_pairs(sign: str, tmp_path: Path) -> None:
    """A document has the same sentences as with blanks in their place."""
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"id": "a", "document": f"It{sign}is so.", "abstract": "So."}) + "\n", "utf-8")
    for settings in (PairSettings(), PairSettings(replace_controls=True)):
        (file,) = PairFile.of_paths([str(path)])
        (pair,) = [one.tokenize(settings) for one in file.read(settings) if hasattr(one, "tokenize")]

        assert isinstance(pair, TokenizedPair)
        assert [one.forms for one in pair.document] == [WORDS]


def test_a_form_feed_parts_pages(tmp_path: Path) -> None:
    """On a line of its own it is a blank line, and before a heading it is no part of it."""
    (tmp_path / "a.txt").write_text(
        "The first page ends\nhere.\n\x0c\n\x0cThe second page ends\nthere.\n", "utf-8"
    )

    assert [one.text for one in read(tmp_path / "a.txt")] == [
        "The first page ends here.",
        "The second page ends there.",
    ]


def test_formats_of_tokens_refuse_them(tmp_path: Path) -> None:
    """A word with a form feed is an error."""
    (tmp_path / "a.lines").write_text("a b\x0cc .\n", "utf-8")
    with pytest.raises(InputError, match=r"U\+000C"):
        read(tmp_path / "a.lines")


@pytest.mark.parametrize("wrong", ["\x01", "\x00"])
@pytest.mark.parametrize("name", ["a.txt", "a.lines", "a.txt.gz"])
def test_what_no_text_has_is_told_before_anything_is_read(name: str, wrong: str, tmp_path: Path) -> None:
    """The error names the line, also after many good lines; and the hash is that of the content."""
    good = "It is so . And so on .\n" * 5_000
    for written, refused in ((f"{good}a{wrong}b\n", True), (good, False)):
        data = written.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        source = source_at(str(tmp_path / name))
        reader = READERS["lines" if name == "a.lines" else "text"]
        if refused:
            with pytest.raises(InputError) as caught:
                reader.digest(source)
            assert caught.value.line == 5_001
        else:
            assert reader.digest(source) == source.sha256()
