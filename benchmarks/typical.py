"""Are the first lines of ``--sort typical`` better examples than others? ``python benchmarks/typical.py``.

``typical_judgements.tsv`` has 60 words (lemma and part of speech), five each of nouns, verbs and adjectives in four
bands of frequency in EWT and GUM, train, and for each the places of two sets of three sentences: the first ones of
``--sort typical``, and three drawn at random. They were judged on a sheet that says which set is A and which B,
drawn by a seed, and not which is which, by somebody who did not write the order; which is the better set of
examples of the word for a dictionary, or whether they are equal. The words were drawn before, and the weights set
by others (`TRIED`, and more that were drawn with other seeds); after the sheet was written, nothing was changed
that changes it.

Without arguments it says how often each was better. ``--draw FOLDER`` writes ``sheet.tsv`` and ``key.tsv``, and
``--judged FOLDER`` the file from these and from ``judgements.tsv`` (word; better: A, B or equal). ``--speed`` asks
for the lines of a word of some 100,000 hits in this and in other orders.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path

from harness import OUT, SENTGEN, data, measure, megabytes, show
from rich.markup import escape
from sqlalchemy import Connection

from sentgen.cli.console.options import StoreOptions
from sentgen.lookups.base.statement import Statement
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.output.rates import wilson
from sentgen.schema import Store

JUDGEMENTS = Path(__file__).with_name("typical_judgements.tsv")
CLASSES, BANDS, OF_BAND, SEED = ("NOUN", "VERB", "ADJ"), ((10, 19), (20, 49), (50, 199), (200, 10**6)), 5, 1
ORDERS = ("typical", "random")
#: What is asked for its speed, of so many copies of both treebanks.
QUERY, COPIES, LIMIT, SORTS = '[lemma="be"]', 8, "1.5GB", ("1L", "none", "2L,1R", "typical")
#: Words that weights were tried on.
TRIED = (
    *("argue", "bring", "careful", "cheap", "decision", "government", "honest", "idea", "issue", "kitchen"),
    *("large", "repair", "suggest"),
)
_WORDS = """\
select lemma.form as lemma, tag.name as upos, count(*) as hits
from token
join word as lemma on lemma.id = token.lemma_id
join tag on tag.id = token.upos_id
where regexp_full_match(lemma.form, '[a-z]{3,}')
group by all
order by all"""


@dataclass(frozen=True)
class Word:
    """A lemma of a part of speech, and how often it occurs."""

    lemma: str
    upos: str
    hits: int

    def __str__(self) -> str:
        return f"{self.lemma} ({self.upos})"


@dataclass(frozen=True)
class Example:
    """A sentence with the word in brackets."""

    name: str
    text: str


def store(copies: int = 1) -> Path:
    """Return the store, made if it is not there: both treebanks, and the surprisal by a model of them."""
    path = OUT / ("typical.duckdb" if copies == 1 else f"typical-{copies}.duckdb")
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        files, at = [data(f"ud/en_{name}-ud-train.conllu") for name in ("ewt", "gum")], ["--db", str(path)]
        for number in range(copies):
            # Else they would be one source, ingested once.
            made = [OUT / f"copy-{number}-{one.name}" for one in files] if copies > 1 else files
            for one, copy in zip(files, made, strict=True):
                if copies > 1:
                    copy.write_text(f"# newdoc id = copy-{number}\n{one.read_text('utf-8')}", "utf-8")
            measure([SENTGEN, "ingest", *map(str, made), "--corpus", "ud", *at])
            for copy in made:
                if copies > 1:
                    copy.unlink()
        measure([SENTGEN, "models", "build", "ud", "--corpus", "ud", "--order", "3", *at])
        measure([SENTGEN, "models", "apply", "ud", "--corpus", "ud", *at])
    return path


def words(connection: Connection, seed: int = SEED) -> list[Word]:
    """Draw the words."""
    draw, found = random.Random(seed), list[Word]()
    every = [Word(**row) for row in Statement(_WORDS).run(connection).to_pylist()]
    for upos in CLASSES:
        for low, high in BANDS:
            among = [one for one in every if one.upos == upos and low <= one.hits <= high]
            found += draw.sample([one for one in among if one.lemma not in TRIED], OF_BAND)
    draw.shuffle(found)
    return found


def examples(connection: Connection, word: Word, *, typical: bool) -> list[Example]:
    """Return three sentences with a word: the best ones, or some drawn at random."""
    query = f'[lemma="{word.lemma}" & upos="{word.upos}"]'
    order = {"sort": "typical", "limit": 20} if typical else {"limit": 0}
    rows = Kwic(cql=query, context="1s", **order).ask(connection).table.to_pylist()
    if not typical:
        random.Random(f"{SEED} {word}").shuffle(rows)
    found: dict[str, Example] = {}
    for row in rows:
        text = " ".join(filter(None, (row["left"], f"[{row['node']}]", row["right"])))
        found.setdefault(row["sent_id"], Example(row["sent_id"], text))
    return list(found.values())[:3]


def draw(folder: Path) -> None:
    """Write the sheet and its key."""
    labels = random.Random(SEED)
    with Store(store(), read_only=True) as opened, opened.connect() as connection:
        sheet, key = list[Sequence[object]](), list[Sequence[object]]()
        for word in words(connection):
            sets = [(name, examples(connection, word, typical=name == "typical")) for name in ORDERS]
            labels.shuffle(sets)
            for label, (order, found) in zip("AB", sets, strict=True):
                sheet.append((word, label, *(one.text for one in found)))
                names = " ".join(one.name for one in found)
                key.append((word.lemma, word.upos, word.hits, label, order, names))
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "sheet.tsv", ("word", "label", "1", "2", "3"), sheet)
    write(folder / "key.tsv", ("lemma", "upos", "hits", "label", "order", "sentences"), key)


def write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as sink:
        csv.writer(sink, delimiter="\t", lineterminator="\n").writerows([columns, *rows])


def read(path: Path) -> Iterator[dict[str, str]]:
    """Read one."""
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t")


def judged(folder: Path) -> None:
    """Write the places of the sets with what was judged of them."""
    better = {row["word"]: row["better"] for row in read(folder / "judgements.tsv")}
    rows = []
    for row in read(folder / "key.tsv"):
        said = better[f"{row['lemma']} ({row['upos']})"]
        verdict = "equal" if said == "equal" else "better" if said == row["label"] else "worse"
        rows.append((*row.values(), verdict))
    write(JUDGEMENTS, ("lemma", "upos", "hits", "label", "order", "sentences", "verdict"), rows)


def report() -> None:
    """Print how often the first lines were better, for all words and for some of them."""
    rows = [row for row in read(JUDGEMENTS) if row["order"] == "typical"]
    parts = [("all", rows), *((upos, [row for row in rows if row["upos"] == upos]) for upos in CLASSES)]
    for low, high in BANDS:
        name = f"{low}-{high} hits" if high < 10**6 else f"{low} hits and more"
        parts.append((name, [row for row in rows if low <= int(row["hits"]) <= high]))
    shown = []
    for name, part in parts:
        said = Counter(row["verdict"] for row in part)
        won, lost = said["better"], said["worse"]
        least, most = wilson(won, max(won + lost, 1))
        shown.append(
            (name, won, lost, said["equal"], f"{least:.2f}-{most:.2f}", f"{sign_test(won, lost):.2g}")
        )
    columns = ("words", "better", "worse", "equal", "better, of those not equal", "p")
    show("the first three lines of --sort typical, beside three at random", columns, shown)


def sign_test(won: int, lost: int) -> float:
    """Return p of the exact two-sided sign test; what is equal has no sign."""
    tossed = won + lost
    tail: float = sum(comb(tossed, heads) for heads in range(min(won, lost) + 1)) / 2**tossed
    return min(1.0, 2 * tail)


def speed() -> None:
    """Ask for the first lines of a frequent word in several orders, three times each, in turn."""
    path, runs = store(COPIES), {sort: list[dict[str, float]]() for sort in SORTS}
    for _ in range(3):
        for sort, told in runs.items():
            used = measure([sys.executable, __file__, "--one", sort, str(path)])
            told.append({**json.loads(used.output.splitlines()[-1]), "peak": used.peak})
    shown, least = [], {sort: min(one["cpu"] for one in told) for sort, told in runs.items()}
    for sort, told in runs.items():
        wall, peak = min(one["wall"] for one in told), max(one["peak"] for one in told)
        hits, times = int(told[0]["hits"]), f"{least[sort] / least[SORTS[0]]:.1f}"
        shown.append((sort, hits, f"{wall:.2f}", f"{least[sort]:.2f}", times, megabytes(int(peak))))
    columns = ("--sort", "hits", "s", "CPU s", f"times {SORTS[0]}", "peak")
    show(f"the first 20 lines of {escape(QUERY)}, limit {LIMIT}", columns, shown)


def one(sort: str, path: Path) -> None:
    """Ask in one order, the second time, and print the seconds."""
    with (
        StoreOptions(db=path, memory_limit=LIMIT).store(read_only=True) as opened,
        opened.connect() as connection,
    ):
        for _ in range(2):
            began, used = time.monotonic(), time.process_time()
            hits = Kwic(cql=QUERY, sort=sort, explain=sort == "typical").ask(connection).total
            told = {"hits": hits, "wall": time.monotonic() - began, "cpu": time.process_time() - used}
    print(json.dumps(told))


if __name__ == "__main__":
    if "--one" in sys.argv:
        one(sys.argv[-2], Path(sys.argv[-1]))
    elif "--speed" in sys.argv:
        speed()
    elif "--draw" in sys.argv:
        draw(Path(sys.argv[-1]))
    elif "--judged" in sys.argv:
        judged(Path(sys.argv[-1]))
    else:
        report()
