"""What is in a store beside its counts: subcorpora, saved queries, pairs, parses, and the store as a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from sentgen.api import later
from sentgen.api import options as taken
from sentgen.api.arguments import signed
from sentgen.api.door import StoreSession, translated
from sentgen.api.tables import Table
from sentgen.counts import corpora
from sentgen.lookups import subcorpora
from sentgen.output import progress
from sentgen.schema import dictionary
from sentgen.schema.tables import saved

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.alignment.pairs.alignment import Pair
    from sentgen.counts.pair_ingestion import PairSummary
    from sentgen.schema.durability.repair import Repair
    from sentgen.schema.maintenance import Compaction


class StoreContents:
    """The part of a `Database` that keeps what is in the store."""

    _door: StoreSession

    def verify_corpus(self, name: str) -> Table:
        """Compare the sources of a corpus with the files on disk: `same`, `changed` or `missing`."""
        with self._door.reading() as store:
            return Table(corpora.status_rows(corpora.verify(store, name)))

    def export_corpus(self, name: str, to: str | Path, *, format: str = "conllu") -> tuple[str, ...]:
        """Write a corpus into a file; return what the format cannot hold, a line each.

        Args:
            name: the corpus.
            to: the file.
            format: conllu, docbin, tei or vertical.
        """
        with self._door.reading() as store, store.connect() as connection:
            found = later.exports.export(connection, name, format)
            with later.whole_file(Path(to)) as sink:
                sink.writelines(found.blocks)
            return tuple(found.lost)

    def cache_info(self) -> Table:
        """Say how many look-ups the caches of n-grams and trees served, and how many bytes they hold."""
        with self._door.reading() as store:
            return Table(later.caches.overview(store))

    # Subcorpora.

    def define_subcorpus(self, name: str, where: str, *, corpus: str | Sequence[str] = ()) -> int:
        """Define a subcorpus, usable wherever a corpus name is; return the number of its sentences.

        Args:
            name: its name.
            where: what the metadata of its sentences meet: `genre = academic and year >= 2010`.
            corpus: the corpora that it is of; none for all.
        """
        of = [corpus] if isinstance(corpus, str) else list(corpus)
        with self._door.writing() as store, store.begin() as connection:
            return subcorpora.define(connection, name, where, of)[1]

    def subcorpora(self) -> Table:
        """List the subcorpora with their corpora and conditions."""
        with self._door.reading() as store, store.connect() as connection:
            return Table(subcorpora.overview(connection))

    def subcorpus(self, name: str) -> Table:
        """Show the condition of a subcorpus, and how many sentences, tokens and documents it has."""
        with self._door.reading() as store, store.connect() as connection:
            return Table(subcorpora.properties(connection, name))

    def remove_subcorpus(self, name: str) -> None:
        """Remove a subcorpus; its sentences stay in their corpora."""
        with self._door.writing() as store, store.begin() as connection:
            subcorpora.remove(connection, name)

    # Saved queries.

    def save_query(self, name: str, words: str | Sequence[str], *, replace: bool = False) -> None:
        """Save a query under a name, as `sentgen saved add` does; it is not run, but checked.

        Args:
            name: its name.
            words: a command that looks into the counts, as you would type it: ``"kwic camp --sort left"``.
            replace: in place of an older one of this name.
        """
        with self._door.writing() as store, store.begin() as connection:
            query = later.saved_query.checked(connection, words)
            saved.save_query(connection, name, query.command, query.words, replace=replace)

    def saved_queries(self) -> Table:
        """List the saved queries, each with its command line."""
        with self._door.reading() as store, store.connect() as connection:
            return Table(saved.saved_rows(connection))

    def run_query(self, name: str, **more: object) -> Table:
        """Run a saved query, with other values of its options if you like: ``run_query("camp", limit=0)``."""
        with self._door.reading() as store:
            with store.connect() as connection:
                found = saved.find_saved(connection, name)
            query = later.saved_query.read(found.command, found.arguments)
            answer: Table = getattr(self, query.method)(**{**query.given, **more})
            return answer

    def remove_query(self, name: str) -> None:
        """Remove a saved query."""
        with self._door.writing() as store, store.begin() as connection:
            saved.remove_saved(connection, name)

    # Pairs of documents and abstracts, and parses.

    @signed(taken.PairOptions)
    def ingest_pairs(
        self, paths: str | Path | Sequence[str | Path], corpus: str, **options: Unpack[taken.PairOptions]
    ) -> PairSummary:
        """Read documents with their abstracts into a corpus; what it has already is not stored again."""
        listed = [paths] if isinstance(paths, (str, Path)) else list(paths)
        with self._door.writing() as store:
            return later.ingested_pairs(store, list(map(str, listed)), corpus, options)

    def pairs(self, corpus: str | None = None, *, statistics: bool = False, limit: int = 20) -> Table:
        """List the corpora of pairs, or the pairs of one.

        Args:
            corpus: a corpus of pairs.
            statistics: sentences, words and types of documents, abstracts and both, with means, instead.
            limit: rows; 0 for all.
        """
        with self._door.reading() as store:
            return first(
                lambda rows: later.list_pairs(store, corpus, statistics=statistics, limit=rows), limit
            )

    def pair(self, corpus: str, key: str | None = None) -> Pair:
        """Return a document with its abstract: the pair of a name, or the first one of a corpus."""
        with self._door.reading() as store:
            return next(later.stored_pairs(store, corpus, keys=() if key is None else (key,)))

    def parses(self) -> Table:
        """List the parsers whose parses the store has kept."""
        with self._door.reading() as store:
            return Table(later.parse_rows(store))

    def forget_parses(self, parser: str, *, version: str | None = None) -> int:
        """Remove the parses of a parser, or of one version of it; return how many texts they were of."""
        with self._door.writing() as store:
            return later.forget_parses(store, parser, version)

    # The store as a file.

    def schema(self, name: str | None = None) -> Table:
        """List the tables and views with what they hold, or the columns of one of them."""
        if name is not None:
            with translated():
                return Table(dictionary.column_rows(dictionary.relation(name)))
        with self._door.reading() as store:
            rows = {size.table: size.rows for size in later.maintenance.sizes(store)}
            return Table(dictionary.relation_rows(rows))

    def info(self) -> Table:
        """List the tables with their rows and bytes; versions and the size of the file are notes."""
        with self._door.reading() as store:
            told = [f"{name}: {value}" for name, value in later.maintenance.facts(store).items()]
            return Table(later.maintenance.size_rows(store), notes=told)

    def check_store(self, *, quick: bool = False) -> Table:
        """Check that everything in the store fits together: a row a check, and what cures one that failed.

        Args:
            quick: leave out what counts all tokens again.
        """
        with self._door.reading() as store, progress.steps("checking"):
            found = list(later.maintenance.check(store, later.model_checks(store, quick=quick), quick=quick))
            cures = [f"{one.check.name}: {one.check.cure}" for one in found if one.status == "failed"]
            return Table(later.maintenance.result_rows(found), notes=cures)

    def repair(self, *, backup: bool = True) -> Repair:
        """Remove what a killed process left half done; return that, and what is left to do.

        Args:
            backup: copy the store to a file beside it before anything is removed.
        """
        with self._door.apart() as path:
            return later.repair(path, backup=backup, memory_limit=self._door.memory // 2)

    def compact(self) -> Compaction:
        """Merge the counts of each corpus into one segment and give free space back to the disk."""
        with self._door.apart() as path:
            return later.maintenance.compact(path, memory_limit=self._door.memory // 2)


def first(ask: Callable[[int], pa.Table], limit: int) -> Table:
    """Return the first rows of a table, 0 for all, and whether there are more; ``ask`` gives some."""
    found = ask(limit + 1 if limit else 0)
    more = bool(limit) and found.num_rows > limit
    return Table(found.slice(0, limit) if more else found, truncated=more)
