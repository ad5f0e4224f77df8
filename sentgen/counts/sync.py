"""Synchronize a corpus with its files: add new files, read changed ones again, and remove sources whose files
are gone; also remove single sources.

A file with the same size and time counts as unchanged; otherwise its content is compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import NoReturn

from sqlalchemy import Connection, func, select

from sentgen.corpus.encodings import UTF_8
from sentgen.corpus.formats import choose_reader, reader_named
from sentgen.corpus.parsers import Parser
from sentgen.corpus.paths import files_of, names_file, place_of, sources_of, unnamable
from sentgen.corpus.reader import Reader
from sentgen.corpus.sources import Source
from sentgen.counts import corpora
from sentgen.counts.batch import new_counter
from sentgen.counts.corpora import Sync
from sentgen.counts.ingestion import Progress, Summary, ingest_sources, version_of
from sentgen.counts.settings import CORPUS, CountedCorpus, Settings
from sentgen.counts.stored_sources import (
    SourceFile,
    StoredSource,
    StoredSources,
    file_of,
    remove_rejections,
    remove_sources,
)
from sentgen.errors import InputError, NotFoundError, StoreError, spell
from sentgen.schema import Store
from sentgen.schema.manifests import refuse_snapshot
from sentgen.schema.tables import corpus as tables

#: Settings of sources whose files are not recorded, as in a published store.
_UNKNOWN = "{}"


@dataclass(slots=True)
class Differences:
    """The differences between a corpus and its files.

    Attributes:
        corpus: name of the corpus.
        added: new files.
        replaced: files whose content has changed, or the version of their reader or parser.
        removed: sources whose file is gone, or has no text any more.
        kept: files of the corpus that no reader recognizes any more, with the reason; their sources are kept.
        unchanged: how many files are unchanged.
        notes: remarks, such as on files that cannot be read.
        summary: numbers of the ingestion, once the differences were applied.
    """

    corpus: str
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    unchanged: int = 0
    notes: list[str] = field(default_factory=list)
    summary: Summary | None = None
    #: Settings to the sources to read with them; and ids of the sources to remove.
    _reading: dict[str, list[Source]] = field(default_factory=dict, repr=False)
    _gone: list[int] = field(default_factory=list, repr=False)

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.removed)

    def apply(self, store: Store, *, parser: Parser | None = None, progress: Progress | None = None) -> None:
        """Read and remove sources; removals are in the transaction of the first sources that are read."""
        with store.connect() as connection:
            corpus = _single_corpus(connection, self.corpus)
        total, gone = Summary(self.corpus), self._gone
        for written, sources in self._reading.items():
            settings = _settings(self.corpus, corpus, written)
            done = ingest_sources(store, iter(sources), settings, parser=parser, progress=progress, gone=gone)
            total.add(done)
            total.types, gone = done.types, []
        if gone:
            _take_out(store, self.corpus, gone)
            total.removed += len(gone)
        self.summary = total


def compare(request: Sync, store: Store, *, parser: Parser | None = None) -> Differences:
    """Return the differences between a corpus and its files, and change nothing.

    Raises:
        NotFoundError: there is no such corpus.
        InputError: the corpus is one of pairs; a folder is missing or empty, which may be a disk that is not
            mounted, so that nothing is removed; or a file is not accessible.
        StoreError: the store is a snapshot or a lake, which does not have the paths of its sources.
    """
    cure = f"ask the store that it was made from, with {spell('db')}"
    refuse_snapshot(store.path, cure)
    if store.lake:
        raise StoreError(f"{store.path}: a lake is never changed; {cure}")
    with store.connect() as connection:
        corpus = _single_corpus(connection, request.name)
        stored = StoredSources(connection, corpus.id)
    return _Comparison(request, stored, parser).differences


class _Comparison:
    """Compares the sources of a corpus with the files on the disk."""

    def __init__(self, request: Sync, stored: StoredSources, parser: Parser | None) -> None:
        self.request, self.stored, self.parser = request, stored, parser
        self.differences = Differences(request.name)
        places = [os.path.abspath(path) for path in request.folder]
        self.looked_at = {
            source.id: source
            for source in stored.by_id.values()
            if _is_file(source) and (not places or any(_is_below(source.path, path) for path in places))
        }
        self._check_parser()
        # Of two sources with one path the later one counts, as of settings those of a folder's last file.
        self.by_path = {place_of(source.path): source for source in self.looked_at.values()}
        self.by_file = {path.partition("!")[0]: source for path, source in self.by_path.items()}
        self.by_folder = {
            source.file.folder: source.file for source in self.looked_at.values() if source.file
        }
        there: set[str] = set()
        for source in self._sources():
            if fault := unnamable(source):
                self.differences.notes.append(f"{source.name}: {fault}")
                continue
            path = place_of(source.name)
            if path not in there:
                there.add(path)
                self._compare(source, self.by_path.get(path))
        for path, gone in self.by_path.items():
            if path not in there:
                self._remove(gone)

    def _check_parser(self) -> None:
        parsed = next((source for source in self.looked_at.values() if "+" in source.version), None)
        if parsed and self.parser is None:
            name = parsed.version.partition("+")[2].partition("@")[0]
            raise InputError(
                f"{self.request.name} was parsed by {name}; give {spell('parser')} as it was given then"
            )

    def _sources(self) -> Iterator[Source]:
        """Yield the sources in folders, and those of recorded files that no folder has."""
        paths: dict[str, tuple[str, str]] = {}
        for folder in self._folders():
            for path, within in _files_in(folder):
                paths.setdefault(os.path.abspath(path), (path, within))
        for looked_at in self.looked_at.values():
            path = _file_of(looked_at)
            if path not in paths and _exists(path):
                name = looked_at.file.name.partition("!")[0] if looked_at.file else ""
                paths[path] = (name if name and os.path.abspath(name) == path else path, "")
        for path, folder in paths.values():
            settings = self._settings_of(os.path.abspath(path), folder)
            yield from sources_of(path, folder=folder, encoding=json.loads(settings).get("encoding", UTF_8))

    def _folders(self) -> list[str]:
        """Return the folders to walk: those of the request, or else those in which the sources were found."""
        known = sorted({folder for folder in self.by_folder if folder})
        given = [os.path.abspath(path) for path in self.request.folder]
        if not given and not known and self.looked_at:
            self.differences.notes.append(
                "no folder is known in which its files were found, so that nothing new is looked for; "
                f"name it: sentgen corpora sync {self.request.name} FOLDER"
            )
        folders = dict(zip(given, self.request.folder, strict=True)) if given else dict.fromkeys(known, "")
        if not given:
            for parent in sorted({os.path.dirname(folder) for folder in self.by_file}):
                if not os.path.isdir(parent) and not any(_is_below(parent, folder) for folder in known):
                    _refuse_missing(self.request.name, parent)
        for folder in folders:
            if not os.path.exists(folder):
                _refuse_missing(self.request.name, folder)
        return [self._spelling(folder, typed) for folder, typed in folders.items()]

    def _spelling(self, folder: str, typed: str) -> str:
        """Return a folder as the command that first read it spelled it, if that still is the same folder."""
        for source in self.looked_at.values():
            if source.file and source.file.folder == folder and source.file.name:
                below = len(source.path) - len(folder)
                spelled = source.file.name[:-below]
                if spelled and os.path.abspath(spelled) == folder:
                    return spelled
        return typed or folder

    def _settings_of(self, path: str, folder: str) -> str:
        """Return the settings to read a file with, as JSON: its own, or those of its folder's last file."""
        source = self.by_file.get(path)
        file = (source and source.file) or self.by_folder.get(os.path.abspath(folder))
        file = file or next(iter(self.by_folder.values()), None)
        return file.settings if file else _UNKNOWN

    def _compare(self, source: Source, stored: StoredSource | None) -> None:
        file = stored.file if stored else None
        recorded = self._settings_of(os.path.abspath(source.path), source.folder)
        twice = len(self.stored.at(source)) > 1
        if stored and file and not twice and self._is_same(source, stored, file):
            self.differences.unchanged += 1
            return
        settings = Settings(self.request.name, **json.loads(recorded))
        if stored and _is_blank(source):
            self._remove(stored)
            return
        reader = choose_reader(source, settings.format, settings.reading)
        if not isinstance(reader, Reader):
            if stored:
                self.differences.kept.append((source.name, reader))
            return
        content = (source.sha256(), reader.name, version_of(reader, self.parser))
        if stored and not twice and content == stored.content:
            self.differences.unchanged += 1
        elif stored:
            self.differences.replaced.append(source.name)
        elif (same := self.stored.same(content)) is None or not _exists(_file_of(same)):
            self.differences.added.append(source.name)
        self.differences._reading.setdefault(recorded, []).append(source)

    def _is_same(self, source: Source, stored: StoredSource, file: SourceFile) -> bool:
        """Return whether size, time and reader of a file are as when it was read."""
        settings = Settings(self.request.name, **json.loads(file.settings))
        reader = reader_named(stored.form).with_settings(settings.reading)
        now = file_of(source, settings)
        same = (now.size, now.modified) == (file.size, file.modified) and file.is_settled
        return same and version_of(reader, self.parser) == stored.version

    def _remove(self, stored: StoredSource) -> None:
        ids = [
            source.id for source in self.looked_at.values() if place_of(source.path) == place_of(stored.path)
        ]
        self.differences.removed.append(stored.path)
        self.differences._gone += ids


