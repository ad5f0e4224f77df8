"""What gets the mutants: readers, searches, the guard of SQL, ingestion, and whole commands."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

import sentgen.cli
from fuzzing import documents, samples
from fuzzing.mutations import ODD, mutant, mutant_text, packed
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.texts import read_sentences
from sentgen.corpus.formats import READERS, detect
from sentgen.corpus.pair_readers import PairFile, PairSettings
from sentgen.corpus.paths import expand
from sentgen.corpus.reading import read_source
from sentgen.counts import corpora
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.counts.settings import ON_ERROR
from sentgen.demo import TREEBANK
from sentgen.errors import Rejection, SentgenError
from sentgen.evaluation.alignment.gold_readers import FORMATS as GOLD_FORMATS
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.evaluation.clusters.clusters import Cluster
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.generation.bags.bag_reader import FORMATS as BAG_FORMATS
from sentgen.generation.bags.bag_reader import Notation
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Dependencies
from sentgen.lookups.ngram_search import Ngrams
from sentgen.models import arpa, build
from sentgen.models.base import registry
from sentgen.schema import Store, metadata
from sentgen.schema.guard import require_harmless
from sentgen.schema.readonly import ask, open_locked
from sentgen.schema.store import raw

_EXTENSIONS = (*(f".{name}" for name in READERS), ".txt", "", ".json", ".ndjson", ".tok", ".arpa")
#: Tables that only grow: what a refused or removed source brought stays.
_GROWING = ("word", "tag", "removed_model")


class HalfWrittenError(Exception):
    """Something was left behind by what was refused or removed."""


@dataclass(slots=True)
class Bench:
    """A folder for the mutants, and a small store."""

    folder: Path
    store: Store
    written: int = 0
    _locked: duckdb.DuckDBPyConnection | None = None
    inputs: list[Path] = field(default_factory=list)

    def clear(self) -> None:
        """Forget the last input."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        self.written = 0

    def write(self, name: str, data: bytes) -> str:
        """Write a file into the folder and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.written += len(data)
        return str(path)

    def mutant(self, rng: random.Random, sample: str, others: list[str], name: str) -> str:
        """Write a mutant, compressed now and then, and return its path."""
        data = mutant(rng, sample, others)
        self.written += len(data)
        if rng.random() < 0.12:
            data, name = packed(rng, data, name)
        return self.write(name, data)

    def counts(self) -> dict[str, int]:
        """Return the rows of all tables but those that only grow."""
        names = [name for name in metadata.tables if name not in _GROWING]
        query = " union all ".join(f"select '{name}', count(*) from {name}" for name in names)
        with self.store.connect() as connection:
            return dict(raw(connection).execute(query).fetchall())

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise an error if the store has other rows at the end, however it comes."""
        before = self.counts()
        try:
            yield
        finally:
            after = self.counts()
            if after != before:
                changes = {
                    name: (before[name], after[name]) for name in before if before[name] != after[name]
                }
                raise HalfWrittenError(f"rows before and after: {changes}")

    @property
    def locked(self) -> duckdb.DuckDBPyConnection:
        """A connection for strangers to a copy of the store."""
        if self._locked is None:
            copy = self.store.path.with_suffix(".copy.duckdb")
            copy.write_bytes(self.store.path.read_bytes())
            self._locked = open_locked(copy, memory_limit=1 << 28, threads=1)
        return self._locked


def make_store(path: Path) -> Store:
    """Return a small store: the demo treebank and a model of it."""
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    store = Store(path, create=True, memory_limit=1 << 29, threads=1)
    ingest(store, [str(TREEBANK)], Settings("demo"))
    build(store, "demo", ["demo"], order=2)
    with store.connect() as connection:
        connection.rollback()
        raw(connection).execute("checkpoint")
    return store


_ALL = [sample for found in samples.CORPORA.values() for sample in found]


def _corpus_file(bench: Bench, rng: random.Random) -> tuple[str, str]:
    """Write a mutant of a corpus; return its path and the format that it had."""
    form = rng.choice(list(samples.CORPORA))
    extension = f".{form}" if rng.random() < 0.6 else rng.choice(_EXTENSIONS)
    sample = rng.choice(samples.CORPORA[form])
    if form == "wsj":
        extension = ".dp"
        bench.write("x.pos", mutant(rng, samples.TAGGED, _ALL))
    return bench.mutant(rng, sample, _ALL, f"x{extension}"), form


def corpus_reader(bench: Bench, rng: random.Random) -> None:
    """Read a corpus as `sentgen ingest` does, in the format it had, in the one detected, or in any other."""
    path, form = _corpus_file(bench, rng)
    chosen = rng.choice((form, form, None, rng.choice(list(READERS))))
    for source in expand([path]):
        source.sha256()
        reader = READERS[chosen or detect(source, prose=rng.random() < 0.3)]
        for found in read_source(reader, source.open()):
            if isinstance(found, Rejection):
                str(found.as_error())
        for _ in reader.items(source.open()):
            pass


