"""Citations: the facts by which others find the same data.

A snapshot is identified by the hash of its bytes, and a lake by that of its manifest, which has the hashes of
all its files; both never change. A store changes: its citation says what was in it at a date.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import duckdb

from sentgen.output.wording import quantity
from sentgen.schema import snapshots
from sentgen.schema.manifests import PublishedCorpus, Snapshot, place_of
from sentgen.schema.places import MANIFEST, lake_at
from sentgen.schema.store import Store, fetch_arrow

Kind = Literal["snapshot", "lake", "store"]


@dataclass(frozen=True, slots=True)
class Citation:
    """The facts of a citation.

    Attributes:
        kind: store, snapshot or lake.
        name: name of the snapshot, or of the file or folder of a store or lake, without its parent folders.
        sha256: hash of the snapshot, or of the manifest of a lake; None of a store, which changes.
        date: the day of publication, in ISO 8601, or of the youngest corpus; None without corpora.
        corpora: name, sizes and licence of each corpus.
        query: the command line that gives what is cited; None for the data as a whole.
        software: versions of sentgen and DuckDB.
    """

    kind: Kind
    name: str
    sha256: str | None
    date: str | None
    corpora: tuple[PublishedCorpus, ...]
    query: str | None
    software: str

    @property
    def contents(self) -> list[str]:
        """Return a line for each corpus: its name, sizes and licence."""
        return [
            f"{corpus['name']} ({quantity(corpus['sentences'], 'sentence')}, "
            f"{quantity(corpus['tokens'], 'token')}, {corpus['licence'] or 'no licence given'})"
            for corpus in self.corpora
        ]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Return the facts as names and values, without those that are not known."""
        facts = [("query", self.query), ("data", f"{self.kind} {self.name}"), ("sha256", self.sha256)]
        facts += [("date", self.date), *(("corpus", line) for line in self.contents)]
        return [(name, value) for name, value in (*facts, ("software", self.software)) if value]

    @property
    def bibtex(self) -> str:
        """Return an entry for BibTeX."""
        names = ", ".join(corpus["name"] for corpus in self.corpora) or "no corpora"
        note = [f"SHA-256 {self.sha256}" if self.sha256 else "", f"Query: {self.query}" if self.query else ""]
        note += [self.software, *self.contents]
        fields = {
            "title": f"{names}: {self.kind} {self.name}",
            "year": (self.date or "")[:4],
            "howpublished": f"{self.kind.capitalize()} of sentgen",
            "note": "; ".join(filter(None, note)),
        }
        written = "".join(f"  {name} = {{{_tex(value)}}},\n" for name, value in fields.items() if value)
        key = "".join(c for c in Path(self.name).stem if c.isalnum() or c in "-_") or "sentgen"
        return f"@misc{{{key},\n{written}}}"


def cite(path: Path, query: str | None = None, *, names: Collection[str] = ()) -> Citation:
    """Return the citation of a store, a snapshot or a lake, or of the answer of a command line.

    Args:
        names: names of the corpora to cite; all if empty.

    Raises:
        NotFoundError: there is no such store, snapshot or lake.
    """
    software = f"sentgen {version('sentgen')}, DuckDB {duckdb.__version__}"
    path = place_of(path)
    if published := Snapshot.at(path):
        day = published.published_at[:10]
        corpora = _selected(published.corpora, names)
        return Citation("snapshot", published.name, published.sha256, day, corpora, query, software)
    lake = lake_at(path)
    with Store(path, read_only=True) as store, store.connect() as connection:
        corpora = _selected(fetch_arrow(connection, snapshots.CORPORA).to_pylist(), names)
        if lake:
            # A lake has no time of its own: the same rows make the same bytes.
            digest = hashlib.sha256(lake.read(MANIFEST)).hexdigest()
            return Citation("lake", path.name, digest, None, corpora, query, software)
        (latest,) = fetch_arrow(connection, _LATEST).to_pylist()
    day = latest["day"] and str(latest["day"])
    return Citation("store", path.name, None, day, corpora, query, software)


def _selected(corpora: Iterable[PublishedCorpus], names: Collection[str]) -> tuple[PublishedCorpus, ...]:
    return tuple(corpus for corpus in corpora if not names or corpus["name"] in names)


_LATEST = "select max(ingested_at)::date as day from source"
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(c, f"\\{c}" if c in "{}_%#&$" else c) for c in text)
