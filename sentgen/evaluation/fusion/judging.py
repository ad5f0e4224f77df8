"""Sheets on which people judge sentences without knowing their systems, and the results of filled sheets.

A sheet is a table of tabs: number, key sentence, sentence, and a column to fill. Sentences are shuffled; one
that several systems made of a cluster is judged once. A second file, the answers, says which number is whose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sentgen.corpus.paths import expand
from sentgen.corpus.tables import read_csv
from sentgen.errors import InputError
from sentgen.evaluation.figures.measurement import Measurement, SystemComparison, compare_all, ratio
from sentgen.evaluation.figures.report import ReportTable, probability
from sentgen.evaluation.fusion.experiment import EXTRACTION, FusionCase
from sentgen.output.files import write_text
from sentgen.output.rates import wilson
from sentgen.output.wording import quantity

SHEET = ("number", "key", "sentence", "judgment")
_ANSWERS = ("number", "cluster", "system")
#: What is filled in: whether the sentence is grammatical.
YES, NO = "yes", "no"
#: Clusters on a sheet, at most.
CLUSTERS = 100


@dataclass(frozen=True, slots=True)
class _JudgedSystem:
    """How many sentences of a system were judged, and how many of them to be grammatical."""

    name: str
    good: int
    judged: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95% interval of the share (Wilson)."""
        return wilson(self.good, self.judged)


@dataclass(frozen=True, slots=True)
class JudgingSheet:
    """A sheet to fill, by its file."""

    path: Path

    @property
    def answers_path(self) -> Path:
        """Return the file beside a sheet that has the system of each sentence.

        >>> JudgingSheet(Path("judge/fusion.tsv")).answers_path.name
        'fusion.answers.tsv'
        """
        return self.path.with_name(f"{self.path.stem}.answers.tsv")

    def systems(self, names: Sequence[str]) -> list[str]:
        """Return the systems whose sentences go on a sheet: not extraction, as everybody sees what is copied.

        Raises:
            InputError: there are no such systems, or the sheet is there already.
        """
        if self.path.exists():
            raise InputError("is there already, and may be filled in; name another file", path=str(self.path))
        judged = [name for name in names if name not in EXTRACTION]
        if not judged:
            raise InputError(
                "extraction copies, which needs no judge; add a system that fuses", path=str(self.path)
            )
        return judged

    def write(
        self,
        cases: Sequence[FusionCase],
        sentences: Mapping[str, Sequence[str | None]],
        *,
        seed: int,
        clusters: int = CLUSTERS,
    ) -> int:
        """Write a sheet and its answers; return the number of sentences to judge.

        ``sentences`` has for each system one a cluster. On the sheet are the first ``clusters`` of which the
        first system has a sentence.

        Raises:
            InputError: there is no sentence to judge.
        """
        first = next(iter(sentences.values()), ())
        chosen = [index for index, text in enumerate(first) if text is not None][:clusters]
        made = {
            (index, text): [name for name, texts in sentences.items() if texts[index] == text]
            for index in chosen
            for text in dict.fromkeys(texts[index] for texts in sentences.values())
            if text is not None
        }
        if not made:
            raise InputError("there is no sentence to judge", path=str(self.path))
        rows, answers = list[Sequence[object]](), list[Sequence[object]]()
        shuffled = np.random.default_rng(seed).permutation(len(made)).tolist()
        of_number = list(made.items())
        for number, drawn in enumerate(shuffled, 1):
            (index, text), names = of_number[drawn]
            rows.append((number, " ".join(cases[index].key.forms), text, ""))
            answers += [(number, cases[index].name, name) for name in names]
        _write(self.path, SHEET, rows)
        _write(self.answers_path, _ANSWERS, answers)
        return len(rows)


