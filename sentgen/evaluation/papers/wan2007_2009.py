"""The experiments of Wan et al. 2007 and 2009, run from the treebank, with the published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

from sentgen.evaluation.papers.paper import TESTS, Findings, Paper, PaperRequest, PublishedTable
from sentgen.evaluation.papers.penn_treebank import ORDER, TreebankExperiment, split_treebank
from sentgen.evaluation.regeneration.bleu import overlap_metrics
from sentgen.evaluation.regeneration.experiment import OrderingResult, RegenerationResult
from sentgen.models.build_request import BuildRequest
from sentgen.models.companions import is_annotated
from sentgen.output.tabular import Rows
from sentgen.schema import Store

#: The paper prints fractions, such as 0.307 for the 30.7 here. "All differences are significant at p < 0.01
#: except between the variations of our systems", which build their trees by Prim's algorithm.
_WAN_2007_PTB = PublishedTable(
    "wan2007",
    "Wan et al. 2007, figure 4",
    "PTB WSJ 02-22 -> 23, base NPs kept (viterbi: words), PTB LM",
    {"prim": 29.6, "prim-ngram": 30.7, "prim-arg": 30.0, "greedy": 27.9, "viterbi": 10.7},
    significant={
        pair: "not significant" if all(name.startswith("prim") for name in pair) else "p < 0.01"
        for pair in combinations(("prim", "prim-ngram", "prim-arg", "greedy", "viterbi"), 2)
    },
)
#: "The CLE algorithm significantly out-performed the LMO baseline", "the AB system which significantly
#: out-performs all other methods"; the paper does not say so of the second column.
_WAN_2009_PTB = PublishedTable(
    "wan2009",
    "Wan et al. 2009, table 2, PTB-LM",
    "PTB WSJ 02-22 -> 23, base NPs kept (viterbi: words), PTB LM",
    {"viterbi": 14.9, "lmo": 24.3, "cle": 26.4, "ab": 33.6},
    significant=dict.fromkeys(
        (("lmo", "cle"), ("viterbi", "ab"), ("lmo", "ab"), ("cle", "ab")), "significant"
    ),
)
_WAN_2009_BLLIP = PublishedTable(
    "wan2009",
    "Wan et al. 2009, table 2, BLLIP-LM",
    "PTB WSJ 02-22 -> 23, base NPs kept (viterbi: words), BLLIP LM of 20M words",
    {"viterbi": 18.0, "lmo": 26.0, "cle": 26.8, "ab": 33.7},
)
#: "A 4-gram language model ... smoothed using Katz's method" (2009, section 5.2; 2007, section 6.2).
_OF_PAPERS = partial(BuildRequest, order=4, smoothing="katz")
#: The model that is best for the searches of `BEYOND` (docs/ordering.md).
_BEST = partial(BuildRequest, order=ORDER, unknown="tag", brackets=True, companions=True)
#: Searches that no paper has: by n-grams of words; of tags, classes and items as well; and with trees.
BEYOND = ("beam", "beam:features=auto", "joint")
_BEYOND = "beyond the paper"
_LM_TEXT = "lm-text"
_COLUMNS = ("figure", "algorithm", "published", "literal", "defaults", "literal-13a", "defaults-13a")


def _prepare(tables: Sequence[PublishedTable], request: PaperRequest) -> Callable[[Store], Findings]:
    split = split_treebank(str(request.ptb), trees=request.trees, quick=request.quick)
    overlap_metrics()  # raises without sacreBLEU, before anything that takes long
    run = [table for table in tables if table is not _WAN_2009_BLLIP or request.lm_text]
    # The examples that the papers print are lower-cased.
    return lambda store: _run(TreebankExperiment(store, split, request, lowercase=True), run)


def _run(experiment: TreebankExperiment, tables: Sequence[PublishedTable]) -> Findings:
    """Ingest a treebank, build the models of a paper, and regenerate its test set with all of its systems.

    Each algorithm runs twice: literally as the paper describes it, and with the defaults of sentgen. The
    systems of `BEYOND` run last. The second language model is built from ``lm_text`` alone, as the BLLIP
    model of 2009 was.
    """
    request, corpus = experiment.request, experiment.corpus
    experiment.ingest_training()
    if request.lm_text:
        experiment.ingest(_LM_TEXT, request.lm_text)
    figures: list[list[object]] = []
    tests: list[list[object]] = []
    notes = []
    for table in tables:
        name = _LM_TEXT if table is _WAN_2009_BLLIP else corpus
        model = experiment.model(_OF_PAPERS(name=name, corpus=[name]))
        literal = {f"{name}:as-published={table.paper.removeprefix('wan')}": name for name in table.figures}
        result = experiment.regenerate(model, [name for pair in literal.items() for name in pair])
        figures += _figures(table, literal, result)
        tests += table.tests(result.comparisons, literal, "literal")
        tests += table.tests(result.comparisons, {name: name for name in table.figures}, "defaults")
        notes.append(f"{table.citation}: run {result.run_id}, model {model.label}")
    if is_annotated(experiment.store, corpus):
        model = experiment.model(_BEST(name=f"{corpus}-best", corpus=[corpus]))
        result = experiment.regenerate(model, BEYOND)
        figures += [_beyond(system) for system in result.systems]
        notes.append(f"{_BEYOND}: run {result.run_id}, model {model.label}")
    else:
        request.report(f"no base noun phrases in {corpus}, such as .pos files have: nothing beyond the paper")
    return Findings(Rows(_COLUMNS, figures), Rows(TESTS, tests), [experiment.summary(result), *notes])


def _figures(
    table: PublishedTable, literal: Mapping[str, str], result: RegenerationResult
) -> Iterator[list[object]]:
    """Yield a row of `_COLUMNS` an algorithm: published BLEU, and BLEU of both runs in two tokenizations."""
    systems = {system.system: system for system in result.systems}
    for system, name in literal.items():
        both = (systems[system], systems[name])
        values = [result.value(metric) for metric in ("bleu-lc-none", "bleu-lc-13a") for result in both]
        yield [table.citation, name, table.figures[name], *values]


def _beyond(system: OrderingResult) -> list[object]:
    values = (system.value("bleu-lc-none"), None, system.value("bleu-lc-13a"))
    return [_BEYOND, system.system, None, None, *values]


WAN_2007 = Paper(
    "wan2007",
    "Wan, Dras, Dale and Paris 2007",
    "figure 4: trees by Prim's algorithm and two n-gram baselines",
    (_WAN_2007_PTB,),
    partial(_prepare, (_WAN_2007_PTB,)),
    needs=("ptb",),
    takes=("trees", "quick"),
)
WAN_2009 = Paper(
    "wan2009",
    "Wan, Dras, Dale and Paris 2009",
    "table 2: trees by assignment, by Chu, Liu and Edmonds, and two n-gram baselines",
    (_WAN_2009_PTB, _WAN_2009_BLLIP),
    partial(_prepare, (_WAN_2009_PTB, _WAN_2009_BLLIP)),
    needs=("ptb",),
    takes=("trees", "quick", "lm_text"),
)