def document_reader(bench: Bench, rng: random.Random) -> None:
    """Read a document or a table, whose text is in one column."""
    form = rng.choice(documents.FORMS)
    path = bench.write(f"x.{form}", documents.document(rng, form))
    columns = {"text": rng.choice(("body", "body", "id", "x")), "id": rng.choice(("id", "id", "year"))}
    for source in expand([path]):
        reader = READERS[form].with_settings(columns if "text" in READERS[form].settings else {})
        for found in read_source(reader, source.open()):
            if isinstance(found, Rejection):
                str(found.as_error())


def other_reader(bench: Bench, rng: random.Random) -> None:
    """Read the same files as a test set, as clusters, or as a text to align."""
    path, form = _corpus_file(bench, rng)
    chosen = rng.choice((form, None))
    what = rng.randrange(3)
    if what == 0:
        list(read_test_set(path, form=chosen))
    elif what == 1:
        list(Cluster.all_in(path, form=chosen))
    else:
        read_sentences(path, form=chosen)


def pair_reader(bench: Bench, rng: random.Random) -> None:
    """Read pairs in all their forms and make words of them."""
    for file in PairFile.of_paths(_pair_paths(bench, rng)):
        settings = _pair_settings(rng)
        for one in file.read(settings):
            if isinstance(one, Rejection):
                str(one.as_error("pair"))
            else:
                one.sha256(settings)
                one.tokenize(settings)


def _pair_paths(bench: Bench, rng: random.Random) -> list[str]:
    what = rng.randrange(5)
    others = [samples.PAIRS_JSONL, samples.PAIRS_CONLLU, *samples.PAIRS_TEXTS]
    if what < 2:
        return [bench.mutant(rng, samples.PAIRS_JSONL, others, rng.choice(("p.jsonl", "p.json", "p.txt")))]
    if what == 2:
        return [bench.mutant(rng, text, others, f"{n}.lines") for n, text in enumerate(samples.PAIRS_TEXTS)]
    if what == 3:
        count = rng.choice((1, 2))
        return [bench.mutant(rng, samples.PAIRS_CONLLU, others, f"{n}.conllu") for n in range(count)]
    for name, text in zip(("a.document", "a.abstract"), samples.PAIRS_TEXTS, strict=True):
        bench.mutant(
            rng, text, others, name if rng.random() < 0.9 else rng.choice(("document/a", "b.abstract"))
        )
    return [str(bench.folder)]


def _pair_settings(rng: random.Random) -> PairSettings:
    return PairSettings(
        tokenized=rng.random() < 0.5,
        document_words=rng.choice((0, 0, 1, 3)),
        replace_controls=rng.random() < 0.3,
        document_field=rng.choice((None, None, "document", "x")),
    )


def gold_reader(bench: Bench, rng: random.Random) -> None:
    """Read a gold standard of alignments."""
    name = rng.choice(list(samples.GOLD))
    files = samples.GOLD[name]
    paths = [bench.mutant(rng, text, list(files.values()), path) for path, text in files.items()]
    form = name.split()[0] if rng.random() < 0.9 else rng.choice(list(GOLD_FORMATS))
    read_gold(paths[0] if len(paths) == 1 or rng.random() < 0.2 else str(bench.folder), form)


def bag_reader(bench: Bench, rng: random.Random) -> None:
    """Read bags in all their notations."""
    extension = rng.choice((".txt", ".json", ".jsonl", ".conllu", ""))
    path = bench.mutant(rng, rng.choice(samples.BAGS), samples.BAGS, f"b{extension}")
    notation = Notation(
        rng.choice(("", "_", "+")), rng.choice((None, True, False)), rng.choice((None, "upos", "xpos"))
    )
    notation.read(path, rng.choice((None, None, rng.choice(BAG_FORMATS))))


def arpa_file(bench: Bench, rng: random.Random) -> None:
    """Import an ARPA file; what is refused leaves nothing, what is taken can be removed."""
    path = bench.mutant(rng, samples.ARPA, [samples.ARPA, samples.CORPORA["lines"][0]], "m.arpa")
    with bench.unchanged():
        arpa.import_arpa(bench.store, "fuzz", path)
        registry.remove(bench.store, "fuzz")


def search(bench: Bench, rng: random.Random) -> None:
    """Search with a pattern."""
    pattern = mutant_text(rng, rng.choice(samples.PATTERNS), samples.PATTERNS)
    bench.written = len(pattern)
    with bench.store.connect() as connection:
        what = rng.randrange(3)
        if what == 0:
            Ngrams(pattern=pattern, min_count=rng.choice((1, 2)), limit=rng.choice((0, 5))).ask(connection)
        elif what == 1:
            order, seed = mutant_text(rng, rng.choice(samples.ORDERS), samples.ORDERS), rng.choice((None, 1))
            Kwic(pattern=pattern, context=rng.choice((0, 3)), sort=order, random=seed, limit=5).ask(
                connection
            )
        else:
            Dependencies(head=pattern, limit=5).ask(connection)


