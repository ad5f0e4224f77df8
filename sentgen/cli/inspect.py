"""Look into the counts: n-grams, dependencies, arguments, concordances, frequencies and collocations."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import pyarrow as pa
import typer
from rich.cells import cell_len, set_cell_size
from sqlalchemy import Connection

from sentgen.cli.console.options import CorpusFilter, DbOption, LimitOption, MemoryOption, open_store
from sentgen.cli.console.output import Align, Output, output_options, printable
from sentgen.counts.collocations import Measure, Unit, Window, find_collocations, read_window
from sentgen.counts.concordance import Order, all_lines, concordance
from sentgen.counts.dependency_search import Layer, Level, count_arguments, find_dependencies
from sentgen.counts.frequencies import By, frequency_list
from sentgen.counts.ngram_search import find_ngrams
from sentgen.counts.queries import Answer, Query
from sentgen.errors import InputError

ShowSqlOption = Annotated[
    bool,
    typer.Option("--show-sql", help="Print the SQL that ran on standard error, ready for `sentgen sql`."),
]
LayerOption = Annotated[
    Layer, typer.Option("--layer", help="Tree of words, or of units (base noun phrases as one).")
]
MinCountOption = Annotated[int, typer.Option("--min-count", min=1, help="Leave out what is rarer.")]

_SIDES: dict[str, Align] = {"left": "right"}
_BAR = 24
_EDGE = 14
_MOST_ARGUMENTS = 7


@contextmanager
def _reading(db: DbOption, memory_limit: MemoryOption) -> Iterator[Connection]:
    with open_store(db, read_only=True, memory_limit=memory_limit) as store, store.connect() as connection:
        yield connection


def _show_sql(queries: Iterable[Query], wanted: bool) -> None:
    for query in queries if wanted else ():
        typer.echo("\n".join(map(printable, f"{query.filled()};".split("\n"))), err=True)


def _finish(answer: Answer, out: Output) -> None:
    """Say what is special about the answer; an empty one is a no (exit code 1)."""
    for note in answer.notes:
        out.note(note)
    if not answer.table.num_rows:
        raise typer.Exit(1)


@output_options
def ngrams(
    pattern: Annotated[
        str, typer.Argument(help="1 to 5 words; `*` is any word, `down*` a word that begins with down.")
    ],
    *,
    min_count: MinCountOption = 1,
    corpus: CorpusFilter = None,
    limit: LimitOption = 20,
    show_sql: ShowSqlOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show the n-grams that match a pattern, with their counts.

    `per_million` is the count per million tokens; `probability` is that of the last word after the others,
    by relative frequency. `<s>` and `</s>` stand for the begin and the end of the sentence.

    Example: `sentgen ngrams "the dow *" --min-count 2`
    """
    with _reading(db, memory_limit) as connection:
        answer = find_ngrams(connection, pattern, corpora=corpus or (), min_count=min_count, limit=limit)
    _show_sql(answer.queries, show_sql)
    out.arrow(answer.table, truncated=answer.truncated)
    _finish(answer, out)


@output_options
def deps(
    head: Annotated[str, typer.Argument(help="The head: a word, or `*`. With --reverse the modifier.")],
    modifier: Annotated[
        str, typer.Argument(help="The modifier: a word, or `*`. With --reverse the head.")
    ] = "*",
    *,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Ask for the heads of a word instead of its modifiers.")
    ] = False,
    tag: Annotated[
        str, typer.Option("--tag", metavar="TAG", help="Tag of the first word, such as VBD.")
    ] = "*",
    layer: LayerOption = Layer.WORD,
    level: Annotated[
        Level,
        typer.Option("--level", help="Word or tag, of head and modifier; a tag is asked for by its name."),
    ] = Level.WORD_WORD,
    corpus: CorpusFilter = None,
    limit: LimitOption = 20,
    show_sql: ShowSqlOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show the dependencies between a head and its modifiers.

    A distance of 3 stands for three words (or units) and more.

    Example: `sentgen deps fell --layer unit`, or `sentgen deps stock --reverse --tag NN`
    """
    with _reading(db, memory_limit) as connection:
        answer = find_dependencies(
            connection,
            head,
            modifier,
            head_tag=tag,
            reverse=reverse,
            layer=layer,
            level=level,
            corpora=corpus or (),
            limit=limit,
        )
    _show_sql(answer.queries, show_sql)
    table = answer.table
    out.arrow(_without(table, _empty(table)) if out.for_reading else table, truncated=answer.truncated)
    _finish(answer, out)


@output_options
def args(
    word: Annotated[str, typer.Argument(help="The head: a word, or `*` for all words of a tag.")],
    *,
    tag: Annotated[str, typer.Option("--tag", metavar="TAG", help="Its tag, such as VBD.")] = "*",
    layer: LayerOption = Layer.WORD,
    corpus: CorpusFilter = None,
    limit: LimitOption = 0,
    show_sql: ShowSqlOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show how many modifiers a word takes on each side.

    One histogram per tag and side; `share` is the part of the occurrences with that tag.

    Example: `sentgen args said --tag VBD`
    """
    with _reading(db, memory_limit) as connection:
        answer = count_arguments(connection, word, tag=tag, layer=layer, corpora=corpus or (), limit=limit)
    _show_sql(answer.queries, show_sql)
    table = _with_bars(answer.table) if out.for_reading else answer.table
    out.arrow(table, truncated=answer.truncated, align={"arguments": "right"}, styles={"histogram": "cyan"})
    _finish(answer, out)


