"""A store from Python: everything that commands do with it, in one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from sentgen.api import options as taken
from sentgen.api.arguments import corpora_in, declare, table_or_paths, with_signatures
from sentgen.api.contents import StoreContents, listing
from sentgen.api.session import StoreSession, session_of
from sentgen.api.tables import Table
from sentgen.counts import corpora
from sentgen.counts.document_tables import DocumentTable, JoinedTable
from sentgen.errors import NotFoundError
from sentgen.lookups.base.question import Question
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.sorting import NONE
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.options import parse_size
from sentgen.output import progress
from sentgen.schema import readonly
from sentgen.schema.guard import require_harmless
from sentgen.schema.places import lake_at
from sentgen.schema.store import raw

if TYPE_CHECKING:
    from sentgen.api.generating import FusedSentences, Sentences
    from sentgen.api.hits import Hits
    from sentgen.api.language_models import LanguageModel
    from sentgen.api.lines import LineSet
    from sentgen.api.texts import AlignedTexts, CheckedSummary
    from sentgen.corpus.frames import Tabular
    from sentgen.counts.ingestion import Summary
    from sentgen.counts.sync import Differences
    from sentgen.desk.backup import Backup
    from sentgen.models.surprisal import Application
    from sentgen.schema.citation import Citation
    from sentgen.schema.snapshots import Publication


@with_signatures
class Database(StoreContents):
    """An open store, lake or snapshot; a context manager that closes it. `sentgen.open` makes one.

    Several threads may use it; they come in turn.
    """

    def __init__(self, session: StoreSession) -> None:
        self._session = session_of(session, "sentgen.open(path)")

    @property
    def path(self) -> Path:
        """The file, or the lake."""
        return self._session.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return bool(self._session.why_read_only)

    def __repr__(self) -> str:
        how = "" if self._session.is_open else ", closed"
        return f"<sentgen.Database {self.path}{', read only' if self.read_only else ''}{how}>"

    def close(self) -> None:
        """Close the store; what was committed is on the disk."""
        self._session.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What is in the store.

    def ingest(
        self,
        paths: str | Path | Sequence[str | Path] | Tabular,
        corpus: str,
        **options: Unpack[taken.IngestOptions],
    ) -> Summary:
        """Read files, folders, globs or archives, or a table in memory, into a corpus, and count them.

        What is in the corpus already, by content, is not read again.
        """
        from sentgen.corpus.frames import source_of
        from sentgen.corpus.parsers import open_parser
        from sentgen.counts import ingestion

        table, files = table_or_paths(paths)
        table_name = options.pop("table_name", None)
        with self._session.write() as store:
            name = options.pop("parser", None)
            parser = None if name is None else open_parser(name)
            settings = declare(ingestion.Settings, {"corpus": corpus, **options})
            sources = None if table is None else [source_of(table, table_name or corpus)]
            with progress.ingestion_bar(corpus) as report:
                return ingestion.ingest(store, sources or files, settings, parser=parser, progress=report)

    def corpora(self) -> Table:
        """List the corpora with their sizes and licences."""
        return listing(self._session, "corpora")

    def corpus(
        self, name: str, *, rejected: bool = False, regions: bool = False, metadata: bool = False
    ) -> Table:
        """List the sources of a corpus, or its regions, its metadata, or the sentences that were refused."""
        request = corpora.Corpus(name=name, rejected=rejected, regions=regions, metadata=metadata)
        with self._session.read() as store:
            return Table(request.show(store))

    def add_metadata(
        self, name: str, table: str | Path | Tabular, **options: Unpack[taken.DocumentTableOptions]
    ) -> JoinedTable:
        """Give documents of a corpus the columns of a table about them, a file or in memory, as metadata.

        Given again, the table says what it says now and nothing else.
        """
        from sentgen.corpus.frames import source_of

        frame, files = table_or_paths(table)
        table_name = options.pop("table_name", None)
        source = None if frame is None else source_of(frame, table_name or name)
        path = source.name if source else " ".join(files)
        request = declare(DocumentTable, {"name": name, "table": path, **options})
        with self._session.write() as store:
            return request.join(store, source=source)

    def remove_corpus(self, name: str, *, source: str | Path | Sequence[str | Path] = ()) -> tuple[int, int]:
        """Remove a corpus with all its counts, or some of its sources; return their sentences and tokens.

        Args:
            name: the corpus.
            source: only what was read from this file, archive or folder, or from several.
        """
        from sentgen.counts import sync

        sources = [source] if isinstance(source, (str, Path)) else list(source)
        with self._session.write() as store:
            if sources:
                return sync.remove_from(store, name, list(map(str, sources)))
            return corpora.remove(store, name)

    def sync(
        self,
        name: str,
        folder: str | Path | Sequence[str | Path] = (),
        *,
        dry_run: bool = False,
        **options: Unpack[taken.SyncOptions],
    ) -> Differences:
        """Add what is new in the folders of a corpus, read again what has changed, and remove what is gone.

        Files are read as they were before. One is the same if its size and time are, else if its content is.

        Args:
            name: the corpus.
            folder: folders, or files, to compare it with; those that it was read from, if none is given.
            dry_run: only say what differs.
        """
        from sentgen.corpus.parsers import open_parser
        from sentgen.counts import sync

        folders = [folder] if isinstance(folder, (str, Path)) else list(folder)
        request = declare(corpora.Sync, {"name": name, "folder": list(map(str, folders))})
        parser_name = options.pop("parser", None)
        parser = None if parser_name is None else open_parser(parser_name)
        with self._session.read() if dry_run else self._session.write() as store:
            differences = sync.compare(request, store, parser=parser)
            if not dry_run:
                with progress.ingestion_bar(name) as report:
                    differences.apply(store, parser=parser, progress=report)
        return differences

    def publish(
        self, to: str | Path, *, corpus: str | Sequence[str] = (), keep: int | None = None
    ) -> Publication:
        """Copy the store, as it is now, into a folder of snapshots, where `sentgen serve` finds it.

        Args:
            to: the folder; made if need be.
            corpus: publish these alone, and what is made of them alone; all if none.
            keep: remove all but so many of the newest snapshots.
        """
        from sentgen.schema import snapshots

        names = [corpus] if isinstance(corpus, str) else corpus
        with self._session.release(), progress.steps("publishing"):
            half = self._session.memory // 2
            return snapshots.publish(self.path, Path(to), corpora=names, keep=keep, memory_limit=half)

    def backup(
        self,
        to: str | Path,
        *,
        keep: int | None = None,
        quick: bool = False,
        desk: str | Path | None = None,
    ) -> Backup:
        """Copy the store and its line sets into a new folder of backups, and check the copy.

        Args:
            to: the folder of backups; made if need be.
            keep: remove all but so many of the newest backups.
            quick: leave out what counts all tokens again.
            desk: the file with the line sets; `study.desk` beside `study.duckdb` if none is given.
        """
        from sentgen.desk.backup import back_up

        desk_path = None if desk is None else Path(desk)
        with self._session.release(), progress.steps("backing up"):
            half = self._session.memory // 2
            return back_up(self.path, Path(to), desk=desk_path, keep=keep, quick=quick, memory_limit=half)

    def cite(self, query: str | None = None) -> Citation:
        """Say how to cite the data, or what a query finds in them: `lines` for reading, and `bibtex`.

        Args:
            query: what was asked, as it should be read, such as ``db.kwic("home", corpus="news")``; only
                corpora that it names are cited.
        """
        from sentgen.schema import citation

        corpus_names, selected = corpora_in(query or ""), tuple[str, ...]()
        if corpus_names:
            with self._session.read() as store, store.connect() as connection:
                selected = Selection.named(connection, corpus_names).names
        with self._session.release():
            return citation.cite(self.path, query, names=selected)

    def sql(
        self, query: str, parameters: Sequence[object] | Mapping[str, object] = (), *, limit: int = 0
    ) -> Table:
        """Run one SELECT over the tables and views; it cannot change anything, nor read files.

        Args:
            query: the query.
            parameters: values of ``?``, in their order, or those of ``$name`` by name.
            limit: rows at most; 0 for all.
        """
        with self._session.read() as store, store.connect() as connection:
            duck = raw(connection)
            require_harmless(duck, query)
            answer = readonly.ask(duck, query, parameters, max_rows=limit)
            return Table(answer.table, sql=query, truncated=answer.truncated)

    # Questions to the counts.

    def _ask(self, kind: type[Question], given: Mapping[str, object]) -> Table:
        request = declare(kind, given)
        with self._session.read() as store, store.connect() as connection:
            answer = request.ask(connection)
        return Table._of(answer, self._session.drawer(request, answer))

    def ngrams(self, pattern: str, **options: Unpack[taken.NgramsOptions]) -> Table:
        """Count the n-grams that match a pattern of 1 to 5 words, such as ``in the *``."""
        return self._ask(Ngrams, {"pattern": pattern, **options})

    def dependencies(
        self, head: str, modifier: str = "*", **options: Unpack[taken.DependenciesOptions]
    ) -> Table:
        """Count the dependencies between a head and its modifiers."""
        return self._ask(Dependencies, {"head": head, "modifier": modifier, **options})

    def arguments(self, word: str, **options: Unpack[taken.ArgumentsOptions]) -> Table:
        """Count how many modifiers a word takes on each side."""
        return self._ask(Arguments, {"word": word, **options})

    def kwic(self, pattern: str = "", **options: Unpack[taken.KwicOptions]) -> Table:
        """Show words in context: ``un*``, ``lemma:go``, ``fell/VBD``, or CQL as ``[lemma="go"] "home"``."""
        given = {"pattern": pattern, **options}
        question = declare(Kwic, given)
        if question.count or question.places or question.sort == NONE:
            return self._ask(Kwic, given)
        from sentgen.api.hits import SortedLines

        return SortedLines.ask(self._session, question)

    def match(self, request: str, **options: Unpack[taken.MatchOptions]) -> Hits:
        """Find where a Grew request matches the trees, such as ``pattern { V -[nsubj]-> S }``."""
        from sentgen.api.hits import Hits

        return Hits(self._session, declare(Match, {"request": request, **options}))

    def frequencies(self, by: str | Sequence[str] = (), **options: Unpack[taken.FrequenciesOptions]) -> Table:
        """Count words, lemmas, tags or relations, or what a query matches by attributes of it."""
        return self._ask(Frequencies, {"by": by, **options})

    def collocations(self, word: str = "", **options: Unpack[taken.CollocationsOptions]) -> Table:
        """Find what occurs with a word more often than chance."""
        return self._ask(Collocations, {"word": word, **options})

    def sketch(self, word: str, **options: Unpack[taken.SketchOptions]) -> Table:
        """Find the strongest collocates of a word in each dependency relation."""
        return self._ask(Sketch, {"word": word, **options})

    def thesaurus(self, word: str, **options: Unpack[taken.ThesaurusOptions]) -> Table:
        """Find words of the same class that have the same collocates."""
        return self._ask(Thesaurus, {"word": word, **options})

    def keyness(
        self,
        corpus: str | Sequence[str],
        against: str | Sequence[str],
        **options: Unpack[taken.KeynessOptions],
    ) -> Table:
        """Find what is more frequent in some corpora than in others."""
        return self._ask(Keywords, {"corpus": corpus, "against": against, **options})

    # Lines to label.

    def new_lines(self, name: str, pattern: str = "", **options: Unpack[taken.NewLinesOptions]) -> LineSet:
        """Make a set of the lines that a query finds, beside the store, to label them."""
        from sentgen.api import lines

        return lines.new_line_set(self._session, {"name": name, "pattern": pattern, **options})

    def lines(self, name: str) -> LineSet:
        """Return a set of lines."""
        from sentgen.api import lines

        return lines.line_set(self._session, name)

    def line_sets(self) -> Table:
        """List the sets of lines, with how many have a label, and who labeled."""
        from sentgen.api import lines

        return lines.line_sets_of(self._session)

    # Models, and what they make.

    def build_model(
        self, name: str, corpora: str | Sequence[str], **options: Unpack[taken.BuildOptions]
    ) -> LanguageModel:
        """Build the next version of a language model from the counts of corpora."""
        from sentgen.api import language_models

        return language_models.build_model(self._session, name, corpora, options)

    def apply_model(self, name: str, corpora: str | Sequence[str]) -> Application:
        """Store the surprisal of each token of corpora by a model, which queries then ask for.

        Of those sentences that do not have it; the answer counts them.
        """
        from sentgen.api import language_models

        return language_models.apply_model(self._session, name, corpora)

    def mix_models(
        self, name: str, of: str | Sequence[str], **options: Unpack[taken.MixOptions]
    ) -> LanguageModel:
        """Mix models into one, by linear interpolation: the next version of a model."""
        from sentgen.api import language_models
        from sentgen.models import mix

        return language_models.derive_model(
            self._session, mix.MixRequest, {**options, "name": name, "of": of}
        )

    def prune_model(self, name: str, of: str, **options: Unpack[taken.PruneOptions]) -> LanguageModel:
        """Make a smaller model: without the n-grams that tell least, or without rare ones."""
        from sentgen.api import language_models
        from sentgen.models import prune

        return language_models.derive_model(
            self._session, prune.PruneRequest, {**options, "name": name, "of": of}
        )

    def compare_models(self, models: str | Sequence[str], **options: Unpack[taken.CompareOptions]) -> Table:
        """Compare models on a text: perplexities with intervals, and what each knows of it."""
        from sentgen.api import language_models

        return language_models.compare_models(self._session, models, options)

    def model(self, name: str) -> LanguageModel:
        """Return a language model: the newest version of its name, or ``NAME@VERSION``."""
        from sentgen.api.language_models import LanguageModel
        from sentgen.models.base import registry

        with self._session.read() as store:
            return LanguageModel(self._session, registry.find(store, name))

    def models(self) -> Table:
        """List the language models with their settings, and whether they are stale."""
        return listing(self._session, "models")

    def import_model(self, name: str, file: str | Path) -> LanguageModel:
        """Store an ARPA file, plain or gzipped, as the next version of a model."""
        from sentgen.api.language_models import LanguageModel
        from sentgen.models.arpa import import_arpa

        with self._session.write() as store, progress.steps(name) as report:
            return LanguageModel(self._session, import_arpa(store, name, Path(file), progress=report))

    def remove_model(self, name: str) -> list[str]:
        """Remove a model with all versions, or ``NAME@VERSION``; return what was removed."""
        from sentgen.models.base import registry

        with self._session.write() as store:
            return [model.label for model in registry.remove(store, name)]

    # Vectors of words.

    def build_vectors(
        self, name: str, corpora: str | Sequence[str], **options: Unpack[taken.VectorOptions]
    ) -> Table:
        """Build vectors of the words of corpora; return a row with their settings."""
        from sentgen.api import language_models

        return language_models.build_vectors(self._session, name, corpora, options)

    def vectors(self) -> Table:
        """List the vectors with their settings."""
        return listing(self._session, "vectors")

    def near(self, word: str, **options: Unpack[taken.NearOptions]) -> Table:
        """Find the words whose vectors are nearest to that of a word, or of a phrase."""
        from sentgen.models.vectors import Near

        return self._ask(Near, {"word": word, **options})

    def remove_vectors(self, name: str) -> None:
        """Remove vectors."""
        from sentgen.models import vectors

        with self._session.write() as store:
            vectors.remove(store, name)

    # What there is to choose from, plug-ins included; their faults are notes.

    def formats(self) -> Table:
        """List the formats of corpora that can be read."""
        return listing(self._session, "formats")

    def algorithms(self) -> Table:
        """List the algorithms that order bags, with their settings."""
        return listing(self._session, "algorithms")

    def aligners(self) -> Table:
        """List the systems that align texts, with their settings."""
        return listing(self._session, "aligners")

    def scorers(self) -> Table:
        """List the scorers of sentences, which plug-ins add."""
        return listing(self._session, "scorers")

    # Texts.

    def align(
        self, document: str | Path, abstract: str | Path, **options: Unpack[taken.AlignOptions]
    ) -> AlignedTexts:
        """Show where each phrase of a summary comes from in its document, and which words are new.

        Both are texts; a `pathlib.Path` is a file with one.
        """
        from sentgen.api import texts

        return texts.align(self._session, document, abstract, options)

    def generate(self, file: str | Path | None = None, **options: Unpack[taken.GenerateOptions]) -> Sentences:
        """Make the most probable sentences of each length from the words of related sentences with trees.

        A cluster is a text, such as CoNLL-U, or a `pathlib.Path` of a file; a document of it is a cluster of
        its own. ``lengths=(5, 20)`` asks for each length from 5 to 20.
        """
        from sentgen.api import generating

        return generating.generate(self._session, file, options)

    def fuse(
        self, key: int | str | Path, related: str | Path, **options: Unpack[taken.FuseOptions]
    ) -> FusedSentences:
        """Make one new sentence of a key sentence and what related ones say beside it.

        The key is the number or the ``sent_id`` of a related sentence, its text, itself as CoNLL-U, or a
        `pathlib.Path` of a file with it; the related sentences are a text, such as CoNLL-U, or a
        `pathlib.Path` of a file. All need trees, or a ``parser``.
        """
        from sentgen.api import generating

        return generating.fuse(self._session, key, related, options)

    def check(
        self, summary: str | Path, against: str | Path, **options: Unpack[taken.CheckOptions]
    ) -> CheckedSummary:
        """Check which words and verb arguments of a summary have support in its sources.

        Both are texts, of which verb arguments are checked if both have trees, such as CoNLL-U, or there is a
        ``parser``; a `pathlib.Path` is a file.
        """
        from sentgen.api import texts

        return texts.check(self._session, summary, against, options)


def open(  # as sqlite_utils, gzip and others call it
    path: str | PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    memory_limit: int | str | None = None,
    desk: str | PathLike[str] | None = None,
) -> Database:
    """Open a store.

    A lake, a snapshot and a folder of snapshots, of which the newest is taken, are only read. While nothing
    is written, other processes can read the store, too.

    Args:
        path: the DuckDB file; or a lake: a folder with a manifest, or a URL; or a snapshot.
        create: make a new store if there is none.
        read_only: do not write, so that several processes can have it open.
        memory_limit: memory for this process, in bytes or such as ``"2GB"``. Default: a quarter of the
            machine's.
        desk: the file of the line sets. Default: ``study.desk`` beside ``study.duckdb``.

    Raises:
        NotFoundError: there is no store.
        InputError: the options exclude each other, or the limit is no size.
        StoreError: the store cannot be opened: in use, damaged, or of another version.
    """
    store = Path(fspath(path))
    memory = parse_size(memory_limit) if isinstance(memory_limit, str) else memory_limit
    if not create and not store.exists() and not lake_at(store):
        make = f"sentgen.open({str(store)!r}, create=True)"
        raise NotFoundError(f"{store}: no store here; make one with: {make}")
    desk_file = None if desk is None else Path(fspath(desk))
    return Database(StoreSession(store, create=create, read_only=read_only, memory=memory, desk=desk_file))