def guard(bench: Bench, rng: random.Random) -> None:
    """Run SQL of strangers; what passes the guard runs on a locked connection."""
    query = mutant_text(rng, rng.choice(samples.QUERIES), samples.QUERIES)
    bench.written = len(query)
    require_harmless(bench.locked, query)
    ask(bench.locked, query, (), max_rows=20)


def option_texts(bench: Bench, rng: random.Random) -> None:
    """Read settings of the aligner."""
    name = rng.choice((*PbhmmSettings.names(), *ODD))
    value = rng.choice((*ODD, "0.2", "true", "paper", "3", "1,2"))
    bench.written = len(name) + len(value)
    PbhmmSettings.preset(rng.choice(("paper", "best"))).changed({name: value})


def ingestion(bench: Bench, rng: random.Random) -> None:
    """Ingest a file; what is refused leaves nothing, and removing what is taken leaves nothing."""
    path, form = _corpus_file(bench, rng)
    settings = Settings(
        "fuzz",
        rng.choice((form, None)),
        columns=rng.choice((None, "word,pos,lemma,head,mode")) if form == "vertical" else None,
        lowercase=rng.random() < 0.3,
        order=rng.choice((1, 2, 5)),
        tags=rng.choice(("xpos", "upos")),
        function_heads=rng.random() < 0.7,
        on_error=rng.choice(ON_ERROR),
    )
    with bench.unchanged():
        ingest(bench.store, [path], settings)
        corpora.remove(bench.store, "fuzz")


def ingestion_of_pairs(bench: Bench, rng: random.Random) -> None:
    """The same for pairs."""
    paths = _pair_paths(bench, rng)
    on_error = rng.choice(("raise", "skip"))
    with bench.unchanged():
        ingest_pairs(bench.store, paths, "fuzz", settings=_pair_settings(rng), on_error=on_error)
        corpora.remove(bench.store, "fuzz")


def command(bench: Bench, rng: random.Random) -> None:
    """Run a whole command of which an argument is odd; it ends with 0, 1 or 2, and one line."""
    arguments = shlex.split(rng.choice(samples.COMMANDS))
    changing = bench.counts()
    at = rng.randrange(1, len(arguments))
    odd = mutant_text(rng, arguments[at], samples.PATTERNS) if rng.random() < 0.5 else rng.choice(ODD)
    arguments[at] = odd.replace("\0", "")
    if "TREES" in arguments:
        arguments[arguments.index("TREES")] = bench.mutant(
            rng, samples.CORPORA["conllu"][1], _ALL, "trees.conllu"
        )
    while "FILE" in arguments:
        arguments[arguments.index("FILE")] = bench.mutant(
            rng, samples.CORPORA["lines"][0], _ALL, f"{len(arguments)}.txt"
        )
    code = _run([*arguments, "--db", str(bench.store.path)], bench)
    if code not in (0, 1, 2):
        raise HalfWrittenError(f"exit code {code}")
    if code and bench.counts() != changing:
        raise HalfWrittenError("rows differ after a command that was refused")
    for name in set(_names(bench, "corpus")) - {"demo"}:
        corpora.remove(bench.store, name)
    for name in set(_names(bench, "model")) - {"demo"}:
        registry.remove(bench.store, name)
    if code:
        raise SentgenError("refused")


def _names(bench: Bench, table: str) -> list[str]:
    with bench.store.connect() as connection:
        return [name for (name,) in raw(connection).execute(f"select name from {table}").fetchall()]


def _run(arguments: list[str], bench: Bench) -> int:
    """Run a command in this process; its store is closed in the meantime."""
    given, folder = sys.argv, os.getcwd()
    path = bench.store.path
    bench.store.close()
    sys.argv = ["sentgen", *arguments]
    os.chdir(bench.folder)
    code = 0
    try:
        with contextlib.redirect_stdout(_Sink()), contextlib.redirect_stderr(_Sink()):
            sentgen.cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = given
        os.chdir(folder)
        bench.store = Store(path, memory_limit=1 << 29, threads=1)
    return code


class _Sink(io.TextIOWrapper):
    """A stream that forgets, with the encoding of a terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace")


#: Name to function, weight, and seconds that it may take besides those of its size.
TARGETS: dict[str, tuple[Callable[[Bench, random.Random], None], float, float]] = {
    "corpus readers": (corpus_reader, 40.8, 0.5),
    "documents and tables": (document_reader, 8, 1.0),
    "test sets, clusters, texts": (other_reader, 6, 0.5),
    "pair readers": (pair_reader, 11, 0.5),
    "gold alignments": (gold_reader, 11, 0.5),
    "bags": (bag_reader, 8, 0.5),
    "patterns": (search, 4, 1.0),
    "SQL": (guard, 5, 1.0),
    "settings": (option_texts, 2, 0.5),
    "ARPA files": (arpa_file, 1.2, 1.5),
    "ingestion": (ingestion, 0.8, 2.0),
    "ingestion of pairs": (ingestion_of_pairs, 0.4, 2.0),
    "commands": (command, 0.8, 4.0),
}