def _find_sources(store: Store, name: str, wanted: Sequence[str]) -> list[StoredSource]:
    """Return the sources of a corpus at paths: files, archives with all members, or folders.

    Raises:
        NotFoundError: there is no such corpus, or it has no source at one of the paths.
        InputError: the corpus is one of pairs.
    """
    with store.connect() as connection:
        corpus = _single_corpus(connection, name)
        stored = StoredSources(connection, corpus.id).by_id.values()
    matches: dict[int, StoredSource] = {}
    for path in wanted:
        places = {path, place_of(path)}
        named = [source for source in stored if any(_is_below(source.path, folder) for folder in places)]
        if not named:
            raise NotFoundError(
                f"{name} has no source {path}; its sources are listed by: sentgen corpora show {name}"
            )
        matches |= {source.id: source for source in named}
    return list(matches.values())


def remove_from(store: Store, name: str, sources: Sequence[str], *, dry_run: bool = False) -> tuple[int, int]:
    """Remove sources from a corpus, with their counts; return the number of their sentences and tokens.

    All of them are removed, or none. An empty corpus stays, with its settings.
    """
    ids = [source.id for source in _find_sources(store, name, sources)]
    columns = tables.source.c
    sums = select(func.sum(columns.sentences), func.sum(columns.tokens)).where(columns.id.in_(ids))
    with store.connect() as connection:
        sentences, tokens = map(int, connection.execute(sums).one())
    if not dry_run:
        _take_out(store, name, ids)
    return sentences, tokens


