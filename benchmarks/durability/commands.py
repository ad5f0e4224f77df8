"""The commands that are killed, the stores on which they run, and the files that they read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import duckdb

import sentgen.cli
from durability.children import Child, Marks, bounded_batches
from durability.digests import NOTHING, Digest, differing, digest_of, same
from durability.texts import Texts
from sentgen.schema import migrate

#: Rows of a row group: what DuckDB writes into the file before a transaction commits.
ROW_GROUP = 122_880
#: Bases: no store at all; one with corpora, pairs and models; the same of the revision before.
NONE, FULL, OLD = "none", "full", "old"


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it runs on, how, and how it goes on when it was killed.

    ``again`` says what completes it: ``same``, the same command; ``once``, the same unless it is done;
    ``resume``, the same with --resume once something of it is there.
    """

    name: str
    base: str
    arguments: tuple[str, ...]
    again: str = "same"
    weight: float = 1.0

    def to_complete(self, state: int, states: int) -> tuple[str, ...] | None:
        """Return what is to be run in a state of its store, if anything."""
        if self.again == "once" and state == states - 1:
            return None
        if self.again == "resume" and state:
            return (*self.arguments, "--resume")
        return self.arguments


@dataclass(slots=True)
class Course:
    """How a command goes when nothing disturbs it.

    ``states`` are the digests that its store has one after the other; ``after`` says in which of them it is
    after each commit; ``spans`` are seconds from the start at which commits begin and end; ``sizes`` are those
    of the file before and after; ``published`` is the digest of the snapshot that it makes.
    """

    states: list[Digest]
    after: list[int]
    spans: list[tuple[float, float]]
    seconds: float
    sizes: tuple[int, int]
    published: Digest | None = None

    def state_of(self, found: Digest) -> int | None:
        """Return the number of the state with a digest, the last one if there are several."""
        numbers = [number for number, state in enumerate(self.states) if same(found, state)]
        return numbers[-1] if numbers else None


@dataclass(slots=True)
class Workshop:
    """A folder with inputs, bases, and the store that is worked on."""

    folder: Path
    seed: int
    tokens: int
    marks: Marks = field(default_factory=Marks)

    @property
    def store(self) -> Path:
        """The store on which commands run."""
        return self.folder / "work" / "store.duckdb"

    @property
    def snapshots(self) -> Path:
        """The folder into which stores are published."""
        return self.store.parent / "snapshots"

    def base(self, name: str) -> Path:
        """Return a base."""
        return self.folder / f"{name}.duckdb"

    def fresh(self, base: str) -> None:
        """Put a copy of a base in place of the store."""
        shutil.rmtree(self.store.parent, ignore_errors=True)
        self.store.parent.mkdir(parents=True)
        if base != NONE:
            shutil.copyfile(self.base(base), self.store)

    def text(self, name: str, make: Callable[[Texts, Path], Path]) -> str:
        """Return an input, which is written if it is not there."""
        path = self.folder / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(make(Texts(f"{self.seed} {name}"), path))

    def with_store(self, arguments: Iterable[str], store: Path | None = None) -> list[str]:
        """Return a command on the store, or on another one."""
        return [*arguments, "--db", str(store or self.store)]


