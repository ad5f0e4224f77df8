"""Files, folders and archives, and input that is refused before a reader gets it."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import logging
import lzma
import os
import resource
import threading
import tracemalloc
import zipfile
from pathlib import Path
from unittest.mock import patch

import pytest

from sentgen.corpus.paths import expand, source_at
from sentgen.corpus.sources import Source
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError

TEXT = "first line\nsecond line\n\nfourth\n"


def one(path: Path) -> Source:
    (source,) = expand([str(path)])
    return source


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


class TestExpand:
    """What arguments name."""

    def test_folder_is_walked_sorted_without_hidden_files(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / ".git").mkdir()
        for name in ("z.txt", "b/a.txt", ".hidden", ".git/x.txt"):
            write(tmp_path / name, b"x")

        names = [os.path.relpath(source.name, tmp_path) for source in expand([str(tmp_path)])]

        assert names == ["b/a.txt", "z.txt"]

    def test_what_belongs_to_a_store_is_left_out(self, tmp_path: Path) -> None:
        """Its lock reads as JSON Lines, its log may be anything; a file that only begins alike stays."""
        write(tmp_path / "s.duckdb", b"01234567DUCK")
        (tmp_path / "s.duckdb.tmp").mkdir()
        for name in ("s.duckdb.lock", "s.duckdb.tmp/x.txt", "s.duckdb2.txt", "a.txt", "a.txt.2"):
            write(tmp_path / name, b"{}")

        names = [os.path.relpath(source.name, tmp_path) for source in expand([str(tmp_path)])]

        assert names == ["a.txt", "a.txt.2", "s.duckdb", "s.duckdb2.txt"]

    def test_files_are_explicit_and_found_files_are_not(self, tmp_path: Path) -> None:
        write(tmp_path / "a.txt", b"x")

        assert [s.explicit for s in expand([str(tmp_path / "a.txt"), str(tmp_path)])] == [True, False]

    def test_glob(self, tmp_path: Path) -> None:
        for name in ("b.txt", "a.txt", "c.pos"):
            write(tmp_path / name, b"x")

        assert [Path(s.name).name for s in expand([str(tmp_path / "*.txt")])] == ["a.txt", "b.txt"]

    @pytest.mark.parametrize(
        ("name", "message"),
        [("none.txt", "no such file"), ("*.none", "no file matches"), ("empty", "no files")],
    )
    def test_what_names_nothing_is_refused_at_once(self, tmp_path: Path, name: str, message: str) -> None:
        (tmp_path / "empty").mkdir()

        with pytest.raises(InputError, match=message):
            expand([str(tmp_path / name)])

    def test_no_argument(self) -> None:
        with pytest.raises(InputError, match="no input"):
            expand([])

    @pytest.mark.parametrize("data", [TEXT.encode(), gzip.compress(TEXT.encode(), mtime=0)])
    def test_stdin_is_spooled_and_can_be_read_twice(
        self, monkeypatch: pytest.MonkeyPatch, data: bytes
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        (source,) = expand(["-"])

        assert source.name == "-"
        assert list(source.lines()) == list(source.lines()) == TEXT.splitlines()

    def test_stdin_is_limited(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LIMITS, "expanded_bytes", 50)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 100)))

        with pytest.raises(InputError, match="the limit"):
            list(expand(["-"]))

    def test_a_stream_of_short_lines_is_limited(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LIMITS, "stream_bytes", 50)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y\n" * 100)))

        with pytest.raises(InputError, match="more than 50 bytes, the limit of a stream; write it to a file"):
            list(expand(["-"]))

    def test_zip_through_a_pipe_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"PK\3\4...")))

        with pytest.raises(InputError, match="pipe"):
            list(expand(["-"]))

    def test_named_pipe_is_read_like_stdin(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(TEXT.encode(),))
        writer.start()
        source = one(pipe)
        writer.join()

        assert list(source.lines()) == TEXT.splitlines()

    def test_tar_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="unpack"):
            one(write(tmp_path / "a.tar.gz", gzip.compress(b"x")))


class TestCompression:
    """Streams are the same content however they are compressed."""

    @pytest.mark.parametrize(
        ("suffix", "pack"),
        [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
    )
    def test_lines_and_hash(self, tmp_path: Path, suffix: str, pack: object) -> None:
        data = TEXT.encode()
        source = one(write(tmp_path / f"x.txt{suffix}", pack(data)))  # type: ignore[operator]
        reader = source.open()

        assert list(reader) == TEXT.splitlines()
        assert reader.lines_read == 4
        assert reader.progress == 1.0
        assert source.sha256() == hashlib.sha256(data).hexdigest()

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_concatenated_streams(self, tmp_path: Path, pack: object) -> None:
        source = one(write(tmp_path / "x.bin", pack(b"a\n") + pack(b"b\n")))  # type: ignore[operator]

        assert list(source.lines()) == ["a", "b"]

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_truncated_stream_is_one_clear_error(self, tmp_path: Path, pack: object) -> None:
        data = pack(os.urandom(5000).hex().encode())[:-20]  # type: ignore[operator]

        with pytest.raises(InputError, match="cannot read this"):
            list(one(write(tmp_path / "x.bin", data)).lines())

    def test_a_name_with_control_characters_takes_one_line(self, tmp_path: Path) -> None:
        """The name of a member is shown with its line feeds and escapes replaced."""
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a\n\x1b[31mb.txt", b"\0")
        (source,) = expand([str(path)])

        with pytest.raises(InputError, match=r"a\\n\\x1b\[31mb\.txt:1: NUL"):
            list(source.lines())

    def test_zip_members(self, tmp_path: Path) -> None:
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("b.txt", "a/c.txt", "__MACOSX/x", ".hidden"):
                archive.writestr(name, TEXT)

        sources = list(expand([str(path)]))

        assert [s.name for s in sources] == [f"{path}!a/c.txt", f"{path}!b.txt"]
        assert all(list(s.lines()) == TEXT.splitlines() for s in sources)
        assert source_at(f"{path}!b.txt") == sources[1]
        with pytest.raises(InputError, match="no such file"):
            source_at(f"{path}!none")

    def test_archive_inside_an_archive_is_refused(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("b.gz", "x")

        with pytest.raises(InputError, match="inside an archive"):
            list(expand([str(tmp_path / "a.zip")]))

    def test_empty_broken_and_overfull_zip(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
            pass
        with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
            archive.writestr("a", "x")
            archive.writestr("b", "x")

        with pytest.raises(InputError, match="no files"):
            list(expand([str(tmp_path / "empty.zip")]))
        with (
            patch.object(LIMITS, "archive_members", 1),
            pytest.raises(InputError, match="more than 1 members"),
        ):
            list(expand([str(tmp_path / "two.zip")]))
        with pytest.raises(InputError, match="cannot read this zip"):
            list(expand([str(write(tmp_path / "broken.zip", b"PK\3\4 nothing"))]))

    def test_progress_grows_while_reading(self, tmp_path: Path) -> None:
        reader = one(write(tmp_path / "x.txt", b"some words\n" * 300_000)).open()
        stream = iter(reader)
        next(stream)

        assert 0 < reader.progress < 1
        assert sum(1 for _ in stream) == 299_999
        assert reader.progress == 1


class TestAttacks:
    """Hostile bytes meet one clear line."""

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_bomb_takes_no_memory(self, tmp_path: Path, pack: object) -> None:
        data = pack((b"a" * 99 + b"\n") * 80_000)  # type: ignore[operator]
        source = one(write(tmp_path / "bomb", data))
        tracemalloc.start()
        with patch.object(LIMITS, "ratio_from", 2**22), pytest.raises(InputError, match="decompression bomb"):
            for _ in source.lines():
                pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

        assert peak < 16 * 2**20

    def test_megabyte_gzip_bomb(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.gz"
        block = b"\n" * 2**20
        with gzip.open(path, "wb", compresslevel=9) as file:
            for _ in range(200):
                file.write(block)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        with pytest.raises(InputError, match="decompression bomb"):
            one(path).sha256()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024

    def test_zip_bomb(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.txt", b"a\n" * 2**20)

        with patch.object(LIMITS, "ratio_from", 2**20), pytest.raises(InputError, match="decompression bomb"):
            list(one(tmp_path / "bomb.zip").lines())

    def test_expanded_bytes_are_limited(self, tmp_path: Path) -> None:
        source = one(write(tmp_path / "x.gz", gzip.compress(b"line\n" * 1000)))

        with patch.object(LIMITS, "expanded_bytes", 1000), pytest.raises(InputError, match="than 1000 bytes"):
            list(source.lines())

    @pytest.mark.parametrize("end", [b"", b"\n"])
    def test_huge_line(self, tmp_path: Path, end: bytes) -> None:
        source = one(write(tmp_path / "x.txt", b"ok\n" + b"a" * 101 + end))

        with (
            patch.object(LIMITS, "line_length", 100),
            pytest.raises(InputError, match=r"x.txt:2: the line is longer than 100"),
        ):
            list(source.lines())

    def test_endless_line_is_not_collected(self, tmp_path: Path) -> None:
        source = one(write(tmp_path / "x.txt", b"a" * (3 * 2**20)))

        with (
            patch.object(LIMITS, "line_length", 100_000),
            pytest.raises(InputError, match=r"x.txt:1: a line is longer"),
        ):
            list(source.lines())

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"a\nb\0c\n", r":2: NUL"),
            (b"a\rb\x0f\nb\0c\n", r":2: NUL"),
            (b"a\nb\n\x1b[31m\n", r":3: control character U\+001B"),
            (b"a\x7f\n", r":1: control character U\+007F"),
            (b"a\rb\n", r":1: a carriage return"),
            ("a\n".encode("utf-16-le"), r":1: NUL in the text; is it .* UTF-16"),
            (b"\xff\xfea\0\n", r"byte 0x0a is not utf-16"),
            (b"ok\nna\xefve\n", r":2: byte 0xef is not UTF-8; its word would be cp1252 'naïve'"),
            (b"ok\n\x93quoted\x94\n", r":2: byte 0x93 is not UTF-8; its word would be cp1252 '“quoted”'"),
            (b"cut \xe2\x82", r":1: byte 0xe2"),
        ],
    )
    def test_wrong_bytes_name_the_line(self, tmp_path: Path, data: bytes, message: str) -> None:
        with pytest.raises(InputError, match=message):
            list(one(write(tmp_path / "x.txt", data)).lines())

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16_is_told_by_its_mark(self, tmp_path: Path, encoding: str) -> None:
        """The lines are those of the text in UTF-8, also if a block ends within a character."""
        text = "ein Ölfaß\n𝔞\n" * 100_000
        source = one(write(tmp_path / "x.txt", f"\ufeff{text}".encode(encoding)))

        assert list(source.lines()) == text.removesuffix("\n").split("\n")
        assert source.head()[:2] == ["ein Ölfaß", "𝔞"]

    def test_line_numbers_count_over_blocks(self, tmp_path: Path) -> None:
        data = b"0123456789\n" * 200_000 + b"bad \xff\n"

        with pytest.raises(InputError, match=r":200001: byte 0xff"):
            list(one(write(tmp_path / "x.txt", data)).lines())

    def test_byte_order_mark_is_stripped_with_a_note(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        source = one(write(tmp_path / "x.txt", b"\xef\xbb\xbfone\r\ntwo"))
        with caplog.at_level(logging.INFO):
            lines = list(source.lines())

        assert lines == ["one", "two"]
        assert "byte order mark" in caplog.text
        assert source.head() == ["one", "two"]

    def test_unreadable_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = one(write(tmp_path / "x.txt", b"x"))
        (tmp_path / "x.txt").unlink()

        with pytest.raises(InputError, match="cannot read this file: No such file"):
            list(source.lines())
