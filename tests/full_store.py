"""A store in which every table has rows, made by the commands from files that are named by absolute paths.

Corpora ``pets`` (a treebank of two sentences, and one that is refused), ``notes`` (plain text, with a table about it), ``odd`` (what
only CoNLL-U says), ``clusters`` (of the two sentences), ``pairs``, and ``held``, more of them, and the
subcorpus ``short`` of ``pets``;
models ``kn`` (with weights), ``katz`` and ``tags`` of ``pets``, and one that was removed; the aligners
``aligner``, trained and applied, and ``tuned``; the vectors ``company`` of ``pets``; one evaluation, and one
parse.
"""

from __future__ import annotations

import hashlib
import json
import sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import toy_pairs

from sentgen.cli import build
from sentgen.models.base import registry
from sentgen.models.companions import LearntWeights
from sentgen.schema import Store, maintenance
from sentgen.schema.store import raw
from sentgen.schema.tables.parses import keep_parses

TREES = """\
# newdoc id = pets
# sent_id = p1
# text = The dog chased a cat.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_
3\tchased\tchase\tVERB\tVBD\t_\t0\troot\t_\t_
4\ta\ta\tDET\tDT\t_\t5\tdet\t_\t_
5\tcat\tcat\tNOUN\tNN\t_\t3\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = p2
1-2\tCan't\t_\t_\t_\t_\t_\t_\t_\t_
1\tCa\tcan\tAUX\tMD\t_\t4\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3\tdogs\tdog\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
4\tswim\tswim\tVERB\tVB\t_\t0\troot\t_\t_
5\t?\t?\tPUNCT\t.\t_\t4\tpunct\t_\t_

# sent_id = p3
1\tA\ta\tDET\tDT\t_\t9\tdet\t_\t_

"""

#: What only CoNLL-U says, and how it may be written: there must be rows of all of that.
ODD = """\
# newdoc id = odd
# meta::genre = essay
# text = Du pain.
# sent_id = o1
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\tLang=fr
1\tDe\tde\tADP\tE\t_\t3\tcase\t3:case\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t3:det|2.1:x\t_
2.1\tbon\tbon\tADJ\t_\t_\t_\t_\t3:amod\t_
3\tpain\tpain\tNOUN\tS\t_\t0\troot\t09:bad\tGloss=bread|SpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t3:punct\t_


# speaker = Ann
1\tOui\t_\t_\t_\t_\t0\troot\t_\t_
"""

#: Pairs whose documents say more than their abstracts, so that there are sentences to choose.
LONGER = (
    ("q0", "A dog came home. Nobody had seen the old cat. It rained all night.", "A dog came home."),
    ("q1", "The house burned. We were not there. A car stood near the river.", "The house burned."),
)


def run(*arguments: object) -> None:
    """Run a command of sentgen in this process."""
    build()(list(map(str, arguments)), standalone_mode=False)


def make(folder: Path) -> Path:
    """Make the store and the files that it is made from in a folder; return the store, packed."""
    path, trees, notes = folder / "making.duckdb", folder / "pets.conllu", folder / "notes.txt"
    clusters = folder / "clusters.conllu"
    trees.write_text(TREES)
    clusters.write_text(TREES[: TREES.index("# sent_id = p3")])
    (odd := folder / "odd.conllu").write_text(ODD.rstrip())
    # Of one row, DuckDB keeps a table of numbers without a block.
    (ends := folder / "ends.conllu").write_bytes(b"1\tNon\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n\r\n")
    notes.write_text("A dog barked.\nNo cat came.\n")
    (about := folder / "about.csv").write_text("name,topic\nnotes,pets\n")
    pairs = toy_pairs.write_jsonl(folder / "pairs.jsonl", [*toy_pairs.PAIRS, *LONGER])
    at = ("--db", path)
    run("ingest", trees, "--corpus", "pets", "--on-error", "skip", *at)
    run("ingest", notes, "--corpus", "notes", *at)
    run("corpora", "metadata", "notes", about, "--key", "name", *at)
    run("ingest", odd, ends, "--corpus", "odd", *at)
    run("subcorpora", "define", "short", "--where", "length < 6", "--corpus", "pets", *at)
    run("vectors", "build", "company", "--corpus", "pets", "--dimensions", 2, "--min-count", 1, *at)
    run("models", "build", "kn", "--corpus", "pets", "--order", 3, *at)
    run("models", "apply", "kn", "--corpus", "pets", *at)
    run("models", "build", "gone", "--corpus", "pets", "--order", 2, *at)
    run("models", "remove", "gone", *at)
    run("models", "build", "katz", "--corpus", "pets", "--corpus", "notes", "--smoothing", "katz", *at)
    run("models", "build", "tags", "--corpus", "pets", "--unknown", "tag", "--brackets", "--order", 2, *at)
    run("pairs", "ingest", pairs, "--corpus", "pairs", *at)
    run("align", "train", "--pairs", "pairs", "--model", "aligner", "--iterations", 1, *at)
    run("align", "apply", "--pairs", "pairs", "--model", "aligner", *at)
    held = toy_pairs.write_jsonl(folder / "held.jsonl", LONGER)
    run("pairs", "ingest", held, "--corpus", "held", *at)
    run("align", "apply", "--pairs", "held", "--model", "aligner", *at)
    (gold := folder / "gold.txt").write_text("a dog ||| the dog ||| 1-1\na cat ||| one cat ||| 0p0 1-1\n")
    run("align", "tune", "tuned", "--gold", gold, "--iterations", 2, *at)
    run("generate", clusters, "--corpus", "clusters", "--lengths", 5, *at)
    run("saved", "add", "dogs", *at, "--", "kwic", "dog", "--limit", 5)
    (labels := folder / "labels.csv").write_text("line,label\n1,pet\n")
    by_desk = ("--desk", folder / "pets.desk", *at)
    run("lines", "new", "dogs", "dog", *by_desk)
    run("lines", "import", "dogs", labels, "--labeler", "ann", *by_desk)
    related = ["a dog barked .", "the dog barked .", "a black dog barked .", "one dog barked ."]
    (folder / "related.jsonl").write_text(json.dumps({"sentences": related}))
    (folder / "sheet.tsv").write_text("number\tkey\tsentence\tjudgment\n1\ta cat\ta black cat\tyes\n")
    (folder / "sheet.answers.tsv").write_text("number\tcluster\tsystem\n1\tpets\trevise\n")
    run("evaluate", "regeneration", "--model", "kn", "--test", trees, "-a", "lmo,viterbi", *at)
    _parse(path)
    _weights(path)
    maintenance.compact(path)
    return path


def _parse(path: Path) -> None:
    """Keep a parse whose JSON is so long that it takes blocks of its own."""
    row = {
        "parser": "udpipe",
        "version": "1",
        "tokenized": False,
        "sha256": hashlib.sha256(b"text").hexdigest(),
        "sentences": 1,
        "tokens": 1,
        "result": f'["{" ".join(map(str, range(60_000)))}"]',
        "parsed_at": datetime(2026, 1, 1),
    }
    with Store(path) as store, store.begin() as connection:
        keep_parses(raw(connection), pa.Table.from_pylist([row]))


def _weights(path: Path) -> None:
    """Keep weights as `tune` does, which needs more sentences than these."""
    with Store(path) as store:
        weights = LearntWeights({"tags@1": 0.25}, {"relations": 0.5})
        weights.add(store, registry.find(store, "kn").id, "joint", 1)


if __name__ == "__main__":
    print(make(Path(sys.argv[1])), file=sys.stderr)
