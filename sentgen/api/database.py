"""A store from Python: everything that commands do with it, in one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from sentgen.api import later
from sentgen.api import options as taken
from sentgen.api.alignment_models import AlignmentModels
from sentgen.api.arguments import corpora_in, declared, signed
from sentgen.api.contents import StoreContents
from sentgen.api.door import StoreSession, translated
from sentgen.api.tables import Table
from sentgen.corpus import formats
from sentgen.counts import corpora
from sentgen.counts.document_tables import DocumentTable, JoinedTable
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.question.lookup import Question
from sentgen.lookups.question.selection import select_corpora
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keyness import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.output import progress
from sentgen.schema import readonly
from sentgen.schema.guard import require_harmless
from sentgen.schema.store import raw

if TYPE_CHECKING:
    from sentgen.api.fusing import FusedSentences
    from sentgen.api.hits import Hits
    from sentgen.api.language_models import LanguageModel
    from sentgen.api.lines import LineSet
    from sentgen.api.sentences import Sentences
    from sentgen.api.texts import AlignedTexts, CheckedSummary
    from sentgen.counts.ingestion import Summary
    from sentgen.counts.sync import Differences
    from sentgen.models.surprisal import Application
    from sentgen.output.tabular import Rows
    from sentgen.schema.citation import Citation
    from sentgen.schema.snapshots import Publication


class Database(StoreContents, AlignmentModels):
    """An open store, lake or snapshot; a context manager that closes it. `sentgen.open` makes one.

    Several threads may use it; they come in turn.
    """

    def __init__(self, door: StoreSession, desk: Path | None = None) -> None:
        self._door, self._desk = door, desk

    @property
    def path(self) -> Path:
        """The file, or the lake."""
        return self._door.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return bool(self._door.why_read_only)

    def __repr__(self) -> str:
        how = "" if self._door.is_open else ", closed"
        return f"<sentgen.Database {self.path}{', read only' if self.read_only else ''}{how}>"

    def close(self) -> None:
        """Close the store; what was committed is on the disk."""
        self._door.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What is in the store.

    @signed(taken.IngestOptions)
    def ingest(
        self, paths: str | Path | Sequence[str | Path], corpus: str, **options: Unpack[taken.IngestOptions]
    ) -> Summary:
        """Read files, folders, globs or archives into a corpus, and count them.

        What is in the corpus already, by content, is not read again.
        """
        listed = [paths] if isinstance(paths, (str, Path)) else list(paths)
        with self._door.writing() as store:
            name = options.pop("parser", None)
            parser = None if name is None else later.open_parser(name)
            settings = declared(later.ingestion.Settings, {"corpus": corpus, **options})
            files = list(map(str, listed))
            with progress.ingested(corpus) as report:
                return later.ingestion.ingest(store, files, settings, parser=parser, progress=report)

    def corpora(self) -> Table:
        """List the corpora with their sizes and licences."""
        with self._door.reading() as store:
            return Table(corpora.overview(store))

    def corpus(
        self, name: str, *, rejected: bool = False, regions: bool = False, metadata: bool = False
    ) -> Table:
        """List the sources of a corpus, or its regions, its metadata, or the sentences that were refused."""
        asked = corpora.Corpus(name=name, rejected=rejected, regions=regions, metadata=metadata)
        with self._door.reading() as store:
            return Table(asked.show(store))

    @signed(taken.DocumentTableOptions)
    def add_metadata(
        self, name: str, table: str | Path, **options: Unpack[taken.DocumentTableOptions]
    ) -> JoinedTable:
        """Give documents of a corpus the columns of a table about them as metadata.

        Given again, the table says what it says now and nothing else.
        """
        asked = declared(DocumentTable, {"name": name, "table": str(table), **options})
        with self._door.writing() as store:
            return asked.join(store)

    def remove_corpus(self, name: str, *, source: str | Path | Sequence[str | Path] = ()) -> tuple[int, int]:
        """Remove a corpus with all its counts, or some of its sources; return their sentences and tokens.

        Args:
            name: the corpus.
            source: only what was read from this file, archive or folder, or from several.
        """
        sources = [source] if isinstance(source, (str, Path)) else list(source)
        with self._door.writing() as store:
            if sources:
                return later.sync.remove_from(store, name, list(map(str, sources)))
            return corpora.remove(store, name)

    @signed(taken.SyncOptions)
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
        folders = [folder] if isinstance(folder, (str, Path)) else list(folder)
        asked = declared(corpora.Sync, {"name": name, "folder": list(map(str, folders))})
        told = options.pop("parser", None)
        parser = None if told is None else later.open_parser(told)
        with self._door.reading() if dry_run else self._door.writing() as store:
            found = later.sync.compare(asked, store, parser=parser)
            if not dry_run:
                with progress.ingested(name) as report:
                    found.apply(store, parser=parser, progress=report)
        return found

    def publish(self, to: str | Path, *, keep: int | None = None) -> Publication:
        """Copy the store, as it is now, into a folder of snapshots, where `sentgen serve` finds it.

        Args:
            to: the folder; made if need be.
            keep: remove all but so many of the newest snapshots.
        """
        with self._door.released(), translated(), progress.steps("publishing"):
            half = self._door.memory // 2
            return later.snapshots.publish(self.path, Path(to), keep=keep, memory_limit=half)

    def cite(self, query: str | None = None) -> Citation:
        """Say how to cite the data, or what a query finds in them: `lines` for reading, and `bibtex`.

        Args:
            query: what was asked, as it should be read, such as ``db.kwic("home", corpus="news")``; only
                corpora that it names are cited.
        """
        asked, names = corpora_in(query or ""), tuple[str, ...]()
        if asked:
            with self._door.reading() as store, store.connect() as connection:
                names = select_corpora(connection, asked).names
        with self._door.released(), translated():
            return later.citation.cite(self.path, query, names=names)

    def sql(
        self, query: str, parameters: Sequence[object] | Mapping[str, object] = (), *, limit: int = 0
    ) -> Table:
        """Run one SELECT over the tables and views; it cannot change anything, nor read files.

        Args:
            query: the query.
            parameters: values of ``?``, in their order, or those of ``$name`` by name.
            limit: rows at most; 0 for all.
        """
        with self._door.reading() as store, store.connect() as connection:
            duck = raw(connection)
            require_harmless(duck, query)
            found = readonly.ask(duck, query, parameters, max_rows=limit)
            return Table(found.table, sql=query, truncated=found.truncated)

    # Questions to the counts.

    def _ask(self, question: type[Question], given: Mapping[str, object]) -> Table:
        asked = declared(question, given)
        with self._door.reading() as store, store.connect() as connection:
            answer = asked.ask(connection)
        return Table._of(answer, self._door.drawing(asked, answer))

    @signed(taken.NgramsOptions)
    def ngrams(self, pattern: str, **options: Unpack[taken.NgramsOptions]) -> Table:
        """Count the n-grams that match a pattern of 1 to 5 words, such as ``in the *``."""
        return self._ask(Ngrams, {"pattern": pattern, **options})

    @signed(taken.DependenciesOptions)
    def dependencies(
        self, head: str, modifier: str = "*", **options: Unpack[taken.DependenciesOptions]
    ) -> Table:
        """Count the dependencies between a head and its modifiers."""
        return self._ask(Dependencies, {"head": head, "modifier": modifier, **options})

    @signed(taken.ArgumentsOptions)
    def arguments(self, word: str, **options: Unpack[taken.ArgumentsOptions]) -> Table:
        """Count how many modifiers a word takes on each side."""
        return self._ask(Arguments, {"word": word, **options})

    @signed(taken.KwicOptions)
    def kwic(self, pattern: str = "", **options: Unpack[taken.KwicOptions]) -> Table:
        """Show words in context: ``un*``, ``lemma:go``, ``fell/VBD``, or CQL as ``[lemma="go"] "home"``."""
        return self._ask(Kwic, {"pattern": pattern, **options})

    @signed(taken.MatchOptions)
    def match(self, request: str, **options: Unpack[taken.MatchOptions]) -> Hits:
        """Find where a Grew request matches the trees, such as ``pattern { V -[nsubj]-> S }``."""
        with translated():
            return later.Hits(self._door, declared(Match, {"request": request, **options}))

    @signed(taken.FrequenciesOptions)
    def frequencies(self, by: str | Sequence[str] = (), **options: Unpack[taken.FrequenciesOptions]) -> Table:
        """Count words, lemmas, tags or relations, or what a query matches by attributes of it."""
        return self._ask(Frequencies, {"by": by, **options})

    @signed(taken.CollocationsOptions)
    def collocations(self, word: str = "", **options: Unpack[taken.CollocationsOptions]) -> Table:
        """Find what occurs with a word more often than chance."""
        return self._ask(Collocations, {"word": word, **options})

    @signed(taken.SketchOptions)
    def sketch(self, word: str, **options: Unpack[taken.SketchOptions]) -> Table:
        """Find the strongest collocates of a word in each dependency relation."""
        return self._ask(Sketch, {"word": word, **options})

    @signed(taken.ThesaurusOptions)
    def thesaurus(self, word: str, **options: Unpack[taken.ThesaurusOptions]) -> Table:
        """Find words of the same class that have the same collocates."""
        return self._ask(Thesaurus, {"word": word, **options})

    @signed(taken.KeynessOptions)
    def keyness(
        self,
        corpus: str | Sequence[str],
        against: str | Sequence[str],
        **options: Unpack[taken.KeynessOptions],
    ) -> Table:
        """Find what is more frequent in some corpora than in others."""
        return self._ask(Keywords, {"corpus": corpus, "against": against, **options})

    # Lines to label.

    @signed(taken.NewLinesOptions)
    def new_lines(self, name: str, pattern: str = "", **options: Unpack[taken.NewLinesOptions]) -> LineSet:
        """Make a set of the lines that a query finds, beside the store, to label them."""
        return later.new_line_set(self._door, self._desk, {"name": name, "pattern": pattern, **options})

    def lines(self, name: str) -> LineSet:
        """Return a set of lines."""
        return later.line_set(self._door, self._desk, name)

    def line_sets(self) -> Table:
        """List the sets of lines, with how many have a label, and who labeled."""
        return later.line_sets_of(self._door, self._desk)

    # Models, and what they make.

    @signed(taken.BuildOptions)
    def build_model(
        self, name: str, corpora: str | Sequence[str], **options: Unpack[taken.BuildOptions]
    ) -> LanguageModel:
        """Build the next version of a language model from the counts of corpora."""
        return later.built(self._door, name, corpora, options)

    def apply_model(self, name: str, corpora: str | Sequence[str]) -> Application:
        """Store the surprisal of each token of corpora by a model, which queries then ask for.

        Of those sentences that do not have it; the answer counts them.
        """
        return later.applied_model(self._door, name, corpora)

    @signed(taken.MixOptions)
    def mix_models(
        self, name: str, of: str | Sequence[str], **options: Unpack[taken.MixOptions]
    ) -> LanguageModel:
        """Mix models into one, by linear interpolation: the next version of a model."""
        return later.made(self._door, later.mix.MixRequest, {**options, "name": name, "of": of})

    @signed(taken.PruneOptions)
    def prune_model(self, name: str, of: str, **options: Unpack[taken.PruneOptions]) -> LanguageModel:
        """Make a smaller model: without the n-grams that tell least, or without rare ones."""
        return later.made(self._door, later.prune.PruneRequest, {**options, "name": name, "of": of})

    @signed(taken.CompareOptions)
    def compare_models(self, models: str | Sequence[str], **options: Unpack[taken.CompareOptions]) -> Table:
        """Compare models on a text: perplexities with intervals, and what each knows of it."""
        return later.compared(self._door, models, options)

    def model(self, name: str) -> LanguageModel:
        """Return a language model: the newest version of its name, or ``NAME@VERSION``."""
        with self._door.reading() as store:
            return later.LanguageModel(self._door, later.registry.find(store, name))

    def models(self) -> Table:
        """List the language models with their settings, and whether they are stale."""
        with self._door.reading() as store:
            return Table(later.registry.overview(store))

    def import_model(self, name: str, file: str | Path) -> LanguageModel:
        """Store an ARPA file, plain or gzipped, as the next version of a model."""
        with self._door.writing() as store, progress.steps(name) as report:
            return later.LanguageModel(
                self._door, later.import_arpa(store, name, Path(file), progress=report)
            )

    def remove_model(self, name: str) -> list[str]:
        """Remove a model with all versions, or ``NAME@VERSION``; return what was removed."""
        with self._door.writing() as store:
            return [model.label for model in later.registry.remove(store, name)]

    # Vectors of words.

    @signed(taken.VectorOptions)
    def build_vectors(
        self, name: str, corpora: str | Sequence[str], **options: Unpack[taken.VectorOptions]
    ) -> Table:
        """Build vectors of the words of corpora; return a row with their settings."""
        return later.built_vectors(self._door, name, corpora, options)

    def vectors(self) -> Table:
        """List the vectors with their settings."""
        with self._door.reading() as store:
            return Table(later.vectors.overview(store))

    @signed(taken.NearOptions)
    def near(self, word: str, **options: Unpack[taken.NearOptions]) -> Table:
        """Find the words whose vectors are nearest to that of a word, or of a phrase."""
        return self._ask(later.near.Near, {"word": word, **options})

    def remove_vectors(self, name: str) -> None:
        """Remove vectors."""
        with self._door.writing() as store:
            later.vectors.remove(store, name)

    # What there is to choose from, plug-ins included; their faults are notes.

    def formats(self) -> Table:
        """List the formats of corpora that can be read."""
        return _chosen_from(formats.overview())

    def algorithms(self) -> Table:
        """List the algorithms that order bags, with their settings."""
        return _chosen_from(later.algorithms.overview())

    def aligners(self) -> Table:
        """List the systems that align texts, with their settings."""
        return _chosen_from(later.systems.overview())

    def scorers(self) -> Table:
        """List the scorers of sentences, which plug-ins add."""
        return _chosen_from(later.plugin_scorers.overview())

    # Texts.

    @signed(taken.AlignOptions)
    def align(
        self, document: str | Path, abstract: str | Path, **options: Unpack[taken.AlignOptions]
    ) -> AlignedTexts:
        """Show where each phrase of a summary comes from in its document, and which words are new.

        Both are texts; a `pathlib.Path` is a file with one.
        """
        return later.aligned(self._door, document, abstract, options)

    @signed(taken.GenerateOptions)
    def generate(self, file: str | Path | None = None, **options: Unpack[taken.GenerateOptions]) -> Sentences:
        """Make the most probable sentences of each length from the words of related sentences with trees.

        A cluster is a text, such as CoNLL-U, or a `pathlib.Path` of a file; a document of it is a cluster of
        its own. ``lengths=(5, 20)`` asks for each length from 5 to 20.
        """
        with translated():
            return later.generated(self._door, file, options)

    @signed(taken.FuseOptions)
    def fuse(
        self, key: int | str | Path, related: str | Path, **options: Unpack[taken.FuseOptions]
    ) -> FusedSentences:
        """Make one new sentence of a key sentence and what related ones say beside it.

        The key is the number or the ``sent_id`` of a related sentence, its text, itself as CoNLL-U, or a
        `pathlib.Path` of a file with it; the related sentences are a text, such as CoNLL-U, or a
        `pathlib.Path` of a file. All need trees, or a ``parser``.
        """
        with translated():
            return later.fused(self._door, key, related, options)

    @signed(taken.CheckOptions)
    def check(
        self, summary: str | Path, against: str | Path, **options: Unpack[taken.CheckOptions]
    ) -> CheckedSummary:
        """Check which words and verb arguments of a summary have support in its sources.

        Both are texts, of which verb arguments are checked if both have trees, such as CoNLL-U, or there is a
        ``parser``; a `pathlib.Path` is a file.
        """
        with translated():
            return later.checked(self._door, summary, against, options)


def _chosen_from(found: tuple[Rows, Sequence[str]]) -> Table:
    rows, wrong = found
    return Table(rows, notes=wrong)
