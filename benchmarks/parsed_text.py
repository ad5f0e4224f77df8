"""Joint decoding with the trees of a treebank, of novels that a parser parsed, and of both.

``python benchmarks/parsed_text.py PARSER [TOKENS] [SENTENCES]``: PARSER as for `sentgen ingest --parser`, so many
tokens of novels, drawn evenly from all of them, and so many even sentences of each development set. The models of
n-grams are those of the treebank in every row. What the factors of trees weigh is chosen for each source of trees on
some odd sentences: the defaults, or those times a number. The second table is beside a model of n-grams of the same
novels, with the default weights.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import OUT, data, fresh, run, show, treebank, written

from sentgen.evaluation.figures.measurement import compare_all
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.experiment import (
    PRIMARY,
    OrderingResult,
    RegenerationSettings,
    evaluate_regeneration,
)
from sentgen.generation.trees.factors import BESIDE_TEXT, FactorSettings
from sentgen.models.base import registry
from sentgen.schema import Store

TREEBANKS = ("ewt", "gum")
#: What the weights of all factors of trees are multiplied by.
SCALES = (0.7, 1.0, 1.4)
#: Odd sentences of each development set that weights are chosen on.
CHOSEN_ON = 300
#: Of all the novels, as UDPipe makes them.
TOKENS = 17_500_000
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def main(parser: str, tokens: int, sentences: int | None) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    path, novels = OUT / "parsed-text.duckdb", f"novels-{tokens}"
    if not path.exists():
        _build(fresh("parsed-text"))
    run("ingest", str(_drawn(tokens)), "--corpus", novels, "--parser", parser, store=path)
    title = f"joint decoding, {tokens:,} tokens of novels parsed by {Path(parser).name}"
    _show(title, path, novels, sentences, FactorSettings().weights, SCALES)
    run("models", "build", "text", "--corpus", novels, "--order", "5", store=path)
    _show(f"{title}, and as more text", path, novels, sentences, BESIDE_TEXT, (1.0,))
    run("models", "remove", "text", store=path)


def _show(
    title: str,
    path: Path,
    novels: str,
    sentences: int | None,
    weights: Mapping[str, float],
    scales: Sequence[float],
) -> None:
    with Store(path) as store:
        table = [row for name in TREEBANKS for row in _rows(store, name, novels, sentences, weights, scales)]
    show(title, ("dev", "trees of", "weights x", "BLEU", "13a", "heads", "p to treebank", "sign test"), table)


def _build(store: Path) -> None:
    """Ingest the treebanks, and build their models; parses will be kept in the same store."""
    for name in TREEBANKS:
        run("ingest", str(data(f"ud/en_{name}-ud-train.conllu")), "--corpus", name, store=store)
        options = ("--order", "5", "--unknown", "tag", "--brackets", "--companions")
        run("models", "build", name, "--corpus", name, *options, store=store)


def _drawn(tokens: int) -> Path:
    """Write paragraphs of all novels, evenly drawn, that have about so many tokens."""
    path = OUT / f"novels-{tokens}.txt"
    share = min(1.0, tokens / TOKENS)
    with (
        gzip.open(data("text/english-novels-100.txt.gz"), "rt", encoding="utf-8-sig", newline="\n") as lines,
        path.open("w", encoding="utf-8") as out,
    ):
        for number, line in enumerate(lines, 1):
            if int(number * share) > int((number - 1) * share):
                out.write(_CONTROLS.sub("", line.rstrip("\r\n")) + "\n")
    return path


def _rows(
    store: Store,
    name: str,
    novels: str,
    sentences: int | None,
    weights: Mapping[str, float],
    scales: Sequence[float],
) -> list[tuple[object, ...]]:
    """Choose on the odd sentences, and return what the chosen weights do on the even ones."""
    dev = treebank(name, "dev")
    odd = str(written(f"{name}-odd", dev[::2][:CHOSEN_ON]))
    even = str(written(f"{name}-even", dev[1::2][:sentences]))
    sources = {"none": (), name: (name,), "novels": (novels,), f"{name} and novels": (name, novels)}
    chosen, results = {}, {}
    for source, trees in sources.items():
        systems = {scale: _system(weights, scale) if trees else "beam:features=auto" for scale in scales}
        tried = dict.fromkeys(scales, 0.0)
        if trees and len(scales) > 1:
            tried = {
                scale: _judged(store, name, odd, trees, systems[scale]).value(PRIMARY) for scale in scales
            }
        chosen[source] = max(scales, key=tried.__getitem__)
        results[source] = _judged(store, name, even, trees, systems[chosen[source]])
    tests = {}
    for pair in compare_all({source: one.measurements[PRIMARY] for source, one in results.items()}, seed=1):
        if name in (pair.better, pair.worse):
            other = pair.worse if pair.better == name else pair.better
            tests[other] = f"{pair.holm:.4f}", f"{pair.sign_p:.4f}"
    rows = list[tuple[object, ...]]()
    for source, one in results.items():
        heads = f"{one.value('attachment'):.1%}" if sources[source] else ""
        figures = (one.value(PRIMARY), one.value("bleu-lc-13a"), heads)
        rows.append((name, source, chosen[source], *figures, *tests.get(source, ("", ""))))
    return rows


def _system(weights: Mapping[str, float], scale: float) -> str:
    named = "+".join(f"{factor}={weight * scale:g}" for factor, weight in weights.items())
    return f"joint:factors={named}"


def _judged(store: Store, name: str, test: str, trees: Sequence[str], system: str) -> OrderingResult:
    """Put the sentences of a file in order."""
    model, search = registry.find(store, name), RegenerationSettings(dependencies=list(trees) or None)
    return evaluate_regeneration(store, model, read_test_set(test), [system], search, source=test).systems[0]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python benchmarks/parsed_text.py PARSER [TOKENS] [SENTENCES]")
    numbers = [int(argument) for argument in sys.argv[2:]]
    main(sys.argv[1], numbers[0] if numbers else 1_000_000, numbers[1] if len(numbers) > 1 else None)
