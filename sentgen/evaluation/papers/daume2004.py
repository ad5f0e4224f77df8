"""The experiment of Daumé and Marcu 2004 on any gold standard, with the published figures.

Its corpus, Ziff-Davis, is licensed, and only the authors can give the links. With both, name the folder of
HandAlign as the gold standard, and the pairs without links as training data. Any other gold standard is other
data than the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sentgen.alignment.pairs.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import Budget
from sentgen.alignment.texts import read_pairs
from sentgen.evaluation.alignment.experiment import AlignmentResult, Target, evaluate_alignment
from sentgen.evaluation.alignment.gold import GoldStandard, pseudo_sizes
from sentgen.evaluation.alignment.gold_readers import read_gold
from sentgen.evaluation.figures.results import SystemResult
from sentgen.evaluation.papers.paper import TESTS, Findings, Paper, PaperRequest, PublishedTable
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import default_memory_limit

#: The beam of the paper, "sized at 50% of the unrestricted state-space", is not needed here. The number of
#: iterations is that of the journal version (Computational Linguistics 31(4)); the paper of 2004 states none.
PBHMM = "pbhmm:preset=paper:iterations=10"
#: The systems of table 5, with their names here. Model 4 links each word of its target to one word of its
#: source: the target is the document where the source is the abstract.
SYSTEMS: Mapping[str, str] = {
    "HMM": "hmm",
    "Model 4": "mgiza:join=backward",
    "HMM-flipped": "hmm-flipped",
    "Model 4-flipped": "mgiza:join=forward",
    "Cut & Paste": "cut-and-paste",
    "PBHMM": PBHMM,
}
#: Systems beyond the paper: its model with priors only, a second greedy aligner, and the preset of sentgen.
_BEYOND = ("pbhmm:preset=paper", "lcs", "pbhmm")
#: Pairs with links, and pairs to learn from, of `--quick`: ten pseudo-documents of 22 texts.
QUICK = 220

_HUMANS = ("human 1", "human 2")
_WORSE = [name for name in SYSTEMS.values() if name != PBHMM]
_DATA = "Ziff-Davis, 45 documents of which 40 by two annotators; trained on 2,033 extracts"
#: Section 3.4: "performs significantly better", "significantly outperforms"; which test is not said.
_SIGNIFICANT = {(name, PBHMM): "significantly" for name in _WORSE} | {
    (name, "cut-and-paste"): "significantly" for name in _WORSE if name != "cut-and-paste"
}


def _column(label: str, metric: str, *values: float) -> PublishedTable:
    """Return a column of table 5 from its figures, those of the two annotators first."""
    return PublishedTable(
        "daume2004",
        f"Daumé and Marcu 2004, table 5, {label}",
        _DATA,
        dict(zip((*_HUMANS, *SYSTEMS.values()), values, strict=True)),
        metric,
        "links of two annotators united",
        _SIGNIFICANT if metric == "soft-f1" else {},
    )


SOFT_P = _column("SoftP", "soft-precision", 0.727, 0.680, 0.120, 0.117, 0.295, 0.280, 0.349, 0.456)
RECALL = _column("Recall", "recall", 0.746, 0.695, 0.260, 0.260, 0.250, 0.247, 0.379, 0.686)
SOFT_F = _column("SoftF", "soft-f1", 0.736, 0.687, 0.164, 0.161, 0.271, 0.262, 0.363, 0.548)
#: PBHMM O, an oracle: PBHMM without its links of words that no annotator links.
ORACLE = tuple(
    PublishedTable(
        "daume2004",
        f"Daumé and Marcu 2004, table 5, PBHMM O, {label}",
        _DATA,
        {PBHMM: value},
        f"{metric}:oracle",
        "links of two annotators united",
    )
    for label, metric, value in (
        ("SoftP", "soft-precision", 0.523),
        ("Recall", "recall", 0.686),
        ("SoftF", "soft-f1", 0.594),
    )
)
#: Kappa of sure links in section 3.1: of all words, and of words that are not on the list of words to ignore.
KAPPA = tuple(
    PublishedTable(
        "daume2004",
        f"Daumé and Marcu 2004, section 3.1, kappa, {words} words",
        "Ziff-Davis, 40 documents, 7.2 million items",
        {"1 vs 2": value},
        f"kappa:sure:{words}",
        "sure links",
    )
    for words, value in (("all", 0.63), ("content", 0.68))
)
_COLUMNS = ("figure", "in the paper", "system", "published", "here", "low", "high")


@dataclass(frozen=True, slots=True)
class _Given:
    """Pairs with links, pairs to learn from, and how many of both there were before `--quick` cut them."""

    gold: GoldStandard
    training: list[Pair]
    of: tuple[int, int]


def _prepare(request: PaperRequest) -> Callable[[Store], Findings]:
    """Read the gold standard and the pairs to learn from."""
    assert request.gold is not None  # both are needed
    assert request.format is not None
    sizes = None if request.pseudo_documents is None else pseudo_sizes(request.pseudo_documents)
    whole = read_gold(request.gold, request.format)
    most = QUICK if request.quick else None
    gold = whole.first(most)
    if sizes is not None:
        gold = gold.pseudo_documents(documents=sizes[0], abstracts=sizes[1], seed=request.seed)
    training = list(read_pairs(*request.train)) if request.train else []
    return partial(_run, request, _Given(gold, training[:most], (len(whole.pairs), len(training))))


def _run(request: PaperRequest, given: _Given, store: Store) -> Findings:
    """Align the pairs with the systems of the paper and those beyond it, and compare the systems."""
    request.report(
        f"aligning {quantity(len(given.gold.pairs), 'pair')} with {len(SYSTEMS) + len(_BEYOND)} systems"
    )
    advance = request.progress
    names = ("gold", "format", "pseudo_documents", "train", "quick")
    options = {name.replace("_", "-"): getattr(request, name) for name in names}
    result = evaluate_alignment(
        store,
        Target(given.gold),
        (*SYSTEMS.values(), *_BEYOND),
        training=given.training,
        seed=request.seed,
        parameters={"paper": DAUME_2004.name, **options, "train": list(request.train)},
        budget=Budget.to_align(request.memory or default_memory_limit(), with_store=True),
        progress=None if advance is None else lambda _, done, of: advance(done, of),
    )
    # Systems have the short names of the paper, which leave room for the p-values.
    names_of = {system: name for name, system in SYSTEMS.items()}
    table = replace(
        SOFT_F,
        citation=_label(SOFT_F),
        figures={name: SOFT_F.figures[system] for name, system in SYSTEMS.items()},
        significant={(names_of[a], names_of[b]): said for (a, b), said in _SIGNIFICANT.items()},
    )
    return Findings(
        Rows(_COLUMNS, list(_figures(result))),
        Rows(TESTS, table.tests(result.comparisons, names_of, "")),
        list(_notes(request, given, result)),
    )


def _figures(result: AlignmentResult) -> Iterator[list[object]]:
    """Yield the rows of `_COLUMNS`: each column of table 5 with the systems beyond it; the oracle; kappa."""
    by_name = {system.system: system for system in result.systems}
    humans = [(f"Human{n}", f"human {n}", human) for n, human in enumerate(result.humans, 1)]
    rows = [
        *((name if key in _HUMANS else None, key, human.system, human) for name, key, human in humans),
        *((name, system, system, by_name.get(system)) for name, system in SYSTEMS.items()),
        *((None, system, system, by_name.get(system)) for system in _BEYOND),
    ]
    for table in (SOFT_P, RECALL, SOFT_F):
        for name, key, system, measured in rows:
            yield [_label(table), name, system, table.figures.get(key), *_measured(measured, table.metric)]
    for table in ORACLE:
        of_paper = _measured(by_name.get(PBHMM), table.metric)
        yield [_label(table), "PBHMM O", PBHMM, table.figures[PBHMM], *of_paper]
    for table in KAPPA:
        for agreed in result.agreements:
            if table.metric == f"kappa:{agreed.kind}:{agreed.scope}":
                both = f"{agreed.one} vs {agreed.other}"
                yield [
                    _label(table),
                    "two annotators",
                    both,
                    *table.figures.values(),
                    agreed.kappa,
                    None,
                    None,
                ]


def _label(table: PublishedTable) -> str:
    """Return the name of a column from its citation, without the paper and the place in it."""
    return table.citation.split(", ", 2)[2].removeprefix("PBHMM O, ")


def _measured(system: SystemResult[Alignment] | None, metric: str) -> tuple[float | None, ...]:
    """Return a figure and the two ends of its interval, all ``None`` for a system that could not run."""
    return (None, None, None) if system is None else system.with_ends(metric)


def _notes(request: PaperRequest, given: _Given, result: AlignmentResult) -> Iterator[str]:
    pairs = [pair.pair for pair in given.gold.pairs]
    document, abstract = (
        sum(len(words) for words in texts) / len(pairs)
        for texts in ([pair.document for pair in pairs], [pair.abstract for pair in pairs])
    )
    parts = [
        f" of the first {QUICK:,} of {total:,} pairs (--quick)" * (request.quick and total > QUICK)
        for total in given.of
    ]
    made = f" by --pseudo-documents {request.pseudo_documents}" if request.pseudo_documents else ""
    yield (
        f"{request.gold}: {quantity(len(pairs), 'pair')}{made}{parts[0]}, {document:.0f} words a document and"
        f" {abstract:.0f} an abstract; the paper has 45 of Ziff-Davis, 511 and 129"
    )
    yield "other data than the paper's, unless it is Ziff-Davis: only the order of systems can be compared"
    others = quantity(len(given.training), "other pair")
    yield f"learnt from these and {others}{parts[1]}, without links; seed {request.seed}"
    for missing in result.missing:
        yield f"{missing.system} was left out: {missing.reason}"
    yield f"table 5: run {result.run_id}"


DAUME_2004 = Paper(
    "daume2004",
    "Daumé and Marcu 2004",
    "table 5 and kappa: documents and abstracts aligned by a phrase-based HMM and five others",
    (SOFT_P, RECALL, SOFT_F, *ORACLE, *KAPPA),
    _prepare,
    needs=("gold", "format"),
    takes=("pseudo_documents", "train", "quick"),
)
