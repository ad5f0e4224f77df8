"""The tables of an evaluation of alignments, as text in cells; figures are shown in percent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sentgen.alignment.texts import pharaoh
from sentgen.evaluation.alignment.kinds import CLASSES, RELATIONS, kinds, missed_words, wrong_words
from sentgen.evaluation.alignment.measures import PRIMARY, SCOPES
from sentgen.evaluation.alignment.results import AlignerResult, AlignmentResult
from sentgen.evaluation.report.tables import ReportTable, best_cells, csv_text
from sentgen.output.wording import quantity

#: What people call the figures, in the order of tables.
LABELS = {
    "soft-precision": "SoftP",
    "recall": "Recall",
    PRIMARY: AlignmentResult.main.label,
    "precision": "P",
    "f1": "F1",
    "aer": "AER",
    "macro-precision": "macro P",
    "macro-recall": "macro R",
    "macro-f1": "macro F1",
    "exact": "exact",
}
_OF_SCOPE = ("soft-precision", "recall", "soft-f1", "f1", "aer")


def percent(value: float) -> str:
    """Return a share in percent; nothing for one that is not defined.

    >>> percent(0.5478), percent(float("nan"))
    ('54.8', '')
    """
    return f"{100 * value:.1f}" if value == value else ""


def figures_table(result: AlignmentResult) -> ReportTable:
    """Return the figures of all words: systems, the best one first, and annotators."""
    values = [[system.value(name) for system in result.ranked] for name in LABELS]
    return ReportTable(
        f"{quantity(len(result.pairs), 'pair')}, all words",
        ["system", *LABELS.values(), "training, s", "ms a pair"],
        [
            [
                system.system,
                *(_cell(system, name, with_interval=name in ("soft-f1", "macro-f1")) for name in LABELS),
                *_times(system),
            ]
            for system in (*result.ranked, *result.humans)
        ],
        "In percent; in brackets: 95% intervals of a bootstrap over pairs. Lower is better for AER, the"
        " alignment error rate. Exact: pairs with all sure and only possible links."
        + (" Humans: sure links of one annotator by what the others drew." if result.humans else ""),
        best_cells(values, [list(LABELS).index("aer") + 1]),
    )


def _cell(system: AlignerResult, metric: str, *, with_interval: bool = False) -> str:
    value, interval = percent(system.value(metric)), system.intervals[metric]
    return f"{value}\n({percent(interval.low)} – {percent(interval.high)})" if with_interval else value


def _times(system: AlignerResult) -> tuple[str, str]:
    if not system.times:
        return "", ""
    training, each_pair = system.times
    return f"{training.value:.1f}", f"{each_pair.value:.2f}"


def scope_tables(result: AlignmentResult) -> Iterator[ReportTable]:
    """Yield the figures without ignored words, and with the help of the oracle."""
    for scope, meaning in SCOPES.items():
        if scope:
            yield ReportTable(
                meaning.capitalize(),
                ["system", *(LABELS[name] for name in _OF_SCOPE)],
                [
                    [system.system, *(percent(system.value(name + scope)) for name in _OF_SCOPE)]
                    for system in (*result.ranked, *result.humans)
                ],
            )


def new_table(result: AlignmentResult) -> ReportTable:
    """Return how well new words are told from those that come from the document."""
    names = [f"new-{figure}{scope}" for scope in ("", ":content") for figure in ("precision", "recall", "f1")]
    return ReportTable(
        "New words",
        ["system", "P", "R", "F1", "P, content", "R, content", "F1, content"],
        [
            [system.system, *(percent(system.value(name)) for name in names)]
            for system in (*result.ranked, *result.humans)
        ],
        "Words of the abstract that are aligned with nothing. P: those of the system without a sure link; R:"
        " those without a possible link that the system leaves alone, too. Content: without ignored words.",
    )


def source_table(result: AlignmentResult) -> ReportTable:
    """Return how often the sources of abstract sentences are found, where documents have several."""
    names = ["source-accuracy", "source-accuracy:content"]
    systems = [one for one in (*result.ranked, *result.humans) if names[0] in one.measurements]
    return ReportTable(
        "Sources of sentences",
        ["system", "accuracy", "content"],
        [[one.system, *(percent(one.value(name)) for name in names)] for one in systems],
        "Abstract sentences with sure links: the share whose links mostly lead to the right sentence of the"
        " document, which is a text of a pseudo-document. Content: without ignored words.",
    )


def _kappa(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.3f}"


def agreement_table(result: AlignmentResult) -> ReportTable:
    """Return how far annotators agree."""
    return ReportTable(
        "Agreement of the annotators",
        ["annotators", "links", "words", "items", "kappa"],
        [
            [f"{one.one}, {one.other}", one.kind, one.scope, f"{one.items:,}", _kappa(one.kappa)]
            for one in result.agreements
        ],
        "Cohen's kappa; an item is a word of the document with a word of the abstract, linked or not."
        " Possible: sure and possible links. None: one of them links nothing, or all.",
    )


def kinds_table(result: AlignmentResult) -> ReportTable:
    """Return by kind of link which sure ones the systems found, and how many wrong ones they drew."""
    counted = {system.system: kinds(result, system) for system in result.ranked}
    rows = []
    for kind in ((relation, name) for relation in RELATIONS for name in CLASSES):
        of = [found.get(kind) for found in counted.values()]
        if any(of):
            sure = max(one.sure for one in of if one)
            cells = [
                f"{percent(one.found / one.sure) if one and one.sure else '–'} / {one.wrong if one else 0}"
                for one in of
            ]
            rows.append([", ".join(kind), f"{sure:,}", *cells])
    return ReportTable(
        "By kind of link",
        ["kind", "sure links", *counted],
        rows,
        "Sure links that were found, in percent / links that were drawn and are not even possible, a number."
        " Repeated: the word occurs several times in the document or the abstract.",
    )


def words_table(result: AlignmentResult, system: AlignerResult) -> ReportTable:
    """Return the words that a system most often fails to link, and most often links wrongly."""
    missed, wrong = missed_words(result, system), wrong_words(result, system)
    size = max(len(missed), len(wrong))
    rows = [
        [word, str(n or ""), other, str(k or "")]
        for (word, n), (other, k) in zip(_padded(missed, size), _padded(wrong, size), strict=True)
    ]
    columns = ["missed: document → abstract", "times", "wrong: document → abstract", "times"]
    return ReportTable(f"Words: {system.system}", columns, rows)


def _padded(words: Sequence[tuple[str, int]], size: int) -> list[tuple[str, int]]:
    return [*words, *[("", 0)] * (size - len(words))]


def missing_table(result: AlignmentResult) -> ReportTable:
    """Return the systems that could not run here."""
    return ReportTable("Not run", ["system", "why"], [[one.system, one.reason] for one in result.missing])


def kinds_csv(result: AlignmentResult) -> str:
    """Return a line a system and kind of link."""
    return csv_text(
        ["system", "relation", "class", "sure", "found", "wrong"],
        [
            (system.system, *kind, one.sure, one.found, one.wrong)
            for system in result.systems
            for kind, one in kinds(result, system).items()
        ],
    )


def links_csv(result: AlignmentResult) -> str:
    """Return a line a pair and system: its links as `i-j`, document and abstract."""
    return csv_text(
        ["system", "pair", "links"],
        [
            (system.system, pair.key, pharaoh(answer))
            for system in result.systems
            for pair, answer in zip(result.pairs, system.answers, strict=True)
        ],
    )
