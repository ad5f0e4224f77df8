"""Methods for subcorpora, saved queries, pairs and their aligners, parses, and the store as a file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from sqlalchemy import Connection

from sentgen.api import options as taken
from sentgen.api.arguments import declare, with_signatures
from sentgen.api.session import StoreSession
from sentgen.api.tables import Table
from sentgen.counts import corpora
from sentgen.errors import InputError
from sentgen.listings import LISTINGS
from sentgen.lookups import subcorpora
from sentgen.lookups.base.question import Lookup
from sentgen.lookups.command_line import parse_parameter
from sentgen.lookups.questions import QUESTIONS, check
from sentgen.options import NOT, Parameter, parameters_of
from sentgen.output import progress
from sentgen.output.files import whole_file
from sentgen.output.tabular import Rows
from sentgen.schema import dictionary, readonly
from sentgen.schema.store import raw
from sentgen.schema.tables.saved import SavedQuery

if TYPE_CHECKING:
    from sentgen.alignment.pairs.alignment import Pair
    from sentgen.alignment.stored.application import ApplicationSummary
    from sentgen.counts.pair_ingestion import PairSummary
    from sentgen.schema.maintenance import Compaction, Repair

#: Methods with other names than their commands.
_METHODS = {"deps": "dependencies", "args": "arguments", "freq": "frequencies"}
#: Options for printing and waiting, which methods do not have; those of the second line take a value.
_FLAGS = {"--csv", "--tsv", "--json", "--jsonl", "--latex", "--bom", "--wide", "--show-sql", "--conllu"}
_VALUES = {"--width", "--memory-limit", "--timeout", "--wait", "--db"}
(_LIMIT,) = parameters_of(Lookup, ["limit"])


def listing(session: StoreSession, name: str) -> Table:
    """Return what there is of something; faults of plug-ins are notes."""
    listed = LISTINGS[name]
    if not listed.of_store:
        rows, wrong = listed.rows(None)
        return Table(rows, notes=wrong)
    with session.read() as store:
        return Table(listed.rows(store)[0])


@with_signatures
class StoreContents:
    """The part of a `Database` that keeps what is in the store."""

    _session: StoreSession

    def verify_corpus(self, name: str) -> Table:
        """Compare the sources of a corpus with the files on disk: `same`, `changed` or `missing`."""
        with self._session.read() as store:
            return Table(corpora.verify(store, name))

    def export_corpus(self, name: str, to: str | Path, *, format: str = "conllu") -> tuple[str, ...]:
        """Write a corpus into a file; return what the format cannot hold, a line each.

        Args:
            name: the corpus.
            to: the file.
            format: conllu, docbin, tei or vertical.
        """
        from sentgen.counts import exports

        with self._session.read() as store, store.connect() as connection:
            blocks, lost = exports.export(connection, name, format)
            with whole_file(Path(to)) as sink:
                sink.writelines(blocks)
            return lost

    def cache_info(self) -> Table:
        """Say how many look-ups the caches of n-grams and trees served, and how many bytes they hold."""
        from sentgen.models import caches

        with self._session.read() as store:
            return Table(caches.overview(store))

    # Subcorpora.

    def define_subcorpus(self, name: str, where: str, *, corpus: str | Sequence[str] = ()) -> int:
        """Define a subcorpus, usable wherever a corpus name is; return the number of its sentences.

        Args:
            name: name of the subcorpus.
            where: what the metadata of its sentences meet: `genre = academic and year >= 2010`.
            corpus: the corpora that it is of; none for all.
        """
        corpora_named = [corpus] if isinstance(corpus, str) else list(corpus)
        with self._session.write() as store, store.begin() as connection:
            return subcorpora.define(connection, name, where, corpora_named)[1]

    def subcorpora(self) -> Table:
        """List the subcorpora with their corpora and conditions."""
        return listing(self._session, "subcorpora")

    def subcorpus(self, name: str) -> Table:
        """Show the condition of a subcorpus, and how many sentences, tokens and documents it has."""
        with self._session.read() as store, store.connect() as connection:
            return Table(subcorpora.properties(connection, name))

    def remove_subcorpus(self, name: str) -> None:
        """Remove a subcorpus; its sentences stay in their corpora."""
        with self._session.write() as store, store.begin() as connection:
            subcorpora.remove(connection, name)

    # Saved queries.

    def save_query(self, name: str, words: str | Sequence[str], *, replace: bool = False) -> None:
        """Save a query under a name, as `sentgen saved add` does; it is not run, but checked.

        Args:
            name: name of the saved query.
            words: a command that looks into the counts, as you would type it: ``"kwic camp --sort left"``.
            replace: whether an older query of this name is replaced.
        """
        with self._session.write() as store, store.begin() as connection:
            query = _check_query(connection, words)
            SavedQuery.save(connection, name, query.command, query.words, replace=replace)

    def saved_queries(self) -> Table:
        """List the saved queries, each with its command line."""
        return listing(self._session, "saved")

    def run_query(self, name: str, **more: object) -> Table:
        """Run a saved query, with other values of its options if you like: ``run_query("camp", limit=0)``."""
        with self._session.read() as store:
            with store.connect() as connection:
                row = SavedQuery.find(connection, name)
            query = _read_query(row.command, row.arguments)
            answer: Table = getattr(self, query.method)(**{**query.given, **more})
            return answer

    def remove_query(self, name: str) -> None:
        """Remove a saved query."""
        with self._session.write() as store, store.begin() as connection:
            SavedQuery.remove(connection, name)

    # Pairs of documents and abstracts, and parses.

    def ingest_pairs(
        self, paths: str | Path | Sequence[str | Path], corpus: str, **options: Unpack[taken.PairOptions]
    ) -> PairSummary:
        """Read documents with their abstracts into a corpus; what it has already is not stored again."""
        from sentgen.api import language_models

        listed = [paths] if isinstance(paths, (str, Path)) else list(paths)
        with self._session.write() as store:
            return language_models.ingest_pairs_with_progress(store, list(map(str, listed)), corpus, options)

    def pairs(self, corpus: str | None = None, *, statistics: bool = False, limit: int = 20) -> Table:
        """List the corpora of pairs, or the pairs of one.

        Args:
            corpus: a corpus of pairs.
            statistics: sentences, words and types of documents, abstracts and both, with means, instead.
            limit: rows; 0 for all.
        """
        from sentgen.alignment.stored.stored_pairs import list_pairs

        with self._session.read() as store:
            return _first(lambda rows: list_pairs(store, corpus, statistics=statistics, limit=rows), limit)

    def pair(self, corpus: str, key: str | None = None) -> Pair:
        """Return a document with its abstract: the pair of a name, or the first one of a corpus."""
        from sentgen.alignment.stored.stored_pairs import stored_pairs

        with self._session.read() as store:
            return next(stored_pairs(store, corpus, keys=() if key is None else (key,)))

    def train_parser(
        self, name: str, corpus: str | Sequence[str], **options: Unpack[taken.TrainParserOptions]
    ) -> Table:
        """Train UDPipe on treebanks of the store under a name, which `parser` of other methods takes.

        The rows are what it gets right of each tenth sentence, from which it does not learn, in percent.
        """
        from sentgen.models.parser_training import TrainParser

        request = declare(TrainParser, {"name": name, "corpus": corpus, **options})
        with self._session.read() as store, progress.counting_bars("tokenizer", "tagger") as report:
            return Table(request.train(store, report).rows())

    def parses(self) -> Table:
        """List the parsers whose parses the store has kept."""
        return listing(self._session, "parses")

    def forget_parses(self, parser: str, *, version: str | None = None) -> int:
        """Remove the parses of a parser, or of one version of it; return how many texts they were of."""
        from sentgen.corpus.parsers import forget_parses

        with self._session.write() as store:
            return forget_parses(store, parser, version)

    # Models that align: trained on pairs or tuned on links, applied, looked at and removed.

    def train_alignment(self, pairs: str, model: str, **options: Unpack[taken.TrainOptions]) -> Table:
        """Train a model on a corpus of pairs by EM, without links; return its iterations.

        Every iteration is stored as it is done; after an interruption, ``resume=True`` goes on.
        """
        from sentgen.api import texts

        texts.train_alignment(self._session, pairs, model, options)
        return self.alignment_model(model)

    def tune_alignment(self, name: str, gold: str | Path, **options: Unpack[taken.TuneOptions]) -> Table:
        """Tune a model on links that people drew; return a row for each direction."""
        from sentgen.api import texts

        return texts.tune_alignment(self._session, name, gold, options)

    def alignment_models(self) -> Table:
        """List the models that align."""
        return listing(self._session, "alignment-models")

    def alignment_model(
        self,
        name: str,
        word: str | None = None,
        *,
        direction: Literal["forward", "reverse"] = "forward",
        limit: int = 20,
    ) -> Table:
        """Return the iterations of a model, or the top rewrites of a word.

        Args:
            name: name of the model.
            word: a word or phrase.
            direction: abstracts from documents, or the reverse.
            limit: rewrites; 0 for all.
        """
        from sentgen.alignment.stored import model_report

        with self._session.read() as store:
            if word is None:
                return Table(model_report.ModelReport.read(store, name).table())
            return Table(model_report.top_rewrites(store, name, word, direction=direction, limit=limit))

    def remove_alignment_model(self, name: str) -> int:
        """Remove a model with the alignments that it made; return how many iterations it had."""
        from sentgen.alignment.stored.model_store import remove_model as remove_alignment_model

        with self._session.write() as store:
            return remove_alignment_model(store, name)

    def align_pairs(
        self, pairs: str, model: str | None = None, **options: Unpack[taken.ApplyOptions]
    ) -> ApplicationSummary:
        """Align a corpus of pairs, and keep links, states of words and figures in the store.

        Without a model the aligner has its priors only, and the links are those of a model called priors.
        """
        from sentgen.api import texts

        return texts.align_pairs(self._session, pairs, model, options)

    def extract(
        self, pairs: str, of: str, model: str | None = None, *, size: int = 3, limit: int = 20
    ) -> Table:
        """Learn from aligned pairs which sentences abstracts come from, and list those of other documents.

        Args:
            pairs: a corpus of pairs to learn from.
            of: the corpus whose documents are read, of pairs or any.
            model: model that was applied to the pairs; the priors if not given.
            size: sentences of each document.
            limit: rows; 0 for all.
        """
        from sentgen.alignment.stored import extraction

        with self._session.read() as store:
            extractor = extraction.Extractor.of_pairs(store, pairs, model)
            return _first(lambda rows: extractor.extracts(store, of, size=size, limit=rows), limit)

    def alignment_figures(self, pairs: str, model: str | None = None, *, limit: int = 0) -> Table:
        """List the figures of each abstract: coverage, density, new and changed words, longest copied run.

        Args:
            pairs: a corpus of pairs.
            model: model that was applied to it; the priors if not given.
            limit: pairs; 0 for all.
        """
        from sentgen.alignment.stored import application

        with self._session.read() as store:
            return _first(lambda rows: application.alignments(store, pairs, model, limit=rows), limit)

    def alignment_links(
        self,
        pairs: str,
        model: str | None = None,
        *,
        words: bool = False,
        sentences: bool = False,
        limit: int = 0,
    ) -> Table:
        """List the links that a model found in a corpus of pairs, or what became of each word or sentence.

        Args:
            pairs: a corpus of pairs.
            model: model that was applied to it; the priors if not given.
            words: a row a word with its state, instead of a row a link.
            sentences: a row a sentence of an abstract and a sentence of the document that it comes from.
            limit: rows; 0 for all.
        """
        from sentgen.alignment.stored import application

        with self._session.read() as store:
            listed = application.found_rows
            kind = {"words": words, "sentences": sentences}
            return _first(lambda rows: listed(store, pairs, model, limit=rows, **kind), limit)

    # The store as a file.

    def schema(self, name: str | None = None) -> Table:
        """List the tables and views with what they hold, or the columns of one of them."""
        from sentgen.schema import maintenance

        if name is not None:
            return Table(dictionary.Relation.named(name).rows)
        with self._session.read() as store:
            rows = {table: rows for table, rows, _ in maintenance.sizes(store)}
            return Table(dictionary.relation_rows(rows))

    def info(self) -> Table:
        """List the tables with their rows and bytes; versions and the size of the file are notes."""
        from sentgen.schema import maintenance

        with self._session.read() as store:
            facts = [f"{name}: {value}" for name, value in maintenance.facts(store).items()]
            return Table(maintenance.sizes(store), notes=facts)

    def check_store(self, *, quick: bool = False) -> Table:
        """Check that everything in the store fits together: a row a check, and what cures one that failed.

        Args:
            quick: leave out what counts all tokens again.
        """
        from sentgen.models.checks import model_checks
        from sentgen.schema import maintenance

        with self._session.read() as store, progress.steps("checking"):
            results = list(maintenance.check(store, model_checks(store, quick=quick), quick=quick))
            cures = [
                f"{result.check.name}: {result.check.cure}" for result in results if result.status == "failed"
            ]
            return Table(maintenance.CheckResult.table(results), notes=cures)

    def repair(self, *, backup: bool = True) -> Repair:
        """Remove what a killed process left half done; return that, and what is left to do.

        Args:
            backup: copy the store to a file beside it before anything is removed.
        """
        from sentgen.schema.maintenance import repair

        with self._session.exclusive() as path:
            return repair(path, backup=backup, memory_limit=self._session.memory // 2)

    def compact(self) -> Compaction:
        """Merge the counts of each corpus into one segment and give free space back to the disk."""
        from sentgen.schema import maintenance

        with self._session.exclusive() as path:
            return maintenance.compact(path, memory_limit=self._session.memory // 2)


def _first(ask: Callable[[int], Rows], limit: int) -> Table:
    """Return the first rows of a table, 0 for all; ``ask`` is called with the number of rows to get."""
    rows, more = ask(limit + 1 if limit else 0).first(limit)
    return Table(rows, truncated=more)


@dataclass(frozen=True, slots=True)
class _SavedCall:
    """A saved query.

    Attributes:
        command: name of the command.
        words: its arguments.
        method: the method of `Database` for the command.
        given: the arguments of the method, by name.
    """

    command: str
    words: tuple[str, ...]
    method: str
    given: dict[str, Any]


def _check_query(connection: Connection, line: str | Sequence[str]) -> _SavedCall:
    """Parse a command line and check the names in it, without running it.

    Raises:
        SentgenError: it would fail, or it is no command that can be saved.
    """
    command, *words = _words(line) or [""]
    call = _read_query(command, words)
    if command == "sql":
        readonly.check(raw(connection), call.given["query"], call.given["parameters"])
    else:
        check(connection, declare(QUESTIONS[command], call.given))
    return call


def _words(line: str | Sequence[str]) -> list[str]:
    """Return the words of a command line, without the name of the program, if it has that."""
    try:
        words = shlex.split(line) if isinstance(line, str) else list(line)
    except ValueError as error:
        raise InputError(f"{line!r} is no command line: {error}; close each quote") from error
    return words[1:] if words[:1] == ["sentgen"] else words


def _read_query(command: str, words: Sequence[str]) -> _SavedCall:
    """Parse a command line as the command does.

    Raises:
        InputError: the query cannot be saved, or an option cannot be read, or names a file.
    """
    if command == "sql":
        given = _sql(list(words))
    elif command in QUESTIONS:
        given = _named_options(command, parameters_of(QUESTIONS[command]), words)
    else:
        raise InputError(f"{command!r} cannot be saved; these commands can: {', '.join((*QUESTIONS, 'sql'))}")
    return _SavedCall(command, tuple(words), _METHODS.get(command, command), given)


def _sql(words: Sequence[str]) -> dict[str, Any]:
    arguments: list[str] = []
    values: dict[str, Any] = {}
    limit: Any = 0
    for name, value in _split(words, {"--param", "--limit", "-n"} | _VALUES):
        if not name:
            arguments.append(value)
        elif name == "--param":
            values |= [parse_parameter(value)]
        elif name in ("--limit", "-n"):
            limit = _LIMIT.read(value, "--limit")
        elif name not in _FLAGS | _VALUES:
            raise InputError(f"a saved sql has no option {name}")
    if len(arguments) != 1:
        raise InputError("sql takes one query; write it in quotes")
    # `Database.sql` takes the values for question marks in their order.
    numbered = [values[str(position)] for position in range(1, len(values) + 1) if str(position) in values]
    return {"query": arguments[0], "parameters": numbered or values, "limit": limit}


def _named_options(command: str, parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command by name."""
    known = dict(_options(parameters))
    given: dict[str, Any] = {}
    arguments: list[str] = []
    for name, value in _split(
        words, {name for name, (parameter, _) in known.items() if not parameter.is_flag} | _VALUES
    ):
        if not name:
            arguments.append(value)
        elif name in known:
            parameter, off = known[name]
            if parameter.option.file:
                raise InputError(f"a saved query names no files; leave out {name}")
            if parameter.is_flag:
                given[parameter.name] = not off
            else:
                _add(given, parameter, f"{NOT}{value}" if off else value)
        elif name not in _FLAGS | _VALUES:
            raise InputError(f"a saved {command} has no option {name}; see sentgen {command} --help")
    for parameter in (parameter for parameter in parameters if parameter.option.argument):
        texts, arguments = (arguments, []) if parameter.is_list else (arguments[:1], arguments[1:])
        for text in texts:
            _add(given, parameter, text)
    if arguments:
        raise InputError(f"{command} has no place for {arguments[0]!r}; put several words into quotes")
    return given


