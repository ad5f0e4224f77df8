"""Places of lakes: local folders, or buckets opened through fsspec."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING

from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.schema.engine import translated_errors
from sentgen.schema.folders import draft
from sentgen.system.files import replace, sync_folder

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


MANIFEST = "manifest.json"
#: A URL, also with the single slash to which `pathlib.Path` shortens it; ``file:`` is local.
_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL)


def lake_at(path: Path | str) -> Place | None:
    """Return the place of a lake if the path is a URL or a folder with a manifest, else ``None``."""
    lake = Place(path)
    return lake if lake.files is not None or lake.exists(MANIFEST) else None


class Place:
    """A folder of files, local or not; paths below it have forward slashes.

    Args:
        root: a local folder, or a URL such as ``s3://bucket/lake``.

    Raises:
        InputError: the folder is a URL, and fsspec or what it needs for such URLs is not installed.
    """

    def __init__(self, root: PurePath | str) -> None:
        # On Windows, a path made from a URL has backslashes.
        url = _URL.fullmatch(root.as_posix() if isinstance(root, PurePath) else root)
        #: The file system of a bucket; ``None`` for a local folder.
        self.files: AbstractFileSystem | None = None
        if url and url[1] != "file":
            root = f"{url[1]}://{url[2].rstrip('/')}"
            self.files = _file_system(url[1], root)
            # Spelled as DuckDB spells it, which compares the URLs of files with those of `allowed_paths`.
            self.root = str(self.files.unstrip_protocol(self.files._strip_protocol(root)))
        else:
            if url:
                root = url[2] if os.path.splitdrive(url[2])[0] else f"/{url[2]}"
            self.root = os.path.abspath(root)

    def __str__(self) -> str:
        return self.root

    def path(self, name: str) -> str:
        """Return the absolute path or the URL of a file in this folder."""
        return f"{self.root}/{name}"

    def exists(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        if self.files is None:
            return os.path.isfile(self.path(name))
        return bool(self.files.isfile(self.path(name)))

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with translated_errors(Path(self.path(name))), self.open(name) as file:
            return file.read()

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading."""
        if self.files is None:
            return open(self.path(name), "rb")
        opened: IO[bytes] = self.files.open(self.path(name), "rb")
        return opened

    def write(self, name: str, content: bytes) -> None:
        """Write a file completely or not at all: under another name, which is then changed."""
        with self.draft() as (file, keep):
            file.write(content)
            keep(name)

    @contextmanager
    def draft(self) -> Iterator[tuple[IO[bytes], Callable[[str], None]]]:
        """Open a temporary file, with a function that gives it its name when it is complete.

        Without a name, the file is removed at the end. For a bucket, the temporary file is on this machine,
        as files of a bucket are visible only when they are complete.
        """
        folder = Path(tempfile.gettempdir())
        if self.files is None:
            folder = Path(self.root)
            folder.mkdir(parents=True, exist_ok=True)
        with translated_errors(Path(self.root)), draft(folder) as (file, path):

            def keep(name: str) -> None:
                file.flush()
                os.fsync(file.fileno())
                file.close()  # Windows renames nothing that is open
                self._place(path, name)

            yield file, keep

    def _place(self, draft: str, name: str) -> None:
        if self.files is not None:
            self.files.put_file(draft, self.path(name))
            return
        target = Path(self.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        # The files of a lake never change: their mode protects them even if all other checks fail.
        os.chmod(draft, 0o444)
        replace(draft, target)
        sync_folder(target.parent)


def _file_system(scheme: str, url: str) -> AbstractFileSystem:
    with needs("cluster", "fsspec"):
        import fsspec
    try:
        return fsspec.filesystem(scheme)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url}: {' '.join(str(error).split())}") from error