def _take_out(store: Store, name: str, ids: Sequence[int]) -> None:
    with store.begin(in_order=True) as connection:
        corpus = _single_corpus(connection, name)
        stored = StoredSources(connection, corpus.id)
        for number in ids:
            remove_rejections(connection, corpus.id, stored.by_id[number].path)
        with closing(new_counter(store, corpus)) as counter:
            remove_sources(connection, corpus.id, counter, sorted(ids))


def _single_corpus(connection: Connection, name: str) -> CountedCorpus:
    """Return a corpus whose sources can be added and removed one by one.

    Raises:
        NotFoundError: there is no corpus of that name.
        InputError: the corpus is one of pairs.
    """
    corpus = CountedCorpus.of_row(corpora.find(connection, name)._asdict())
    if corpus.kind != CORPUS:
        raise InputError(
            f"{name} is a corpus of pairs, whose sources do not go one by one; "
            f"sentgen corpora remove {name}, and ingest its pairs again"
        )
    return corpus


def _settings(name: str, corpus: CountedCorpus, recorded: str) -> Settings:
    """Return settings to read and count sources with: the recorded ones, and those of the corpus."""
    return Settings(
        name,
        **json.loads(recorded),
        lowercase=corpus.lowercase,
        order=corpus.max_order,
        tags=corpus.tags,
        function_heads=corpus.function_heads,
        replace=True,
    )


def _is_file(source: StoredSource) -> bool:
    """Return whether a source was read from a file, and not from a pipe, which cannot be read again."""
    return names_file(source.path) and (source.file is None or source.file.size is not None)


def _file_of(source: StoredSource) -> str:
    """Return the file of a source, the archive of a member."""
    path = place_of(source.path)
    return path if os.path.exists(path) else path.partition("!")[0]


def _is_below(path: str, folder: str) -> bool:
    """Return whether a path is the folder or file itself, a member of that archive, or below that folder.

    >>> [_is_below(path, "/a/b") for path in ("/a/b", "/a/b!c", "/a/b/c", "/a/bc")]
    [True, True, True, False]
    """
    return path == folder or path.startswith((f"{folder}!", folder.rstrip(os.sep) + os.sep))


def _exists(path: str) -> bool:
    """Return whether a path is a file.

    Raises:
        InputError: the path is not accessible, so that nobody knows whether the file exists.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InputError(
            f"cannot be looked at ({error.strerror}), so that nobody knows whether it is gone", path=path
        ) from error
    return os.path.isfile(path)


def _files_in(folder: str) -> list[tuple[str, str]]:
    try:
        return files_of(folder)
    except InputError as error:
        message = f"{error.message}, which is no reason to remove what was read from it"
        raise InputError(f"{message}; is its disk there?", path=error.path) from error


def _refuse_missing(name: str, missing: str) -> NoReturn:
    raise InputError(
        "no such folder or file, which is no reason to remove what was read from it; to do so: "
        f"sentgen corpora remove {name} --source {missing}",
        path=missing,
    )


def _is_blank(source: Source) -> bool:
    """Return whether a file has nothing but white space."""
    return not any(block.strip(b"\xef\xbb\xbf \t\r\n") for block in source.open().blocks())