@dataclass(frozen=True, slots=True)
class Judgments:
    """The result of a filled sheet: systems, the best first, their differences, and missing judgments."""

    systems: Sequence[_JudgedSystem]
    comparisons: Sequence[SystemComparison]
    missing: int

    def table(self) -> ReportTable:
        """Return a row a system: how many of its sentences are grammatical, and the interval."""
        return ReportTable(
            "Judged grammatical",
            ["system", "grammatical", "judged", "share, %", "95% interval"],
            [
                [
                    system.name,
                    str(system.good),
                    str(system.judged),
                    f"{100 * system.good / system.judged:.1f}",
                    " – ".join(f"{100 * end:.1f}" for end in system.interval),
                ]
                for system in self.systems
            ],
            "Intervals of Wilson."
            + (f" {quantity(self.missing, 'sentence')} not judged." if self.missing else ""),
        )

    def differences(self) -> ReportTable:
        """Return every pair of systems with p of approximate randomization."""
        return ReportTable(
            "Which systems differ",
            ["worse", "better", "difference, %", "p, randomization", "p, Holm"],
            [
                [
                    pair.worse,
                    pair.better,
                    f"{100 * pair.difference:.1f}",
                    probability(pair.shuffle_p),
                    probability(pair.holm),
                ]
                for pair in self.comparisons
            ],
            "Approximate randomization over clusters; Holm: corrected for the number of pairs.",
        )

    @staticmethod
    def read(sheet: Path, *, seed: int) -> Judgments:
        """Read a filled sheet with the answers beside it.

        Rows without a judgment are counted and left out. Systems are compared by approximate randomization
        over the clusters.

        Raises:
            InputError: a file or judgment cannot be read, or nothing was judged.
        """
        judgments = {
            number: _judgment(row["judgment"], sheet, line)
            for line, number, row in _rows(sheet, ("number", "judgment"))
        }
        answers = JudgingSheet(sheet).answers_path
        counts: dict[str, dict[str, tuple[int, int]]] = {}
        for line, number, row in _rows(answers, _ANSWERS):
            if number not in judgments:
                raise InputError(f"{sheet.name} has no row {number}", path=str(answers), line=line)
            good = judgments[number]
            if good is not None:
                counts.setdefault(row["system"], {})[row["cluster"]] = (int(good), 1)
        if not counts:
            raise InputError(
                f"nothing is judged; fill the column judgment with {YES} or {NO}", path=str(sheet)
            )
        systems = [
            _JudgedSystem(name, sum(good for good, _ in of.values()), len(of)) for name, of in counts.items()
        ]
        ranked = sorted(systems, key=lambda system: (-system.good / system.judged, system.name))
        return Judgments(ranked, _compared(counts, seed), sum(good is None for good in judgments.values()))


def _compared(counts: Mapping[str, Mapping[str, tuple[int, int]]], seed: int) -> list[SystemComparison]:
    """Compare all pairs of systems, a cluster at a time; a cluster without a judgment adds nothing."""
    clusters = sorted({cluster for by_cluster in counts.values() for cluster in by_cluster})
    measured = {
        name: Measurement(
            "grammatical",
            "judged grammatical",
            np.array([by_cluster.get(cluster, (0, 0)) for cluster in clusters], np.float64),
            ratio,
        )
        for name, by_cluster in counts.items()
    }
    return compare_all(measured, seed=seed)


def _judgment(text: str, path: Path, line: int) -> bool | None:
    answer = text.strip().casefold()
    if answer not in (YES, NO, ""):
        raise InputError(f"{text!r} is no judgment; write {YES} or {NO}", path=str(path), line=line)
    return answer == YES if answer else None


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, str, Mapping[str, str]]]:
    """Yield line, number and row of a table.

    Raises:
        InputError: the table cannot be read, or has no such columns.
    """
    source = next(iter(expand([str(path)])))
    # As a spreadsheet may have written it: with quotes, or with other things than tabs between.
    table = read_csv(source.lines(), path=str(path))
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise InputError(f"has no column {missing[0]!r}; take the sheet as it was written", path=str(path))
    places = {name: table.columns.index(name) for name in columns}
    for row in table.rows:
        if row.wrong:
            raise InputError(row.wrong, path=str(path), line=row.number)
        values = {name: row.values[index] for name, index in places.items()}
        yield row.number, values["number"], values


def _write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    # No token has a tab or a line feed, so that nothing needs quotes.
    write_text(path, "".join("\t".join(map(str, row)) + "\n" for row in (columns, *rows)))
