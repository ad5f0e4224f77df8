"""From the paths of a command line to sources: files, folders, globs, `-` and archives."""

from __future__ import annotations

import glob
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack
from dataclasses import replace

from sentgen import temporary
from sentgen.corpus.encodings import UTF_8
from sentgen.corpus.sources import BLOCK_BYTES, BROKEN, COMPRESSED, TABLE, Source
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError
from sentgen.system.files import open_to_read

#: Archives that are one document each, or one table.
DOCUMENTS = (".docx", ".odt", ".epub", ".xlsx", ".xlsm", ".ods")


def expand(paths: Sequence[str], *, encoding: str = UTF_8) -> Iterator[Source]:
    """Yield the sources that the arguments name: files, folders, globs, `-` and archives.

    Folders are walked recursively in sorted order without hidden files and folders, and without what belongs
    to a store; a zip archive gives a source for each member. All arguments are looked up before the first
    source is yielded.

    Raises:
        InputError: An argument names nothing.
    """
    files = [file for path in paths for file in files_of(path)]
    if not files:
        raise InputError("no input; name files, folders or `-`")
    return (source for path, folder in files for source in sources_of(path, folder=folder, encoding=encoding))


def sources_of(path: str, *, folder: str = "", encoding: str = UTF_8) -> Iterator[Source]:
    """Yield the source that a file is, or the members of an archive.

    ``folder`` is the one in which it was found; empty if the file itself was named.
    """
    for source in _sources(path, not folder):
        yield replace(source, encoding=encoding, folder=folder)


def place_of(name: str) -> str:
    """Return the name of a source that is valid in any folder: with an absolute path, if it is a file.

    Raises:
        InputError: the name is not valid text, so that it cannot be stored.
    """
    path, mark, member = name.partition("!")
    full_name = name if not names_file(name) else f"{os.path.abspath(path)}{mark}{member}"
    if not _is_text(full_name):
        part = "name" if not _is_text(name) else "folder"
        raise InputError(
            f"the {part} of this file is not UTF-8; rename it", path=name if part == "name" else full_name
        )
    return full_name


def names_file(name: str) -> bool:
    """Return whether the name of a source is that of a file: not of a stream, nor of a table in memory."""
    return name != "-" and not name.startswith(TABLE)


def unnamable(source: Source) -> str:
    """Return the reason why the name of a source cannot be stored; empty if it can.

    Raises:
        InputError: the name cannot be stored, and the user gave it, rather than a folder with the file.
    """
    try:
        place_of(source.name)
    except InputError as error:
        if source.explicit:
            raise
        return error.message
    return ""


def _is_text(name: str) -> bool:
    # Python decodes bytes of a path that are not UTF-8 as lone surrogates.
    return not any("\ud800" <= character <= "\udfff" for character in name)


def source_at(name: str) -> Source:
    """Return the one source with exactly this name (`archive.zip!member` included)."""
    path, mark, member = name.partition("!")
    if os.path.exists(name) or not mark:
        return next(_sources(name, True))
    for source in _sources(path, True):
        if source.member == member:
            return source
    raise InputError("no such file", path=name)


def files_of(path: str) -> list[tuple[str, str]]:
    """Return the files that a path names, each with the folder in which it was found, or an empty string."""
    if path.startswith(TABLE):  # a file whose name begins with the prefix of tables in memory
        path = os.path.join(os.curdir, path)
    if path == "-" or (os.path.exists(path) and not os.path.isdir(path)):
        return [(path, "")]
    if os.path.isdir(path):
        files = _walk(path)
        if not files:
            raise InputError("the folder has no files", path=path)
        return files
    if glob.has_magic(path):
        matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
        if not matches:
            raise InputError("no file matches", path=path)
        return [(match, "") for match in matches]
    raise InputError("no such file or folder", path=path)


