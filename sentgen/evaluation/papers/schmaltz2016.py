"""The n-gram systems of Schmaltz, Rush and Shieber 2016, "Word ordering without syntax".

They train on sections 02-21 and test on 23. The model is a 5-gram model with Kneser-Ney smoothing; where base
noun phrases are kept whole, it counts their brackets as words. BLEU is that of `mteval-v13`, which ignores
case; the models do not. This differs from the paper: hypotheses are recombined, the end of a sentence is
scored, phrases of one word have no brackets, and unknown words are those that the training part does not
have, where the paper takes words seen less than three times.
"""

from __future__ import annotations

from collections.abc import Callable

from sentgen.errors import InputError
from sentgen.evaluation.papers.paper import TESTS, Findings, Paper, PaperRequest, PublishedTable, Trees
from sentgen.evaluation.papers.penn_treebank import ORDER, TreebankExperiment, split_treebank
from sentgen.evaluation.regeneration.bleu import overlap_metrics
from sentgen.models.build_request import BuildRequest
from sentgen.output.tabular import Rows
from sentgen.schema import Store

#: "Following past work": the split of Liu et al. 2015; section 22 is for development.
_TRAINING = range(2, 22)
_DATA = "PTB WSJ 02-21 -> 23"
_READING = "mteval-v13, case not looked at"
#: "Noun phrases without nested constituents" of the trees; tagged files have other base noun phrases.
_TREES: tuple[Trees, ...] = ("mrg", "mrg+pos", "dp+pos")
#: The beam search without future cost is `viterbi` over single words.
_NO_COST, _64, _512 = "viterbi:beam=64:order=5", "beam:beam=64", "beam:beam=512"
_WORDS = PublishedTable(
    "schmaltz2016",
    "Schmaltz et al. 2016, table 1, words",
    f"{_DATA}, words",
    {_NO_COST: 32.0, _64: 37.0, _512: 38.6},
    reading=_READING,
)
_WORDS_AND_PHRASES = PublishedTable(
    "schmaltz2016",
    "Schmaltz et al. 2016, table 1, words and base NPs",
    f"{_DATA}, base NPs kept",
    {_64: 54.3, _512: 55.6},
    reading=_READING,
)
#: Names of the systems in the paper.
_NAMES = {_NO_COST: "NGram-64, no future cost", _64: "NGram-64", _512: "NGram-512"}
_TABLES = (_WORDS, _WORDS_AND_PHRASES)
_COLUMNS = ("figure", "system", "published", "here", "low", "high", "here, as tokenized")
_MAIN, _OTHER = "bleu-lc-13a", "bleu-lc-none"


def _prepare(request: PaperRequest) -> Callable[[Store], Findings]:
    split = split_treebank(
        str(request.ptb), trees=request.trees, preferred=_TREES, training=_TRAINING, quick=request.quick
    )
    if split.form == "dp":
        raise InputError("dependencies alone have no base noun phrases; give .mrg or .pos files as well")
    overlap_metrics()  # raises without sacreBLEU, before anything that takes long
    return lambda store: _run(TreebankExperiment(store, split, request, lowercase=False))


def _run(experiment: TreebankExperiment) -> Findings:
    """Ingest a treebank in its own case; order its test set as words, and with base noun phrases kept."""
    experiment.ingest_training()
    name = experiment.corpus
    figures: list[list[object]] = []
    tests: list[list[object]] = []
    notes = []
    for table, units, brackets in ((_WORDS, "word", False), (_WORDS_AND_PHRASES, "np", True)):
        wanted = BuildRequest(name=f"{name}-{units}", corpus=[name], order=ORDER, brackets=brackets)
        model = experiment.model(wanted)
        result = experiment.regenerate(model, list(table.figures), units=units)
        figures += [
            [
                *(table.citation, _NAMES[system.system], table.figures[system.system]),
                *(*system.with_ends(_MAIN), system.value(_OTHER)),
            ]
            for system in result.systems
        ]
        tests += table.tests(result.comparisons, {name: name for name in table.figures}, "")
        notes.append(f"{table.citation}: run {result.run_id}, model {model.label}")
    return Findings(Rows(_COLUMNS, figures), Rows(TESTS, tests), [experiment.summary(result), *notes])


SCHMALTZ_2016 = Paper(
    "schmaltz2016",
    "Schmaltz, Rush and Shieber 2016",
    "table 1: the n-gram systems, by words and with base noun phrases kept",
    _TABLES,
    _prepare,
    needs=("ptb",),
    takes=("trees", "quick"),
)