def _options(parameters: Sequence[Parameter]) -> Iterator[tuple[str, tuple[Parameter, bool]]]:
    """Yield the names of options, each with its parameter, and whether it is the opposite option."""
    for parameter in parameters:
        if not parameter.option.argument:
            yield parameter.dashed, (parameter, False)
            yield parameter.off, (parameter, True)
            if parameter.option.short:
                yield parameter.option.short, (parameter, False)


def _split(words: Sequence[str], valued: set[str]) -> Iterator[tuple[str, str]]:
    """Yield options with their values, and arguments with an empty name."""
    following = iter(words)
    for word in following:
        if word == "--":
            yield from (("", each) for each in following)
        elif not word.startswith("-") or word == "-":
            yield "", word
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            yield name, (value if equals else _next(name, following) if name in valued else "")
        else:  # -n5 or -n 5
            yield word[:2], word[2:] or (_next(word, following) if word in valued else "")


def _next(name: str, following: Iterator[str]) -> str:
    value = next(following, None)
    if value is None:
        raise InputError(f"{name} needs a value")
    return value


def _add(given: dict[str, Any], parameter: Parameter, text: str) -> None:
    if parameter.is_list:
        given.setdefault(parameter.name, []).append(text)
    else:
        given[parameter.name] = parameter.read(text, parameter.dashed)
