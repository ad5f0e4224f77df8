"""Read the snapshots of a folder from the manifests that `sentgen.schema.snapshots` writes."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from sentgen.errors import NotFoundError, StoreError, spell
from sentgen.schema.places import lake_at


class PublishedCorpus(TypedDict):
    """The entry of a corpus in manifests and citations."""

    name: str
    licence: str | None
    sentences: int
    tokens: int


class PublishedModel(TypedDict):
    """The entry of a model in manifests."""

    name: str
    version: int
    order: int
    smoothing: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A published store.

    Attributes:
        path: the file.
        sha256: SHA-256 of the file.
        bytes: size of the file.
        published_at: time of publication, in ISO 8601 and UTC; the newest snapshot is served.
        corpora: the entries of its corpora.
        models: the entries of its models.
        versions: versions of sentgen, DuckDB and the schema.
    """

    path: Path
    sha256: str
    bytes: int
    published_at: str
    corpora: tuple[PublishedCorpus, ...]
    models: tuple[PublishedModel, ...]
    versions: dict[str, str]

    @property
    def name(self) -> str:
        """Return the name of the snapshot: that of its file, without the extension."""
        return self.path.stem

    def named(self, corpora: Collection[str]) -> list[str]:
        """Return the names among ``corpora`` of which the snapshot has a corpus."""
        return [each["name"] for each in self.corpora if each["name"] in corpora]

    @property
    def manifest(self) -> Path:
        """Return the path of the manifest."""
        return self.path.with_suffix(".json")

    @classmethod
    def all_in(cls, folder: Path) -> list[Snapshot]:
        """Return the snapshots of a folder, oldest first.

        Raises:
            NotFoundError: there is no such folder.
        """
        if not folder.is_dir():
            raise NotFoundError(
                f"{folder}: no such folder; make snapshots with: sentgen publish --to {folder}"
            )
        read = (cls.read(path) for path in folder.glob("sentgen-*.json"))
        return sorted(
            (snapshot for snapshot in read if snapshot),
            key=lambda snapshot: (snapshot.published_at, snapshot.name),
        )

    @classmethod
    def newest(cls, folder: Path) -> Snapshot:
        """Return the snapshot that was published last.

        Raises:
            NotFoundError: the folder has no snapshot.
        """
        published = cls.all_in(folder)
        if not published:
            raise NotFoundError(f"{folder}: no snapshot here; make one with: sentgen publish --to {folder}")
        return published[-1]

    @classmethod
    def at(cls, path: Path) -> Snapshot | None:
        """Return the snapshot with this file; ``None`` if the file belongs to no snapshot."""
        return cls.read(path.with_suffix(".json")) if path.name.startswith("sentgen-") else None

    @classmethod
    def read(cls, manifest: Path) -> Snapshot | None:
        """Return the snapshot of a manifest; ``None`` if the manifest or its file is missing or wrong."""
        try:
            values = json.loads(manifest.read_text(encoding="utf-8"))
            path = manifest.with_suffix(".duckdb")
            # Only the size is compared here, as a listing must not read gigabytes; servers compare the hash.
            if values.pop("file") != path.name or path.stat().st_size != values["bytes"]:
                return None
            values["corpora"], values["models"] = tuple(values["corpora"]), tuple(values["models"])
            return cls(path=path, **values)
        except (OSError, ValueError, KeyError, TypeError):
            return None


def place_of(path: Path) -> Path:
    """Return the file or folder that is opened for a path: the newest snapshot of a folder, else the path.

    Raises:
        NotFoundError: there are manifests, and no snapshot to any of them.
        StoreError: the path is a pipe or a device, on which opening would wait; or its links form a circle.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be opened: {error.strerror}; choose another {spell('db')}"
        ) from error
    if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise StoreError(f"{path}: no file, but a pipe or a device; choose another {spell('db')}")
    published = path.is_dir() and not lake_at(path) and any(path.glob("sentgen-*.json"))
    return Snapshot.newest(path).path if published else path


def refuse_snapshot(path: Path, cure: str) -> None:
    """Refuse to write to a snapshot; its mode, read-only, does not stop an administrator.

    Raises:
        StoreError: the path is a snapshot.
    """
    if Snapshot.at(path):
        raise StoreError(f"{path}: a snapshot is never changed; {cure}")
