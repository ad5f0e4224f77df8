"""Look into the counts: n-grams, dependencies, arguments, frequencies, collocations, keywords."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import typer

from sentgen.cli.console.options import PlotOption, mistakes
from sentgen.cli.console.output import QuestionOutput, printable
from sentgen.cli.sql import text_of
from sentgen.lookups.concordances.hits import Window
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.measures import measure_column
from sentgen.lookups.statistics.relations import word_of
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

_BAR = 24
#: Columns of a difference that are shown first: its significance and its size.
_DIFFERENCE = ("log_likelihood", "log_ratio", "log_ratio_low", "log_ratio_high")
_MOST_ARGUMENTS = 7


def ngrams(*, request: Ngrams, out: QuestionOutput) -> None:
    """Show the n-grams that match a pattern, with their counts.

    `per_million` is the count per million tokens; `probability` is that of the last word after the others,
    by relative frequency. `<s>` and `</s>` stand for the begin and the end of the sentence. With
    `--min-documents`, `documents` is the number of documents with the n-gram.

    Example: `sentgen ngrams "the dow *" --min-count 2`, or
    `sentgen ngrams "* * *" --by lemma --words --min-documents 3`
    """
    out.show(out.ask(request))


def deps(*, request: Dependencies, out: QuestionOutput) -> None:
    """Show the dependencies between a head and its modifiers.

    A distance of 3 stands for three words (or units) and more.

    Example: `sentgen deps fell --layer unit`, or `sentgen deps stock --reverse --tag NN`
    """
    answer = out.ask(request)
    table = answer.rows
    if out.for_reading:
        table = table.without(_empty(table))
    # All columns together are what is counted.
    out.table(table, truncated=answer.truncated, essential=table.columns)
    out.finish(answer)


def args(*, request: Arguments, out: QuestionOutput) -> None:
    """Show how many modifiers a word takes on each side.

    One histogram per tag and side; `share` is the part of the occurrences with that tag.

    Example: `sentgen args said --tag VBD`
    """
    answer = out.ask(request)
    table = _with_bars(answer.rows) if out.for_reading else answer.rows
    out.table(
        table,
        truncated=answer.truncated,
        align={"arguments": "right"},
        styles={"histogram": "cyan"},
        essential=("direction", "arguments", "count", "share"),
    )
    out.finish(answer)


def freq(*, request: Frequencies, plot: PlotOption = None, out: QuestionOutput) -> None:
    """Show a frequency list with dispersion and coverage.

    `documents` is the number of documents with the item, `dp` its deviation of proportions over them
    (Gries 2008; 0 is even, 1 clumped), `juilland_d` is Juilland's D (1 is even, 0 clumped), and `coverage`
    the share of all tokens down to that row.

    With `--query` it is that of what a query matched, with the `share` of all hits, by one key or several;
    with metadata among them, `per_million_in_part` is relative to the tokens with the same metadata, and
    `--compare` says how sure, and how large, the difference between each part and all others is.

    Example: `sentgen freq --by lemma --pattern "un*"`, or `sentgen freq --query '[upos="ADJ"] "time"'`
    """
    answer = out.ask(request, plot)
    names = answer.rows.columns
    means = [name for name in ("mean", "mean_low", "mean_high") if name in names]
    out.show(answer, *names[: names.index("count") + 1], *means, "per_million_in_part", *_DIFFERENCE)


def collocations(*, request: Collocations, plot: PlotOption = None, out: QuestionOutput) -> None:
    """Show what occurs with a word more often than chance.

    `count` is how often the two occur together, `frequency` how often the collocate occurs in all (by
    relation: in that relation). Windows end at the sentence. A negative log-likelihood marks what is rarer
    with the word than elsewhere. With `--graph` the collocates are looked for in the windows of each other,
    too, and a row is a pair of words.

    Example: `sentgen collocations stock --window L2-R4`, or `sentgen collocations fell --dependency nsubj`
    """
    # First, as an error of an option (exit code 2); the library would raise an error of input.
    if request.window is not None:
        with mistakes():
            Window.read(request.window)
    essential = *(["node"] if request.graph else []), "count", measure_column(request.measure)
    out.show(out.ask(request, plot), *essential)


def sketch(*, request: Sketch, plot: PlotOption = None, out: QuestionOutput) -> None:
    """Show the strongest collocates of a word in each dependency relation (a word sketch).

    Function words and punctuation are left out unless `--function-words` asks for them. With `--against`,
    `word` says which of the two words has a collocate, or that both have it; in a terminal, rows have a color
    for the first word alone, and another one for the second.

    Example: `sentgen sketch lemma:fall`, or `sentgen sketch lemma:make --against lemma:take --limit 5`
    """
    answer = out.ask(request, plot)
    table = answer.rows
    if not (out.for_reading and table.num_rows):
        out.table(table)
        out.finish(answer)
        return
    shown = (table.column(name) for name in ("relation", "role", "pairs", "name"))
    owners = dict(zip(map(word_of, (request.word, request.against or "")), ("cyan", "magenta"), strict=True))
    start = 0
    for (relation, _, pairs, name), rows in groupby(zip(*shown, strict=True)):
        size = len(list(rows))
        typer.echo(printable(f"{name} ({relation}): {quantity(pairs, 'pair')}"))
        shared = {"relation", "role", "preposition", "pairs", "rank", "name"} & {*table.columns}
        part = table.slice(start, size).without(shared)
        score = measure_column(request.measure)
        essential = ("count", "count_against", score, f"{score}_against")
        out.table(part, essential=essential, row_styles=("word", owners))
        typer.echo()
        start += size
    out.finish(answer)


def thesaurus(*, request: Thesaurus, out: QuestionOutput) -> None:
    """Show the words that have the same collocates as a word, in the same relations (a thesaurus).

    Only words of the same class are compared. `similarity` is that of Lin 1998, `shared` how many collocates
    both have, and `frequency` how often the similar word occurs.

    Example: `sentgen thesaurus lemma:make`, or `sentgen thesaurus lemma:camp --min-count 5 --corpus news`
    """
    out.show(out.ask(request), "similarity", "shared")


def keyness(*, request: Keywords, plot: PlotOption = None, out: QuestionOutput) -> None:
    """Show the keywords of corpora: what is more frequent in them than in others.

    `log_likelihood` says how sure the difference is (negative: rarer here), and so does `p_bonferroni`, its p
    times the number of words that are compared; `log_ratio` says how large it is (1: twice as frequent), and
    so do `percent_diff`, `odds_ratio` and `simple_maths`. The words that differ least are in the middle, and
    `--negative` begins with those that are rarer here.

    Example: `sentgen keyness fiction --against news --by lemma --measure log-ratio --min-count 10`, or
    `sentgen keyness fiction --against news --n 2 --stop stop.txt`
    """
    if request.stop is not None:
        request = replace(request, stop=text_of("-", None if request.stop == "-" else Path(request.stop)))
    measures = ("log_likelihood", "p_bonferroni", measure_column(request.measure))
    out.show(out.ask(request, plot), "count", "reference_count", *measures)


def _empty(table: Rows) -> list[str]:
    """Return the columns without a value."""
    return [name for name in table.columns if all(value is None for value in table.column(name))]


def _with_bars(table: Rows) -> Rows:
    """Write 7 as seven and more, and add a bar with the length of the share."""
    numbers = [f"{n}+" if n == _MOST_ARGUMENTS else str(n) for n in table.column("arguments")]
    # Even the smallest share has a visible bar.
    bars = ["█" * round(share * _BAR) or "▏" for share in table.column("share")]
    return table.with_texts("arguments", numbers).with_texts("histogram", bars)