def _walk(folder: str) -> list[tuple[str, str]]:
    result = []
    for parent, folders, names in os.walk(folder):
        files = set(names)
        folders[:] = sorted(name for name in folders if not _is_skipped(parent, name, files))
        full = (os.path.join(parent, name) for name in names if not _is_skipped(parent, name, files))
        result += [(path, folder) for path in full if os.path.isfile(path)]
    return sorted(result)


def _is_skipped(parent: str, name: str, files: Set[str]) -> bool:
    """Return whether a file or folder is hidden, or belongs to a store beside it, as STORE.lock does."""
    dots = (index for index, character in enumerate(name) if character == ".")
    return any(
        not dot or (name[:dot] in files and _is_duckdb(os.path.join(parent, name[:dot]))) for dot in dots
    )


def _is_duckdb(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def _sources(path: str, explicit: bool) -> Iterator[Source]:
    if path == "-" or not os.path.isfile(path):
        yield _spool_stream(path)
        return
    try:
        with open(path, "rb") as file:
            compression = _compression_of(file.read(6))
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", path=path) from error
    if path.endswith((".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")):
        raise InputError("tar archives are not read; unpack it and name the folder", path=path)
    if compression == "zip" and not path.lower().endswith(DOCUMENTS):
        yield from _members(path)
    else:
        compression = "" if compression == "zip" else compression
        yield Source(path, path, os.path.getsize(path), compression, explicit=explicit)


def _members(path: str) -> Iterator[Source]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
    except BROKEN as error:
        raise InputError(f"cannot read this zip: {error}", path=path) from error
    if len(members) > LIMITS.archive_members:
        raise InputError(f"more than {LIMITS.archive_members} members; unpack it", path=path)
    shown = [info for info in members if not _is_hidden(info.filename)]
    if not shown:
        raise InputError("the archive has no files", path=path)
    # Sorted as files in folders, so that repacking an archive does not change the order of a corpus.
    for info in sorted(shown, key=lambda info: info.filename):
        member = info.filename
        name = f"{path}!{member}"
        if member.lower().endswith((*COMPRESSED, ".zip")):
            raise InputError("an archive inside an archive is not read; unpack it", path=name)
        yield Source(name, path, info.compress_size, "zip", member, explicit=False)


def _is_hidden(member: str) -> bool:
    return any(part.startswith(".") and part != ".." for part in member.split("/")) or "__MACOSX" in member


def _spool_stream(path: str) -> Source:
    """Copy a stream that can be read only once to a temporary file that lives as long as its source."""
    most = min(LIMITS.stream_bytes, LIMITS.expanded_bytes)
    size = line_bytes = 0
    begin = b""
    try:
        spool = temporary.Spool()
        with ExitStack() as stack:
            stream = sys.stdin.buffer if path == "-" else stack.enter_context(open_to_read(path))
            while block := stream.read(BLOCK_BYTES):
                begin = begin or block[:6]
                size += spool.write(block)
                if size > most:
                    message = (
                        f"more than {most} bytes, the limit of a stream; write it to a file and name that"
                    )
                    raise InputError(message, path=path)
                line_end = block.rfind(b"\n")
                line_bytes = len(block) - line_end - 1 if line_end >= 0 else line_bytes + len(block)
                # The limit of `LineReader`, at 4 bytes a character; a device may never end.
                is_binary = _compression_of(begin) or begin.startswith((b"%PDF", b"PAR1"))
                if line_bytes > 4 * LIMITS.line_length and not is_binary:
                    message = f"a line is longer than {LIMITS.line_length} characters, the limit"
                    raise InputError(message, path=path)
    except OSError as error:  # missing, a folder, a terminal without a user, or no disk space for the copy
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error
    compression = _compression_of(begin)
    if compression == "zip":
        raise InputError("a zip archive cannot come through a pipe; name the file", path=path)
    return Source(path, spool.path, size, compression, _spool=spool)


def _compression_of(magic: bytes) -> str:
    """Return the compression of a file by its first bytes, as in `Source`."""
    known = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"PK\3\4": "zip", b"PK\5\6": "zip"}
    return next((name for start, name in known.items() if magic.startswith(start)), "")
