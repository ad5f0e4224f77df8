"""BLEU, time and heads of joint decoding without a model of more text and with one, on three development sets.

The text is that of newspapers and of novels, in one model named text, which `--features auto` finds. None of it
is that of a test: the benchmark counts the sentences of each test that stand in it, word for word. Weights were
learnt from other sentences: the odd ones of the two treebanks, and WSJ 0160-0179 with a model of 0100-0159.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from harness import OUT, data, fresh, rows, run, show, treebank, written
from joint import bags_of, times

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.schema import Store

TEXT = ("text/ptb-lm-sections-02-20.txt.gz", "text/english-novels-100.txt.gz")
#: Sentences of fewer words stand anywhere.
LONG = 8
#: Sentences whose time is taken.
TIMED = 100
COMPANIONS = "tags=.2", "classes=.9", "items=.6"
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_WORDS = re.compile(r"\w+")


def main() -> None:
    sentences = int(sys.argv[1]) if len(sys.argv) > 1 else None
    OUT.mkdir(parents=True, exist_ok=True)
    store, text = fresh("more-text"), [_text(name) for name in TEXT]
    _build(store, text)
    tests = {
        name: str(written(f"{name}-even", treebank(name, "dev")[1::2][:sentences])) for name in ("ewt", "gum")
    }
    tests["wsj"] = str(data("wsj01/dep") / "wsj_01[89]*.dp")
    table = [row for name, path in tests.items() for row in _judged(store, name, path)]
    columns = ("test", "system", "BLEU lc none", "BLEU lc 13a", "right heads", "CPU ms a bag")
    show("joint decoding with more text", columns, table)
    beginnings = {name: _beginnings(read_test_set(path)) for name, path in tests.items()}
    found = _found(text, set().union(*beginnings.values()))
    for name, mine in beginnings.items():
        print(
            f"{name}: of {len(mine)} sentences of {LONG} words and more, {len(mine & found)} stand in the text"
        )


def _build(store: Path, text: list[Path]) -> None:
    trains = {name: str(data(f"ud/en_{name}-ud-train.conllu")) for name in ("ewt", "gum")}
    trains["wsj"] = str(data("wsj01/dep") / "wsj_01[0-7]*.dp")
    for name, path in trains.items():
        run("ingest", path, "--corpus", name, "--order", "5", store=store)
        options = ("--unknown", "tag", "--brackets", "--companions")
        run("models", "build", name, "--corpus", name, "--order", "5", *options, store=store)
    run("ingest", *map(str, text), "--corpus", "more", "--order", "5", store=store)
    run("models", "build", "text", "--corpus", "more", "--order", "5", store=store)


def _judged(store: Path, name: str, path: str) -> Iterator[tuple[object, ...]]:
    """Yield a row for each system."""
    systems = {
        "joint without text": "joint:features=" + "+".join(f"{name}-{one}" for one in COMPANIONS),
        "beam with text": "beam:features=auto",
        "joint with text": "joint",
    }
    asked = ("--model", name, "--test", path, "--algorithms", ",".join(systems.values()))
    run("evaluate", "regeneration", *asked, store=store)
    figures = _figures(store)
    with Store(store, read_only=True) as opened:
        bags = bags_of(opened, name, islice(read_test_set(path), TIMED))
        for told, system in systems.items():
            mine, took = figures[system], sum(times(opened, name, system, bags))
            yield name, told, mine["bleu-lc-none"], mine["bleu-lc-13a"], mine.get("attachment"), took


def _text(name: str) -> Path:
    """Write a text without control characters, which no corpus may have."""
    path = OUT / Path(name).stem
    with (
        gzip.open(data(name), "rt", encoding="utf-8-sig", newline="\n") as lines,
        path.open("w", encoding="utf-8") as out,
    ):
        out.writelines(_CONTROLS.sub("", line.rstrip("\r\n")) + "\n" for line in lines)
    return path


def _beginnings(sentences: Iterator[Sentence]) -> set[tuple[str, ...]]:
    """Return the first words of the sentences that are long enough, lower-cased."""
    found = (_WORDS.findall(" ".join(one.forms).lower()) for one in sentences)
    return {tuple(words[:LONG]) for words in found if len(words) >= LONG}


def _found(paths: list[Path], wanted: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return those sequences of words that stand in a line of a text."""
    there = set()
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                words = _WORDS.findall(line.lower())
                there.update(wanted.intersection(zip(*(words[k:] for k in range(LONG)), strict=False)))
    return there


def _figures(store: Path) -> dict[str, dict[str, float]]:
    query = (
        "select system, metric, value from v_scores where run = (select max(run) from v_scores) and item is null"
        " and metric in ('bleu-lc-none', 'bleu-lc-13a', 'attachment')"
    )
    found: dict[str, dict[str, float]] = {}
    for row in rows(store, query):
        found.setdefault(row["system"], {})[row["metric"]] = row["value"]
    return found


if __name__ == "__main__":
    main()
