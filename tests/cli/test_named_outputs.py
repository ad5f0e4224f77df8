"""Every option that names a file to write leaves what is there as it is: devices, pipes, links, modes."""

from __future__ import annotations

import os
import shlex
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import full_store
import pytest
import typer
from test_reading_commands import commands
from typer.main import get_command

from sentgen.cli import build
from sentgen.errors import InputError
from sentgen.output.files import write_text

#: Each option that names a file to write, with a command that has it.
WRITE = {
    "--parquet": ("freq",),
    "--xlsx": ("freq",),
    "--plot": ("freq",),
    "--to": ("corpora export pets",),
    "--arpa": ("models export kn",),
    "--svg": (
        "match 'pattern {{ X [] }}'",
        "generate --corpus clusters --lengths 5",
        "regenerate --model kn -a cle 'dog the chased'",
    ),
    "--conllu": ("generate --corpus clusters --lengths 5", "regenerate --model kn -a cle 'dog the chased'"),
    "--html": (
        "check {folder}/clusters.conllu --against {folder}/clusters.conllu",
        "align text --document {folder}/notes.txt --abstract {folder}/notes.txt --model aligner",
    ),
}
LINES = [(line, option) for option, lines in WRITE.items() for line in lines]
#: Those that name what is read, or what is no output: stores and desks; a sheet is never written over.
READ = {
    *("--clusters", "--judge"),
    *("--abstract", "--db", "--desk", "--document", "--file", "--ignore", "-i", "--names", "--stop"),
    *("--test", "--token-file", "--tune", "--users", "--with", "--salience", "--source", "file"),
}


def test_every_option_that_names_a_file_is_known() -> None:
    """A new one is either read, or written as the others are."""
    found = set()
    for name in commands():
        command = get_command(build())
        for word in name.split():
            command = command.load(word)  # type: ignore[attr-defined]
        found |= {one.opts[-1] for one in command.params if "FILE" in (one.metavar or "").split("|")}

    assert found == READ | WRITE.keys()


Target = tuple[Path, Callable[[], bytes]]


@contextmanager
def target(kind: str, folder: Path) -> Iterator[Target]:
    """Make what is written to, with what returns what was written; the name is one that a plot may have."""
    path, other = folder / "out.svg", folder / "there.svg"
    if kind in ("private", "link"):
        other.write_text("old")
        other.chmod(0o640 if kind == "link" else 0o600)
    if kind in ("link", "dangling"):
        path.symlink_to(other.name)
    match kind:
        case "new" | "link" | "dangling":
            yield path, path.read_bytes
        case "private":
            yield other, other.read_bytes
        case "device":
            try:
                os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
                path.write_bytes(b"")
            except PermissionError:
                pytest.skip("only root makes devices, and not everywhere")
            yield path, lambda: b"taken"
        case "pipe":
            os.mkfifo(path)
            with _read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), wait=True) as read:
                yield path, read
        case "descriptor":
            reader, writer = os.pipe()
            path.symlink_to(f"/proc/self/fd/{writer}")
            with _read(reader) as read:
                yield path, lambda: (os.close(writer), read())[1]


@contextmanager
def _read(descriptor: int, *, wait: bool = False) -> Iterator[Callable[[], bytes]]:
    os.set_blocking(descriptor, not wait)
    written = bytearray()
    done = threading.Event()

    def read() -> None:
        # A pipe with a name has nobody at its other end until it is opened, and after it is closed.
        while not done.is_set() or not wait:
            try:
                some = os.read(descriptor, 2**16)
            except BlockingIOError:
                continue
            written.extend(some)
            if not some and not wait:
                return
        try:
            while some := os.read(descriptor, 2**16):
                written.extend(some)
        except BlockingIOError:
            pass

    thread = threading.Thread(target=read, daemon=True)
    thread.start()

    def text() -> bytes:
        done.set()
        thread.join()
        return bytes(written)

    yield text
    done.set()
    os.close(descriptor)


def run(full: Path, line: str, option: str, path: Path) -> None:
    words = shlex.split(line.format(folder=full.parent))
    at = [] if words[0] == "check" else ["--db", full]
    full_store.run(*words, option, path, *at)


@pytest.mark.nightly(by_day=14)
@pytest.mark.parametrize("kind", ["new", "private", "link", "dangling", "device", "pipe", "descriptor"])
@pytest.mark.parametrize(("line", "option"), LINES)
def test_what_is_there_stays_what_it_is(
    full: Path, tmp_path: Path, line: str, option: str, kind: str
) -> None:
    """A link stays a link and its target is written; a file keeps its mode; all else is written through."""
    with target(kind, tmp_path) as (path, written):
        before = os.lstat(path) if os.path.lexists(path) else None
        names = sorted(os.listdir(tmp_path))
        run(full, line, option, path)

        assert written() not in (b"", b"old")
        if before is None:
            assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
        else:
            assert stat.S_IFMT(os.lstat(path).st_mode) == stat.S_IFMT(before.st_mode)
            assert os.lstat(path).st_mode == before.st_mode
            assert os.lstat(path).st_rdev == before.st_rdev
        if kind == "link":
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
        new = {"new": ["out.svg"], "dangling": ["there.svg"]}.get(kind, [])
        assert sorted(os.listdir(tmp_path)) == sorted([*names, *new])


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize("kind", ["read-only", "folder", "no folder", "circle"])
@pytest.mark.parametrize(("line", "option"), LINES)
def test_what_cannot_be_written_is_refused(
    full: Path, tmp_path: Path, line: str, option: str, kind: str
) -> None:
    """In one line, and nothing is left."""
    path = tmp_path / "out.svg"
    match kind:
        case "read-only":
            path.write_text("old")
            path.chmod(0o444)
        case "folder":
            path.mkdir()
        case "no folder":
            path = tmp_path / "none" / "out.svg"
        case "circle":
            path.symlink_to(path.name)
    before = sorted(os.listdir(tmp_path))

    with pytest.raises((InputError, typer.BadParameter)) as refused:
        run(full, line, option, path)

    assert "\n" not in str(refused.value)
    assert sorted(os.listdir(tmp_path)) == before
    assert kind != "read-only" or path.read_text() == "old"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_descriptor_is_written_from_its_place(tmp_path: Path) -> None:
    """What a shell has open, it goes on with: nothing before it is lost, and nothing after it overwrites."""
    with (tmp_path / "all").open("wb", buffering=0) as file:
        file.write(b"before ")
        write_text(Path(f"/proc/self/fd/{file.fileno()}"), "text")
        file.write(b" after")

    assert (tmp_path / "all").read_text() == "before text after"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "of another"
    path.write_text("old")
    os.chown(path, 12345, 12346)
    path.chmod(0o640)
    write_text(path, "new")

    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 12346, 0o640)
    assert path.read_text() == "new"


def test_reports_are_written_so_too(tmp_path: Path) -> None:
    """A page that is a link stays one."""
    from sentgen.evaluation.figures.report import write_files

    (tmp_path / "report").mkdir()
    write_files(tmp_path / "report", {"index.html": b"old"})
    (tmp_path / "report" / "index.html").rename(tmp_path / "page")
    (tmp_path / "report" / "index.html").symlink_to("../page")
    write_files(tmp_path / "report", {"index.html": b"new"})

    assert (tmp_path / "report" / "index.html").is_symlink()
    assert (tmp_path / "page").read_bytes() == b"new"
