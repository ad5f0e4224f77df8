"""Encodings: their names mean what they mean on the web, wherever a file or a user names one."""

from __future__ import annotations

from pathlib import Path

import document_files as files
import pytest

from sentgen.corpus.encodings import codec_of, readings
from sentgen.corpus.formats import choose_reader
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers.table import open_table
from sentgen.corpus.sentence import RawText
from sentgen.errors import InputError

#: What is called so, what it means (https://encoding.spec.whatwg.org/#names-and-labels), and a text that its
#: narrower namesake does not have.
MEANT = [
    ("iso-8859-1", "cp1252", "It’s – “so”, 5 €."),
    ("Latin1", "cp1252", "It’s so…"),
    ("us-ascii", "cp1252", "It’s so."),
    ("ISO-8859-9", "cp1254", "Kız’ın ışığı."),
    ("latin5", "cp1254", "Kız’ın."),
    ("tis-620", "cp874", "ก…"),
    ("gb2312", "gb18030", "朱镕基"),
    ("x-gbk", "gb18030", "朱镕基"),
    ("shift_jis", "cp932", "①髙﨑"),
    ("x-sjis", "cp932", "①髙﨑"),
    ("windows-31j", "cp932", "①髙﨑"),
    ("ks_c_5601-1987", "cp949", "똠방각하"),
    ("ks_c_5601", "cp949", "똠방각하"),
    ("euc-kr", "cp949", "똠방각하"),
    ("big5", "big5hkscs", "㗎"),
    ("x-mac-cyrillic", "mac-cyrillic", "Привет"),
    ("x-cp1251", "cp1251", "Привет"),
    ("koi", "koi8-r", "Привет"),
    ("iso88592", "iso8859-2", "źle"),
]


def texts(path: Path, **given: object) -> list[str]:
    """Return the texts of a file, as `sentgen ingest` reads it."""
    (source,) = expand([str(path)], encoding=str(given.get("encoding", "utf-8")))
    reader = choose_reader(source, str(given.pop("form", "")) or None, given)
    assert isinstance(reader, Reader)
    return [one.text for one in reader.items(source.open()) if isinstance(one, RawText)]


@pytest.mark.parametrize(("name", "codec", "text"), MEANT)
def test_names_mean_what_browsers_read(tmp_path: Path, name: str, codec: str, text: str) -> None:
    """In a page, in XML, in a book, and where the user names the encoding of a text or a table."""
    assert codec_of(name) == codec
    data = text.encode(codec)
    xml = f'<?xml version="1.0" encoding="{name}"?>\n'.encode()
    (tmp_path / "a.html").write_bytes(b'<meta charset="%s"><p>%s</p>' % (name.encode(), data))
    (tmp_path / "b.html").write_bytes(
        b"<meta http-equiv=content-type content='text/html; charset=%s'><p>%s</p>" % (name.encode(), data)
    )
    (tmp_path / "a.xhtml").write_bytes(xml + b"<html><body><p>%s</p></body></html>" % data)
    (tmp_path / "a.xml").write_bytes(xml + b"<TEI><text><body><p>%s</p></body></text></TEI>" % data)
    meta = b'<html><head><meta charset="%s"/></head><body><p>%s</p></body></html>' % (name.encode(), data)
    chapters = {"a.xhtml": xml + b"<html><body><p>%s</p></body></html>" % data, "b.xhtml": meta}
    files.epub(tmp_path / "a.epub", chapters)
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "bare.html").write_bytes(b"<p>%s</p>" % data)
    (tmp_path / "bare.xml").write_bytes(b"<TEI><text><body><p>%s</p></body></text></TEI>" % data)
    (tmp_path / "a.csv").write_bytes(
        b"id,text\n1,%s\n" % data if b"," not in data else b"text\n" + b'"%s"\n' % data
    )

    for one in ("a.html", "b.html", "a.xhtml", "a.xml"):
        assert texts(tmp_path / one) == [text], one
    assert texts(tmp_path / "a.epub") == [text, text]
    for one in ("a.txt", "bare.html", "bare.xml"):
        assert texts(tmp_path / one, encoding=name) == [text], one
    assert texts(tmp_path / "a.csv", encoding=name, text="text") == [text]
    (source,) = expand([str(tmp_path / "a.csv")])
    with open_table(source, encoding=name) as table:
        assert [row.values[-1] for row in table.rows] == [text]


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "x-", "", "a\0b", "../a", "iso-8859-99"])
def test_names_that_mean_nothing(tmp_path: Path, name: str) -> None:
    """An unknown name is an error of one line; the file is not read in another encoding."""
    with pytest.raises(LookupError):
        codec_of(name)
    (tmp_path / "a.csv").write_text("id\n1\n")
    (source,) = expand([str(tmp_path / "a.csv")])
    with pytest.raises(InputError, match="no encoding"), open_table(source, encoding=name):
        pass


def test_what_a_file_says_of_itself_and_is_not_so(tmp_path: Path) -> None:
    """A file with bytes of another encoding is refused, not read without them."""
    files.epub(tmp_path / "a.epub", {"a.xhtml": b"<html><body><p>caf\xe9 so</p></body></html>"})
    files.epub(tmp_path / "b.epub", {"a.xhtml": b'<?xml version="1.0" encoding="klingon"?><p>a</p>'})
    (tmp_path / "a.xml").write_bytes(
        b"<?xml version='1.0' encoding='euc-jp'?>\n<TEI><text>\n<p>\xff</p></text></TEI>"
    )
    (tmp_path / "b.html").write_bytes(b"<meta charset=klingon><p>a</p>")

    for name, message in (
        ("a.epub", r"a\.epub!OEBPS/a\.xhtml:1: byte 0xe9 is not UTF-8"),
        ("b.epub", r"names an encoding that is not known, 'klingon'"),
        ("a.xml", r"a\.xml:3: byte 0xff is not euc-jp"),
        ("b.html", r"names an encoding that is not known, 'klingon'"),
    ):
        with pytest.raises(InputError, match=message):
            texts(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("naïve", "cp1252"), ("“quoted”", "cp1252"), ("Größe", "cp1252"), ("été", "cp1252"), ("привет", "cp1251"),
        ("Съешь", "cp1251"), ("привет", "koi8-r"), ("Żółw", "cp1250"), ("ελληνικά", "cp1253"), ("ışık", "cp1254"),
        ("שלום", "cp1255"), ("سلام", "cp1256"), ("日本語のテキスト", "cp932"), ("中文文本", "gb18030"),
        ("한국어", "cp949"), ("中文", "big5hkscs"), ("中文文本" * 20, "gb18030"),
    ],
)  # fmt: skip
def test_the_right_encoding_is_among_those_that_are_named(tmp_path: Path, text: str, codec: str) -> None:
    """The message has the word as it reads in that encoding, for texts of several languages."""
    (tmp_path / "a.txt").write_bytes(b"ok\n" + f"a {text} b\n".encode(codec))

    with pytest.raises(InputError, match=r"a\.txt:2: byte 0x.. is not UTF-8; its word would be ") as caught:
        texts(tmp_path / "a.txt")
    assert f"{codec} '{text[:8]}" in str(caught.value)
    assert caught.value.message.count("\n") == 0


def test_a_cyrillic_text_does_not_look_like_latin() -> None:
    line = "Съешь ещё этих мягких булок".encode("cp1251")
    for place in range(len(line)):
        if line[place] > 127:
            assert not readings(line, place).startswith("cp1252")
