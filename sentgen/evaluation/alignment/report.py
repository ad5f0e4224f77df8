"""The report of an evaluation of alignments: tables, plots, and pairs with what each system did to them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from sentgen.alignment import Alignment, Link, Pair
from sentgen.alignment.words.word_classes import stem
from sentgen.evaluation.alignment.experiment import AlignmentResult
from sentgen.evaluation.alignment.measures import PRIMARY, SCOPES
from sentgen.evaluation.figures.report import (
    ExperimentReport,
    FigureColumn,
    Report,
    ReportTable,
    csv_text,
    scores_csv,
)
from sentgen.evaluation.figures.results import SystemResult
from sentgen.output.drawing import Theme, legend_beside, literal, plain_axes
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_EXAMPLES = 20
#: Texts of an example that are longer than this many words are not shown whole.
_WORDS = 120
#: Links that a system missed, or drew wrongly, as words.
_MOST_WORDS = 20


@dataclass(frozen=True, slots=True)
class _LinkErrors:
    """The links of a pair that one system missed, and those that are wrong, as words."""

    system: str
    figure: str
    missed: Sequence[str]
    wrong: Sequence[str]


@dataclass(frozen=True, slots=True)
class _PairExample:
    """A pair and the errors of each system, the best one of the run first."""

    key: str
    document: str
    abstract: str
    errors: Sequence[_LinkErrors]


def _named(pair: Pair, links: Collection[Link]) -> list[str]:
    # In the order of the abstract, which people read.
    ordered = sorted(links, key=lambda link: (link[1], link[0]))
    return [f"{pair.document[i]} → {pair.abstract[j]}" for i, j in ordered]


def _shortened(words: Sequence[str]) -> str:
    more = len(words) - _WORDS
    return " ".join(words[:_WORDS]) + (f" … and {quantity(more, 'word')} more" if more > 0 else "")


#: How the two words of a link are related. Copies of words that occur once in both texts are told from those
#: that have several places to come from or go to.
_RELATIONS = ("copy", "copy, repeated", "same stem", "other word")
_CLASSES = ("content", "function", "number", "punctuation")


@dataclass(frozen=True, slots=True)
class _KindCounts:
    """Links of one kind: how many are sure, how many of these the system found, how many it drew wrongly."""

    sure: int
    found: int
    wrong: int


class _KindOf:
    """Tells the kind of a link of one pair."""

    def __init__(self, pair: Pair, ignored: Collection[str]) -> None:
        self._document = [word.lower() for word in pair.document]
        self._abstract = [word.lower() for word in pair.abstract]
        self._counts = Counter(self._document), Counter(self._abstract)
        self._ignored = ignored

    def of(self, link: Link) -> tuple[str, str]:
        """Return the relation of the words and the class of the abstract word."""
        one, other = self._document[link[0]], self._abstract[link[1]]
        return self._relation(one, other), self._class(other)

    def _relation(self, document_word: str, abstract_word: str) -> str:
        if document_word == abstract_word:
            # In each text once: the link can be no other.
            once = self._counts[0][document_word] == self._counts[1][document_word] == 1
            return "copy" if once else "copy, repeated"
        return "same stem" if stem(document_word) == stem(abstract_word) else "other word"

    def _class(self, word: str) -> str:
        if not any(character.isalnum() for character in word):
            return "punctuation"
        # Any digit makes a number, as in `4th` and `10,000`.
        if any(character.isdigit() for character in word):
            return "number"
        return "function" if word in self._ignored else "content"


#: The figures in the order of tables.
_COLUMNS = {
    column.metric: column
    for column in (
        FigureColumn("soft-precision", "SoftP"),
        FigureColumn("recall", "Recall"),
        FigureColumn(PRIMARY, AlignmentResult.main.label, interval=True),
        FigureColumn("precision", "P"),
        FigureColumn("f1", "F1"),
        FigureColumn("aer", "AER", better="lower"),
        FigureColumn("macro-precision", "macro P"),
        FigureColumn("macro-recall", "macro R"),
        FigureColumn("macro-f1", "macro F1", interval=True),
        FigureColumn("exact", "exact"),
    )
}
_TIMES = (
    FigureColumn("training-seconds", "training, s", 1, better="neither"),
    FigureColumn("pair-ms", "ms a pair", 1, 2, better="neither"),
)
_OF_SCOPE = ("soft-precision", "recall", "soft-f1", "f1", "aer")


def _percent(value: float) -> str:
    """Return a share in percent; nothing for one that is not defined.

    >>> _percent(0.5478), _percent(float("nan"))
    ('54.8', '')
    """
    return f"{100 * value:.1f}" if value == value else ""


class AlignmentReport(ExperimentReport[AlignmentResult]):
    """The contents of the report of an evaluation of aligners."""

    def report(self) -> Report:
        """Return the report of a run."""
        first, *others = self._tables()
        return Report(
            title=f"Alignments, run {self.result.run_id}",
            template="alignment/report.html.j2",
            shown={
                "pairs": len(self.result.pairs),
                "first": first,
                "tables": others,
                "examples": self.examples(),
            },
            markdown_parts=[
                first,
                "![SoftF of the systems with 95% intervals](systems.svg)\n",
                "![Soft precision against recall](precision-recall.svg)\n",
                *others,
            ],
            csv={
                "scores.csv": scores_csv((*self.result.systems, *self.result.humans)),
                "comparisons.csv": self.comparisons_csv(),
                "kinds.csv": self._kinds_csv(),
                "links.csv": self._links_csv(),
            },
            plots={
                "systems": self.systems_plot,
                "precision-recall": self._precision_recall_plot,
            },
        )

    def _tables(self) -> list[ReportTable]:
        """Return the tables in their order, without those that have nothing to say."""
        missing = self.result.missing  # systems that could not run here
        tables = [
            self.figures(),
            self.differences(),
            ReportTable("Not run", ["system", "why"], [[lack.system, lack.reason] for lack in missing]),
            *self._scope_tables(),
            self.new_words(),
            self.sources(),
            self.agreement(),
            self._kinds_table(),
            *(self._words_table(system) for system in self.result.ranked[:2]),
            self.comparisons(),
            self.settings(),
            self.signatures(),
        ]
        return [table for table in tables if table.rows]

    def examples(self, count: int = _EXAMPLES) -> list[_PairExample]:
        """Return pairs drawn with the seed of the run, in their order, without looking at answers."""
        return [self._example(item) for item in self.result.drawn(range(len(self.result.pairs)), count)]

    def _example(self, item: int) -> _PairExample:
        pair, gold = self.result.pairs[item], self.result.gold[item]
        errors = []
        for system in self.result.ranked:
            links, measurement = system.answers[item].links, system.measurements[PRIMARY]
            figure = _percent(float(measurement.figure(measurement.statistics[item])))
            missed, wrong = _named(pair, gold.sure - links), _named(pair, links - gold.possible)
            errors.append(_LinkErrors(system.system, figure, missed, wrong))
        return _PairExample(pair.key, _shortened(pair.document), _shortened(pair.abstract), errors)

    def _precision_recall_plot(self, theme: Theme) -> Figure:
        """Draw each system and annotator at its recall and soft precision, over lines of equal SoftF.

        After ten of them markers are hollow.
        """
        figure, axes = plain_axes(8.2, 5.2, theme)
        for level in range(30, 100, 10):
            # F = 2pr / (p + r) solved for p, where that is a percentage.
            recalls = [r for r in range(1, 101) if 2 * r > level and level * r / (2 * r - level) <= 100]
            precisions = [level * r / (2 * r - level) for r in recalls]
            axes.plot(recalls, precisions, color=theme.grid, linewidth=0.9, zorder=1)
            axes.annotate(str(level), (recalls[-1], precisions[-1]), color=theme.faint, fontsize=8)
        for number, system in enumerate((*self.result.ranked, *self.result.humans)):
            axes.plot(
                [100 * system.value("recall")],
                [100 * system.value("soft-precision")],
                **theme.style(number),
                linestyle="none",
                markersize=8,
                fillstyle="full" if number < len(theme.lines) else "none",
                markeredgewidth=1.8,
                label=literal(system.system),
            )
        axes.set_xlim(0, 103)
        axes.set_ylim(0, 103)
        axes.set_xlabel("recall, %; lines: equal SoftF")
        axes.set_ylabel("soft precision, %")
        legend_beside(axes, theme)
        return figure

    def kinds(self, system: SystemResult[Alignment]) -> dict[tuple[str, str], _KindCounts]:
        """Return by relation and class of the abstract word what a system found and drew wrongly.

        A link is wrong if it is not even possible. Kinds without any link are left out.
        """
        sure, found, wrong = (Counter[tuple[str, str]]() for _ in range(3))
        for pair, answer, gold in zip(self.result.pairs, system.answers, self.result.gold, strict=True):
            kind = _KindOf(pair, self.result.ignored)
            links = answer.links
            sure.update(map(kind.of, gold.sure))
            found.update(map(kind.of, gold.sure & links))
            wrong.update(map(kind.of, links - gold.possible))
        return {
            (relation, name): _KindCounts(sure[relation, name], found[relation, name], wrong[relation, name])
            for relation in _RELATIONS
            for name in _CLASSES
            if sure[relation, name] or wrong[relation, name]
        }

    def missed_words(self, system: SystemResult[Alignment]) -> list[tuple[str, int]]:
        """Return the sure links that a system misses most often, as words, lower-cased."""
        both = zip(system.answers, self.result.gold, strict=True)
        return self._most(gold.sure - answer.links for answer, gold in both)

    def wrong_words(self, system: SystemResult[Alignment]) -> list[tuple[str, int]]:
        """Return the wrong links that a system draws most often, as words, lower-cased."""
        both = zip(system.answers, self.result.gold, strict=True)
        return self._most(answer.links - gold.possible for answer, gold in both)

    def _most(self, links: Iterable[Collection[Link]]) -> list[tuple[str, int]]:
        counts = Counter(
            f"{pair.document[i]} → {pair.abstract[j]}".lower()
            for pair, found in zip(self.result.pairs, links, strict=True)
            for i, j in found
        )
        # Of equals the first in the alphabet.
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_WORDS]

    def _everyone(self) -> list[SystemResult[Alignment]]:
        return [*self.result.ranked, *self.result.humans]

    def figures(self) -> ReportTable:
        """Return the figures of all words: systems, the best one first, and annotators."""
        return ReportTable.of_systems(
            f"{quantity(len(self.result.pairs), 'pair')}, all words",
            self._everyone(),
            [*_COLUMNS.values(), *_TIMES],
            "In percent; in brackets: 95% intervals of a bootstrap over pairs. Lower is better for AER, the"
            " alignment error rate. Exact: pairs with all sure and only possible links."
            + (" Humans: sure links of one annotator by what the others drew." if self.result.humans else ""),
            compared=len(self.result.systems),
        )

    def _scope_tables(self) -> Iterator[ReportTable]:
        """Yield the figures without ignored words, and with the help of the oracle."""
        for scope, meaning in SCOPES.items():
            if scope:
                columns = [FigureColumn(name + scope, _COLUMNS[name].label) for name in _OF_SCOPE]
                yield ReportTable.of_systems(meaning.capitalize(), self._everyone(), columns)

    def new_words(self) -> ReportTable:
        """Return the figures of new words."""
        figures = {"precision": "P", "recall": "R", "f1": "F1"}
        return ReportTable.of_systems(
            "New words",
            self._everyone(),
            [
                FigureColumn(f"new-{figure}{scope}", label + behind)
                for scope, behind in (("", ""), (":content", ", content"))
                for figure, label in figures.items()
            ],
            "Words of the abstract that are aligned with nothing. P: those of the system without a sure"
            " link; R: those without a possible link that the system leaves alone, too. Content: without"
            " ignored words.",
        )

    def sources(self) -> ReportTable:
        """Return the figures of the sources of abstract sentences, if documents have several sentences."""
        columns = [
            FigureColumn("source-accuracy", "accuracy"),
            FigureColumn("source-accuracy:content", "content"),
        ]
        return ReportTable.of_systems(
            "Sources of sentences",
            [system for system in self._everyone() if columns[0].metric in system.measurements],
            columns,
            "Abstract sentences with sure links: the share whose links mostly lead to the right sentence of"
            " the document, which is a text of a pseudo-document. Content: without ignored words.",
        )

    def agreement(self) -> ReportTable:
        """Return the agreement of annotators."""
        return ReportTable(
            "Agreement of the annotators",
            ["annotators", "links", "words", "items", "kappa"],
            [
                [
                    f"{agreement.one}, {agreement.other}",
                    agreement.kind,
                    agreement.scope,
                    f"{agreement.items:,}",
                    "none" if math.isnan(agreement.kappa) else f"{agreement.kappa:.3f}",
                ]
                for agreement in self.result.agreements
            ],
            "Cohen's kappa; an item is a word of the document with a word of the abstract, linked or not."
            " Possible: sure and possible links. None: one of them links nothing, or all.",
        )

    def _kinds_table(self) -> ReportTable:
        """Return by kind of link which sure ones the systems found, and how many wrong ones they drew."""
        counted = {system.system: self.kinds(system) for system in self.result.ranked}
        rows = []
        for kind in ((relation, name) for relation in _RELATIONS for name in _CLASSES):
            counts = [by_kind.get(kind) for by_kind in counted.values()]
            if any(counts):
                sure = max(c.sure for c in counts if c)
                cells = [
                    f"{_percent(c.found / c.sure) if c and c.sure else '–'} / {c.wrong if c else 0}"
                    for c in counts
                ]
                rows.append([", ".join(kind), f"{sure:,}", *cells])
        return ReportTable(
            "By kind of link",
            ["kind", "sure links", *counted],
            rows,
            "Sure links that were found, in percent / links that were drawn and are not even possible, a"
            " number. Repeated: the word occurs several times in the document or the abstract.",
        )

    def _words_table(self, system: SystemResult[Alignment]) -> ReportTable:
        """Return the words that a system most often fails to link, and most often links wrongly."""
        both = zip_longest(self.missed_words(system), self.wrong_words(system), fillvalue=("", ""))
        rows = [[word, str(n), other, str(k)] for (word, n), (other, k) in both]
        columns = ["missed: document → abstract", "times", "wrong: document → abstract", "times"]
        return ReportTable(f"Words: {system.system}", columns, rows)

    def _kinds_csv(self) -> str:
        return csv_text(
            ["system", "relation", "class", "sure", "found", "wrong"],
            [
                (system.system, *kind, counts.sure, counts.found, counts.wrong)
                for system in self.result.systems
                for kind, counts in self.kinds(system).items()
            ],
        )

    def _links_csv(self) -> str:
        return csv_text(
            ["system", "pair", "links"],
            [
                (system.system, pair.key, answer.pharaoh())
                for system in self.result.systems
                for pair, answer in zip(self.result.pairs, system.answers, strict=True)
            ],
        )