def commands(shop: Workshop, only: Sequence[str] = ()) -> list[Command]:
    """Return the commands, or those with the given names; writes what they read, except for the bases."""
    many, few = shop.tokens, shop.tokens // 6
    lines = [
        shop.text("many.lines", lambda texts, path: texts.lines(path, many)),
        shop.text("few.lines", lambda texts, path: texts.lines(path, few)),
    ]
    trees = shop.text("trees.conllu", lambda texts, path: texts.trees(path, few))
    pairs = shop.text("pairs.jsonl", lambda texts, path: texts.pairs(path, many // 300, 250))
    test = shop.text("test.lines", lambda texts, path: texts.lines(path, 200))
    models, training = ("models", "build", "new", "--corpus", "text", "--order", "3"), ("--model", "new")
    found = [
        Command("ingest text", FULL, ("ingest", *lines, "--corpus", "new", "--order", "3"), weight=2),
        Command("ingest text, new store", NONE, ("ingest", *lines, "--corpus", "new"), weight=2),
        Command("ingest trees", FULL, ("ingest", trees, "--corpus", "new", "--order", "2"), weight=1.5),
        Command(
            "ingest --replace",
            FULL,
            ("ingest", corrected(shop), "--corpus", "text", "--order", "3", "--replace"),
            weight=1.5,
        ),
        Command("pairs ingest", FULL, ("pairs", "ingest", pairs, "--corpus", "new", "--tokenized")),
        Command("models build kneser-ney", FULL, models, "once", 1.5),
        Command("models build katz", FULL, (*models, "--smoothing", "katz"), "once"),
        Command("models import-arpa", FULL, ("models", "import-arpa", "new", shop_arpa(shop)), "once"),
        Command("models remove", FULL, ("models", "remove", "kn"), "once"),
        Command("corpora remove", FULL, ("corpora", "remove", "text", "--yes"), "once", 1.5),
        Command(
            "align train",
            FULL,
            ("align", "train", "--pairs", "pairs", "--iterations", "1", *training),
            "resume",
        ),
        Command("align apply", FULL, ("align", "apply", "--pairs", "pairs", "--model", "aligner")),
        Command("db compact", FULL, ("db", "compact"), weight=1.5),
        Command("db upgrade", OLD, ("db", "upgrade"), weight=1.5),
        Command("publish", FULL, ("publish", "--to", str(shop.snapshots))),
        Command(
            "evaluate regeneration",
            FULL,
            ("evaluate", "regeneration", "--model", "kn", "--test", test, "--algorithms", "greedy"),
            "once",
            0.5,
        ),
    ]
    if find_spec("ufal.udpipe"):
        prose = shop.text("prose.txt", lambda texts, path: texts.prose(path, few // 10))
        parser = ("--parser", f"udpipe:{shop.folder / 'texts' / 'tiny.udpipe'}")
        found.append(Command("ingest with a parser", FULL, ("ingest", prose, "--corpus", "new", *parser)))
    chosen = [command for command in found if not only or command.name in only]
    if unknown := set(only) - {command.name for command in found}:
        sys.exit(
            f"no such command: {', '.join(sorted(unknown))}; there are: {', '.join(c.name for c in found)}"
        )
    return chosen


def shop_arpa(shop: Workshop) -> str:
    """Return where the ARPA file is."""
    return str(shop.folder / "texts" / "model.arpa")


def corrected(shop: Workshop) -> str:
    """Return where a file is whose content changes when it has been ingested."""
    return str(shop.folder / "texts" / "base-1.lines")


def make_bases(shop: Workshop, chosen: Sequence[Command]) -> None:
    """Make the stores that the commands need, in this process, which so loads what was compiled."""
    if all(command.base == NONE for command in chosen):
        shop.fresh(NONE)
        run_here(shop.with_store(chosen[0].arguments))
        return
    words = {" ".join(command.arguments[:2]) for command in chosen} | {c.base for c in chosen}
    full = shop.base(FULL)
    full.unlink(missing_ok=True)

    def run(*arguments: str) -> None:
        run_here(shop.with_store(arguments, full))

    text = [
        shop.text(f"base-{n}.lines", lambda texts, path: texts.lines(path, shop.tokens // 2)) for n in (1, 2)
    ]
    for one in text:  # two segments for compaction to merge
        run("ingest", one, "--corpus", "text", "--order", "3")
    Texts(f"{shop.seed} corrected").lines(Path(corrected(shop)), shop.tokens // 2)
    run("models", "build", "kn", "--corpus", "text", "--order", "3")
    if words & {"align train", "align apply", OLD}:
        pairs = shop.text("base.jsonl", lambda texts, path: texts.pairs(path, 60, 150))
        run("pairs", "ingest", pairs, "--corpus", "pairs", "--tokenized")
        run("align", "train", "--pairs", "pairs", "--model", "aligner", "--iterations", "1")
    if "models import-arpa" in words:
        run("models", "build", "bigrams", "--corpus", "text", "--order", "2")
        run("models", "export", "bigrams", "--arpa", shop_arpa(shop))
        run("models", "remove", "bigrams")
    if any("--parser" in command.arguments for command in chosen):
        # What it learns does not matter.
        sys.path.append(str(Path(__file__).parents[2] / "tests"))
        import tiny_parser

        tiny_parser.train(shop.folder / "texts" / "tiny.udpipe")
    if OLD in words:
        _make_older(full, shop.base(OLD))


def run_here(arguments: Sequence[str]) -> None:
    """Run a command in this process, silently, or end."""
    given, out, err = sys.argv, sys.stdout, sys.stderr
    with open("/dev/null", "w") as nowhere, bounded_batches():
        sys.argv, sys.stdout, sys.stderr = ["sentgen", *arguments], nowhere, nowhere
        try:
            sentgen.cli.main()
        except SystemExit as end:
            if end.code:
                sys.stderr = err
                sys.exit(f"failed: sentgen {' '.join(arguments)}")
        finally:
            sys.argv, sys.stdout, sys.stderr = given, out, err


def know_one_more_revision(shop: Workshop) -> None:
    """Let this process and its children know a migration more than there is, for an upgrade to be disturbed."""
    sys.path.append(str(Path(__file__).parents[2] / "tests"))
    import next_revision

    folder = shop.folder / "migrations"
    shutil.rmtree(folder, ignore_errors=True)
    next_revision.know(next_revision.write(folder))


def _make_older(full: Path, old: Path) -> None:
    """Copy a store and turn it into one of the revision before."""
    shutil.copyfile(full, old)
    with duckdb.connect(str(old)) as duck:
        duck.execute("update alembic_version set version_num = ?", [[*migrate.REVISIONS][-2]])


def undisturbed(shop: Workshop, command: Command) -> Course:
    """Run a command to its end twice, once to see its states and once to see how long it takes."""
    states, after = [NOTHING], []
    shop.fresh(command.base)
    if command.base != NONE:
        states = [digest_of(shop.store, read_only=True)]
    before = shop.store.stat().st_size if shop.store.exists() else 0
    ended = Child(shop.with_store(command.arguments), marks=shop.marks, record=True).end()
    if ended.code:
        sys.exit(f"{command.name} fails undisturbed:\n{ended.said}")
    for found in [*ended.recorded, digest_of(shop.store, read_only=True)]:
        if found is not None and not same(found, states[-1]):
            states.append(found)
        after.append(len(states) - 1)
    size = shop.store.stat().st_size
    copies = list(shop.snapshots.glob("*.duckdb"))
    published = digest_of(copies[0], read_only=True) if copies else None
    shop.fresh(command.base)
    ended = Child(shop.with_store(command.arguments), marks=shop.marks).end()
    final = digest_of(shop.store, read_only=True)
    if wrong := differing(final, states[-1]):
        sys.exit(f"{command.name} differs from run to run, in {', '.join(wrong)}")
    times = [abs(mark) - ended.began for mark in ended.marks]
    spans = list(zip(times[::2], times[1::2], strict=True))
    return Course(states, after[:-1], spans, ended.seconds, (before, size), published)
