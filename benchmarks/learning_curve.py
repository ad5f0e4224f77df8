"""BLEU of beam, beam with features, and joint by how much of two treebanks is learnt from.

Of EWT and GUM, the training sentences are shuffled together; 10, 25, 50 and 100% of them are learnt from. The
even sentences of each development set are put in order. Weights are those that sentgen comes with.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from harness import OUT, fresh, rows, run, show, treebank, written

TREEBANKS = ("ewt", "gum")
PARTS = (10, 25, 50, 100)
SYSTEMS = {"beam": "beam", "features": "beam:features=auto", "joint": "joint"}


def main() -> None:
    sentences = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    OUT.mkdir(parents=True, exist_ok=True)
    blocks = [block for name in TREEBANKS for block in treebank(name, "train")]
    random.Random(1).shuffle(blocks)
    tests = {name: written(f"{name}-even", treebank(name, "dev")[1::2][:sentences]) for name in TREEBANKS}
    table: list[tuple[object, ...]] = []
    for part in PARTS:
        store = fresh("learning-curve")
        train = written("learning-curve", blocks[: len(blocks) * part // 100])
        run("ingest", str(train), "--corpus", "half", "--order", "5", store=store)
        _build(store, "half", "--unknown", "tag", "--brackets")
        for over in ("tags", "classes", "items"):
            _build(store, f"half-{over}", "--over", over)
        for name, test in tests.items():
            found = _bleu(store, test, list(SYSTEMS.values()))
            table += [(f"{part}%", name, told, round(found[system], 2)) for told, system in SYSTEMS.items()]
            show(
                f"{part}% of {len(blocks)} sentences",
                ("learnt from", "test", "system", "BLEU"),
                table[-len(SYSTEMS) :],
            )
    show("learning curve", ("learnt from", "test", "system", "BLEU"), table)


def _build(store: Path, name: str, *options: str) -> None:
    run("models", "build", name, "--corpus", "half", "--order", "5", *options, store=store)


def _bleu(store: Path, test: Path, systems: list[str]) -> dict[str, float]:
    run(
        "evaluate",
        "regeneration",
        "--model",
        "half",
        "--test",
        str(test),
        "-a",
        ",".join(systems),
        store=store,
    )
    query = """
        select system, value from v_scores
        where metric = 'bleu-lc-none' and item is null and run = (select max(run) from v_scores)
    """
    return {row["system"]: row["value"] for row in rows(store, query)}


if __name__ == "__main__":
    main()