@output_options
def kwic(
    pattern: Annotated[
        str,
        typer.Argument(help="Tokens: `word`, `down*`, `*`, `lemma:go`, `upos:VERB`, `xpos:VBD`, `fell/VBD`."),
    ],
    *,
    context: Annotated[int, typer.Option("--context", min=0, help="Words on each side at most.")] = 15,
    width: Annotated[
        int | None,
        typer.Option("--width", min=1, help="Characters on each side. Default: as the terminal allows."),
    ] = None,
    sort: Annotated[
        Order, typer.Option("--sort", help="Sort the lines shown by what is before or after the node.")
    ] = Order.NONE,
    random: Annotated[
        int | None,
        typer.Option("--random", metavar="SEED", help="Lines drawn at random, not the first ones."),
    ] = None,
    corpus: CorpusFilter = None,
    limit: LimitOption = 20,
    show_sql: ShowSqlOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show a word or a sequence of words in context (concordance).

    Example: `sentgen kwic "lemma:fall sharply" --sort left`, or `sentgen kwic stock/NN --random 1`
    """
    if not limit and sort is Order.NONE:
        _all_lines(pattern, context, corpus, show_sql, db, memory_limit, width, out)
        return
    with _reading(db, memory_limit) as connection:
        answer = concordance(
            connection, pattern, context=context, order=sort, seed=random, corpora=corpus or (), limit=limit
        )
    _show_sql(answer.queries, show_sql)
    table = answer.table
    if out.for_reading and table.num_rows:
        table = _aligned(table, width, out)
    elif width is not None:
        table = _cut_sides(table, width, width)
    out.arrow(table, align=_SIDES, styles={"node": "bold", "sent_id": "dim"})
    if answer.truncated:
        out.note(f"{table.num_rows} of {answer.total} lines (--limit 0 for all)")
    _finish(answer, out)


def _all_lines(
    pattern: str,
    context: int,
    corpus: CorpusFilter,
    show_sql: bool,
    db: DbOption,
    memory_limit: MemoryOption,
    width: int | None,
    out: Output,
) -> None:
    """Write all lines of a concordance part by part, as memory may not hold them."""

    def shown(lines: pa.Table) -> pa.Table:
        if out.for_reading and lines.num_rows:
            return _aligned(lines, width, out)
        return _cut_sides(lines, width, width) if width is not None else lines

    with _reading(db, memory_limit) as connection:
        query, lines = all_lines(connection, pattern, context=context, corpora=corpus or ())
        _show_sql((query,), show_sql)
        if not out.parts(map(shown, lines), align=_SIDES):
            out.note(f"no occurrence of {pattern!r}")
            raise typer.Exit(1)


@output_options
def freq(
    *,
    by: Annotated[By, typer.Option("--by", help="What to count.")] = By.WORD,
    pattern: Annotated[str, typer.Option("--pattern", help="Only these, such as `un*`.")] = "*",
    corpus: CorpusFilter = None,
    limit: LimitOption = 20,
    show_sql: ShowSqlOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show a frequency list with dispersion and coverage.

    `documents` is the number of documents with the item, `dp` its deviation of proportions over them
    (Gries 2008; 0 is even, 1 clumped), `coverage` the share of all tokens down to that row.

    Example: `sentgen freq --by lemma --pattern "un*"`
    """
    with _reading(db, memory_limit) as connection:
        answer = frequency_list(connection, by=by, pattern=pattern, corpora=corpus or (), limit=limit)
    _show_sql(answer.queries, show_sql)
    out.arrow(answer.table, truncated=answer.truncated)
    _finish(answer, out)


@output_options
def collocations(
    word: Annotated[str, typer.Argument(help="The node: `stock`, `lemma:fall`, `stock/NN`.")],
    *,
    window: Annotated[
        str | None, typer.Option("--window", metavar="N|L,R", help="Words before and after. Default: 5.")
    ] = None,
    dependency: Annotated[
        str | None,
        typer.Option(
            "--dependency", metavar="REL", help="By a dependency relation (`nsubj`, `*` for all) instead."
        ),
    ] = None,
    by: Annotated[Unit, typer.Option("--by", help="Collocates as words or as lemmas.")] = Unit.WORD,
    measure: Annotated[Measure, typer.Option("--measure", help="What to rank by.")] = Measure.LOGDICE,
    min_count: MinCountOption = 2,
    corpus: CorpusFilter = None,
    limit: LimitOption = 20,
    show_sql: ShowSqlOption = False,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Show what occurs with a word more often than chance.

    `count` is how often the two occur together, `frequency` how often the collocate occurs in all (by
    relation: in that relation). Windows end at the sentence. A negative log-likelihood marks what is rarer
    with the word than elsewhere.

    Example: `sentgen collocations stock --window 3`, or `sentgen collocations fell --dependency nsubj`
    """
    with _reading(db, memory_limit) as connection:
        answer = find_collocations(
            connection,
            word,
            window=_window(window),
            relation=dependency,
            by=by,
            measure=measure,
            min_count=min_count,
            corpora=corpus or (),
            limit=limit,
        )
    _show_sql(answer.queries, show_sql)
    out.arrow(answer.table, truncated=answer.truncated)
    _finish(answer, out)


def _window(text: str | None) -> Window | None:
    try:
        return None if text is None else read_window(text)
    except InputError as error:
        raise typer.BadParameter(error.message) from error


def _empty(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if table[name].null_count == table.num_rows]


def _without(table: pa.Table, names: list[str]) -> pa.Table:
    return table.drop_columns(names) if names else table


def _with_bars(table: pa.Table) -> pa.Table:
    """Show 7 as seven and more, and add a bar as long as the share."""
    numbers = [f"{n}+" if n == _MOST_ARGUMENTS else str(n) for n in table["arguments"].to_pylist()]
    bars = ["█" * round(share * _BAR) or "▏" for share in table["share"].to_pylist()]
    place = table.column_names.index("arguments")
    return table.set_column(place, "arguments", pa.array(numbers, pa.string())).append_column(
        "histogram", pa.array(bars, pa.string())
    )


def _aligned(table: pa.Table, width: int | None, out: Output) -> pa.Table:
    """Fit a concordance to the terminal: what all lines share is said once, long contexts are cut."""
    shared = [name for name in ("corpus", "document") if len(set(table[name].to_pylist())) == 1]
    if shared:
        out.note(", ".join(f"{name} {table[name][0].as_py()}" for name in shared))
    table = _without(table, shared)
    for name in table.column_names[: table.column_names.index("left")]:
        texts = [_last(printable(text), _EDGE) for text in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), name, pa.array(texts, pa.string()))
    left, right = (width, width) if width is not None else _sides(table)
    return _cut_sides(table, left, right)


def _sides(table: pa.Table) -> tuple[int, int]:
    """Return the widths of both contexts: half of the line each, unless one of them needs less."""
    widths = {name: _widest([name, *map(printable, table[name].to_pylist())]) for name in table.column_names}
    line = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 120
    others = sum(width for name, width in widths.items() if name not in ("left", "right"))
    room = max(line - others - 2 * (len(widths) - 1), 16)
    left = min(widths["left"], max(room // 2, room - widths["right"]))
    return left, max(room - left, 8)


def _widest(texts: list[str]) -> int:
    return max(map(cell_len, texts))


def _cut_sides(table: pa.Table, left: int, right: int) -> pa.Table:
    for name, cut, width in (("left", _last, left), ("right", _first, right)):
        texts = [cut(printable(text), width) for text in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), name, pa.array(texts, pa.string()))
    return table


def _first(text: str, width: int) -> str:
    """Return the beginning of a text, at most ``width`` cells wide."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def _last(text: str, width: int) -> str:
    """Return the end of a text, at most ``width`` cells wide."""
    if cell_len(text) <= width:
        return text
    start = len(text)
    room = width - 1
    while start and (room := room - cell_len(text[start - 1])) >= 0:
        start -= 1
    return f"…{text[start:].lstrip()}"
