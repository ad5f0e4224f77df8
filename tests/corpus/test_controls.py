"""Controls U+0080 to U+009F: refused in texts, and what Windows-1252 has there in documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import document_files as files
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sentgen.corpus import line_blocks, treebank_blocks, vertical_blocks
from sentgen.corpus.formats import choose_reader
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import InputError, Rejection
from sentgen.generation.bags.bag import parse_bag

#: All of them but U+0085, which is white space.
CONTROLS = [chr(code) for code in range(0x80, 0xA0) if code != 0x85]
BLOCKS = {"a.conllu": treebank_blocks, "a.lines": line_blocks, "a.vert": vertical_blocks}


def found(path: Path, **given: object) -> Iterator[Sentence | Rejection]:
    (source,) = expand([str(path)])
    reader = choose_reader(source, None, given)
    assert isinstance(reader, Reader)
    return read_source(reader, source.open())


def written(folder: Path, name: str, word: str) -> Path:
    """Write a file with a good sentence and one with this word in it."""
    path, row = folder / name, f"\t{word}\t_\tX\t_\t_\t"
    texts = {
        "a.txt": f"It is so.\nIt {word} so.\n",
        "a.md": f"It is so.\n\nIt {word} so.\n",
        "a.lines": f"It is so .\nIt {word} so .\n",
        "a.vert": f"<s>\nIt\tP\tit\n</s>\n<s>\nIt\tP\tit\n{word}\tV\tbe\n</s>\n",
        "a.conllu": f"1\tIt\t_\tX\t_\t_\t0\troot\t_\t_\n\n1{row}0\troot\t_\t_\n",
        "a.mrg": f"( (S (NN It)) )\n( (S (NN {word})) )\n",
        "a.pos": f"======\nIt/PRP is/VBZ\n======\nIt/PRP {word}/VBZ\n",
        "a.csv": f"text\nIt is so.\nIt {word} so.\n",
        "a.jsonl": f'{{"text": "It is so."}}\n{json.dumps({"text": f"It {word} so."})}\n',
        "b.jsonl": f'{{"tokens": ["It"]}}\n{json.dumps({"tokens": [word]})}\n',
        "c.jsonl": f'{{"text": "It is so."}}\n{{"text": "It {word} so."}}\n',
        "a.xml": f"<TEI><text>\n<p>It is so.</p><p>It {word} so.</p></text></TEI>",
        "b.xml": f"<TEI><text><p><w>It</w></p><p><w lemma='{word}'>is</w></p></text></TEI>",
    }
    if name == "a.xlsx":
        return files.xlsx(path, [["text"], ["It is so."], [f"It {word} so."]])
    if name == "a.parquet":
        pq.write_table(pa.table({"text": ["It is so.", f"It {word} so."]}), path)
        return path
    path.write_text(texts[name], "utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    [
        *(
            "a.txt",
            "a.lines",
            "a.vert",
            "a.conllu",
            "a.mrg",
            "a.pos",
            "a.csv",
            "a.jsonl",
            "b.jsonl",
            "c.jsonl",
        ),
        *("a.xlsx", "a.parquet"),
    ],
)
def test_one_refuses_its_sentence(tmp_path: Path, name: str) -> None:
    """The check `control-character` refuses the sentence in every format; the sentence before it is read."""
    given = {"text": "text"} if name in ("a.csv", "a.xlsx", "a.parquet") else {}
    for control in CONTROLS:
        good, *wrong = found(written(tmp_path, name, f"a{control}b"), **given)

        assert isinstance(good, Sentence)
        assert [isinstance(one, Rejection) and one.check for one in wrong] == ["control-character"]


@pytest.mark.parametrize("name", BLOCKS)
def test_one_is_seen_in_blocks(tmp_path: Path, name: str) -> None:
    """Blocks are searched for such bytes, and the slow reader refuses the sentence."""
    (source,) = expand([str(written(tmp_path, name, "a\x92b"))])
    items = list(BLOCKS[name].read_blocks(source.open()))

    assert [one.check for one in items if isinstance(one, Rejection)] == ["control-character"]


@pytest.mark.parametrize("name", ["a.xml", "b.xml"])
def test_xml_with_one_is_refused(tmp_path: Path, name: str) -> None:
    """Also as a reference, which denotes the control in XML, unlike in HTML."""
    for written_as in ("\x92", "&#146;", "&#x92;"):
        with pytest.raises(InputError, match=r"the control character U\+0092; remove it"):
            list(found(written(tmp_path, name, f"a{written_as}b")))


@pytest.mark.parametrize("written_as", ["&#{0};", "&#x{0:x};", "{1}"])
def test_documents_have_what_is_meant(tmp_path: Path, written_as: str) -> None:
    """References and controls alike are characters of Windows-1252, or blanks where it has none."""
    codes = range(0x80, 0xA0)
    meant = [bytes([code]).decode("cp1252", "replace").replace("\ufffd", " ") for code in codes]
    given = [written_as.format(code, chr(code)) for code in codes]
    texts, expected = ([f"{one}a{one}b{one}" for one in signs] for signs in (given, meant))
    title = "|".join(texts)
    body = "".join(f"<p>{text}</p>{one}c" for text, one in zip(texts, given, strict=True))
    page = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    (tmp_path / "a.html").write_text(page, "utf-8")
    files.epub(tmp_path / "a.epub", {"a.xhtml": page})
    paragraphs = [
        paragraph for text, one in zip(texts, given, strict=True) for paragraph in (text, f"{one}c")
    ]
    runs = [f"<w:r><w:t>{text}</w:t></w:r>" for text in paragraphs]
    files.docx(tmp_path / "a.docx", "".join(f"<w:p>{run}</w:p>" for run in runs))
    files.odt(tmp_path / "a.odt", "".join(f"<text:p>{text}</text:p>" for text in paragraphs))
    names = ["a.html", "a.epub", "a.docx", "a.odt"]
    if written_as != "{1}":  # where a text has the control itself, it is one of text
        (tmp_path / "a.md").write_text("\n\n".join(paragraphs) + "\n", "utf-8")
        names.append("a.md")

    for name in names:
        (source,) = expand([str(tmp_path / name)])
        reader = choose_reader(source, None, {})
        assert isinstance(reader, Reader)
        items = list(reader.items(source.open()))
        assert all(isinstance(item, RawText) for item in items), name
        assert [item.text for item in items] == [
            text.strip() for pair in zip(expected, (f"{one}c" for one in meant), strict=True) for text in pair
        ], name
        if name == "a.html":
            assert items[0].metadata == [f"meta::title = {'|'.join(expected).strip()}"]


def test_references_of_vertical_files(tmp_path: Path) -> None:
    """References are read as in HTML, like other entities."""
    (one,) = list(found(written(tmp_path, "a.vert", "It&#146;s")))[1:]
    assert isinstance(one, Sentence)
    assert one.forms == ["It", "It’s"]


def test_no_bag_has_one() -> None:
    for control in CONTROLS:
        with pytest.raises(InputError):
            parse_bag(f"a{control}b c")
