"""Questions to the store: a statement with its parameters, and an answer that knows how it was obtained.

The modules beside this one (`ngram_search`, `dependency_search`, `concordance`, `frequencies`,
`collocations`) write statements over the tables of `sentgen.schema`; parameters are always bound.
`Statement.filled` shows the same statement with its values, to be pasted into ``sentgen sql``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.errors import MemoryLimitError, NotFoundError
from sentgen.output.tabular import SIMPLE_TYPES, Rows, arrow_of
from sentgen.output.wording import quantity
from sentgen.schema.engine import MEMORY_LIMIT, READ_ONLY, arrow_reader, raw

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.lookups.metadata.conditions import Condition
    from sentgen.lookups.subcorpora import Subcorpus

_NO_CORPORA = "none yet; make one with: sentgen ingest PATH --corpus NAME"
#: One that was counted into a lake has tokens, and no documents.
_CORPORA = """\
select name, lowercase, max_order, id in (select corpus_id from segment where tokens > 0)
  and id not in (select corpus_id from document) as counts_only
from corpus
order by name"""
#: Rows that are taken one by one.
_FEW = 1000

_PARAMETER = re.compile(r"\$([a-z_]\w*)")


class Bindings(dict[str, Any]):
    """The parameters of a statement, by name."""

    def __init__(self, **given: Any) -> None:
        super().__init__(given)
        self._names: dict[tuple[str, type, object], str] = {}
        self._numbers: dict[str, int] = {}

    def bind(self, name: str, value: object) -> str:
        """Store a value and return what stands for it in the statement; a second ``name`` gets a number."""
        # A value that comes again shares its parameter, so that the statement can be read. Names are not
        # tried one by one: a query may have thousands of values.
        same = (name, type(value), tuple(value) if isinstance(value, list) else value)
        if same not in self._names:
            key, number = name, self._numbers.get(name, 1)
            while key in self and self[key] != value:
                number += 1
                key = f"{name}_{number}"
            self[key], self._names[same], self._numbers[name] = value, key, number
        return f"${self._names[same]}"


class ResultBudget:
    """Counts the rows of an answer that are held in memory, and refuses more than fit.

    They may take a quarter of the memory of the store they come from, beside what DuckDB takes.
    """

    def __init__(self, connection: Connection) -> None:
        limit = connection.get_execution_options().get(MEMORY_LIMIT)
        self._most = int(limit) // 4 if limit else None
        self._bytes = 0

    def add(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Count rows.

        Raises:
            MemoryLimitError: they are too many.
        """
        self._bytes += rows.nbytes
        if self._most is not None and self._bytes > self._most:
            raise MemoryLimitError(
                f"the answer has more than {self._most / 2**20:,.0f} MB of rows, which is too much for the"
                " memory limit; ask for fewer with --limit, or raise --memory-limit"
            )

    def check(self, tables: Sequence[pa.Table]) -> None:
        """Count these rows alone."""
        self._bytes = 0
        for table in tables:
            self.add(table)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; ``$name`` in its text stands for a parameter."""

    text: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def used(self) -> dict[str, Any]:
        """The parameters that the text names; DuckDB refuses others."""
        return {name: self.parameters[name] for name in _PARAMETER.findall(self.text)}

    def run(self, connection: Connection) -> pa.Table:
        """Return the rows."""
        # DuckDB refuses parameters that the statement does not have.
        reader = arrow_reader(raw(connection), self.text, self.used)
        held, batches = ResultBudget(connection), []
        for batch in reader:
            batches.append(batch)
            held.add(batch)
        import pyarrow as pa

        return pa.Table.from_batches(batches, reader.schema)

    def fetch(self, connection: Connection, limit: int) -> pa.Table | Rows:
        """Return the rows; a few of them without Arrow, whose import takes longer than most look-ups.

        Args:
            connection: the store.
            limit: rows at most, as bound in the statement; 0 for all.
        """
        if not 0 < limit <= _FEW:
            return self.run(connection)
        found = raw(connection).execute(self.text, self.used or None)
        names, types = zip(*((name, str(kind)) for name, kind, *_ in found.description), strict=True)
        if not set(types) <= set(SIMPLE_TYPES):
            return self.run(connection)
        return Rows(names, found.fetchall(), types)

    def value(self, connection: Connection) -> Any:
        """Return the one value of a query for one row; none if there is no row."""
        row = raw(connection).execute(self.text, self.used or None).fetchone()
        return row[0] if row else None

    def filled(self) -> str:
        """Return the statement with its values in place of the parameters.

        >>> Statement("select $word", {"word": "it's"}).filled()
        "select 'it''s'"
        """
        return _PARAMETER.sub(lambda found: literal(self.parameters[found[1]]), self.text)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Args:
        found: the rows, at most as many as asked for.
        query: the statement that gives these rows.
        missing: what there is none of where nothing was found, such as "n-gram 'the dow *'".
        truncated: whether there are more rows.
        total: how many rows there are in all, where that was counted.
        left_out: corpora that could not be asked.
        hints: why there may be nothing, where nothing was found.
        near: what may stand in place of a value that never occurs, by that value; the hints name it, too.
        remarks: what else is to be known of the rows.
    """

    found: pa.Table | Rows
    query: Statement
    missing: str
    truncated: bool = False
    total: int | None = None
    left_out: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    near: Mapping[str, Sequence[str]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def table(self) -> pa.Table:
        """The rows in Arrow."""
        return arrow_of(self.found)

    @property
    def nothing(self) -> bool:
        """Whether nothing was found: there are no rows, or a number of hits that is 0."""
        return not self.found.num_rows or self.total == 0

    @property
    def notes(self) -> list[str]:
        """What is to be said beside the rows: corpora that were left out, and that there is nothing."""
        notes = list(self.remarks)
        if self.left_out:
            notes.append(f"not counted to this order and left out: {', '.join(self.left_out)}")
        if self.nothing:
            notes.append("; ".join([f"no {self.missing}", *self.hints]))
        return notes


@dataclass(frozen=True, slots=True)
class Selection:
    """The corpora that a question is about, and how their words are compared.

    Args:
        names: those asked for; empty for all of the store, so that statements need no condition.
        lowercase: whether every one of them was lower-cased, so that the words asked for must be as well.
        left_out: those that lack what was asked for.
        ignore_case: whether words that differ in capital letters only are one word.
        condition: what its sentences meet beside; none for all sentences of these corpora.
    """

    names: tuple[str, ...]
    lowercase: bool = False
    left_out: tuple[str, ...] = ()
    ignore_case: bool = False
    condition: Condition | None = None

    def fold(self, text: str) -> str:
        """Return a word as these corpora spell it."""
        return text.lower() if self.lowercase else text

    def spelled(self, form: str) -> str:
        """Return what stands for a word in SQL, of the column with its form."""
        return f"lower({form})" if self.ignore_case else form

    def of_tokens(self, bindings: Bindings, column: str = "corpus_id") -> list[str]:
        """Return the conditions on rows that have a sentence, by their column with the number of a corpus."""
        return self._conditions(bindings, column, "sentence_id")

    def of_sentences(self, bindings: Bindings, column: str = "corpus_id") -> list[str]:
        """Return the same conditions on rows of `sentence`."""
        return self._conditions(bindings, column, "id")

    def _conditions(self, bindings: Bindings, column: str, sentence: str) -> list[str]:
        found = []
        if self.names:
            names = bindings.bind("corpora", list(self.names))
            found.append(f"{column} in (select id from corpus where name in {names})")
        if self.condition is not None:
            sentences = self.condition.sentences(bindings)
            found.append(f"{column.removesuffix('corpus_id')}{sentence} in ({sentences})")
        return found

    def of_segments(self, bindings: Bindings, column: str = "segment_id") -> list[str]:
        """Return the condition on a column that holds the number of a segment; none has chosen sentences."""
        assert self.condition is None
        if not self.names:
            return []
        (inner,) = self.of_tokens(bindings)
        return [f"{column} in (select id from segment where {inner})"]


def select_corpora(
    connection: Connection,
    names: Iterable[str],
    *,
    condition: str | None = None,
    min_order: int = 0,
    ignore_case: bool = False,
    sentences: bool = False,
) -> Selection:
    """Look up corpora and subcorpora by name; none for all of the store.

    Args:
        connection: the store.
        names: their names.
        condition: what the metadata of the sentences meet (see `sentgen.lookups.metadata`).
        min_order: leave out those whose n-grams of this order were not counted; with a condition none, as
            their sentences are counted anew.
        ignore_case: take words that differ in capital letters only for one.
        sentences: whether the question needs their sentences, which a lake that was counted does not have.

    Raises:
        NotFoundError: there is no such corpus, none that was counted up to ``min_order``, or one without
            sentences.
        QueryError: the condition cannot be read, or asks for a key that there is not.
    """
    wanted = tuple(dict.fromkeys(names))
    rows = _corpora(connection)
    known = {row["name"]: row for row in rows}
    subcorpora = _subcorpora(connection, [name for name in wanted if name not in known], known)
    whole = [name for name in wanted if name in known]
    if sentences or subcorpora or condition is not None:
        _require_sentences([known[name] for name in whole or sorted(known)])
    if subcorpora:
        from sentgen.lookups.subcorpora import chosen as choose_of

        met: Condition | None = choose_of(connection, whole, subcorpora, known, condition)
        within = [name for one in subcorpora for name in one.corpora or known]
        # Corpora that the condition names, too: whole ranges of their rows are passed over.
        wanted = tuple(dict.fromkeys([*whole, *within]))
    else:
        met = None if condition is None else _chosen(connection, condition)
    chosen = [known[name] for name in wanted or sorted(known)]
    if not chosen:
        raise NotFoundError(f"the store has no corpora: {_NO_CORPORA}")
    counted = chosen if met is not None else _counted(chosen, min_order)
    left_out = tuple(row["name"] for row in chosen if row not in counted)
    # No condition at all is faster than one that every row meets.
    everything = not left_out and (not wanted or (subcorpora and len(wanted) == len(known)))
    # One corpus with its case kept is enough: folding would miss its capitals.
    lowercase = all(row["lowercase"] for row in counted)
    return Selection(
        names=() if everything else tuple(row["name"] for row in counted),
        lowercase=lowercase,
        left_out=left_out,
        ignore_case=ignore_case and not lowercase,
        condition=met,
    )


def _counted(chosen: Sequence[dict[str, Any]], order: int) -> Sequence[dict[str, Any]]:
    """Return the corpora whose n-grams of an order were counted."""
    counted = [row for row in chosen if row["max_order"] >= order]
    if not counted:
        highest = max(row["max_order"] for row in chosen)
        raise NotFoundError(
            f"no n-grams of order {order}: these corpora are counted up to {highest}; "
            f"ask for {quantity(highest, 'word')} at most, or count more with:"
            f" sentgen ingest PATH --corpus NAME --order {order}"
        )
    return counted


def _require_sentences(chosen: Sequence[dict[str, Any]]) -> None:
    if bare := [row["name"] for row in chosen if row["counts_only"]]:
        which = "" if len(bare) == len(chosen) else f" of {', '.join(bare)}"
        raise NotFoundError(
            f"this lake holds counts, no sentences{which}; ask it for n-grams with: sentgen ngrams, or ask a"
            " store with the same texts"
        )


def _chosen(connection: Connection, condition: str) -> Condition:
    # Importing its parser takes longer than most look-ups, which have no condition.
    from sentgen.lookups.metadata.conditions import choose

    return choose(connection, condition)


def _subcorpora(connection: Connection, names: Sequence[str], known: Iterable[str]) -> list[Subcorpus]:
    """Return the subcorpora of some names, which are no corpora.

    Raises:
        NotFoundError: there is none of a name.
    """
    if not names:
        return []
    from sentgen.lookups.subcorpora import stored

    there = {one.name: one for one in stored(connection)}
    unknown = [name for name in names if name not in there]
    if unknown:
        listing = ", ".join([*sorted(known), *there]) or _NO_CORPORA
        raise NotFoundError(f"no corpus {', '.join(map(repr, unknown))}; the store has: {listing}")
    return [there[name] for name in names]


def _corpora(connection: Connection) -> list[dict[str, Any]]:
    """Return all corpora, by `_CORPORA`; of a store that nobody can change, once."""
    kept = connection.info if connection.get_execution_options().get(READ_ONLY) else {}
    if (rows := kept.get(_corpora)) is None:
        rows = kept[_corpora] = Statement(_CORPORA).fetch(connection, _FEW).to_pylist()
    return list(rows)


@contextmanager
def registered(connection: Connection, **tables: pa.Table) -> Iterator[None]:
    """Let statements of a connection read Arrow tables by name."""
    duck = raw(connection)
    for name, rows in tables.items():
        duck.register(name, rows)
    try:
        yield
    finally:
        for name in tables:
            duck.unregister(name)


def where(conditions: Sequence[str], indent: str = "") -> str:
    """Return the where clause, one condition a line; nothing for none."""
    return f"\n{indent}where " + f"\n{indent}  and ".join(conditions) if conditions else ""


def limited(connection: Connection, query: Statement, limit: int, missing: str) -> Answer:
    """Ask a query whose parameter ``limit`` is the number of rows that are shown (0: it has none)."""
    # One more tells whether there are more, without counting all.
    asked = Statement(query.text, {**query.parameters, "limit": limit + 1}) if limit else query
    found = asked.fetch(connection, limit)
    more = bool(limit) and found.num_rows > limit
    return Answer(found.slice(0, limit) if more else found, query, missing, truncated=more)


def limit_clause(limit: int, bindings: Bindings) -> str:
    """Return the limit clause; nothing if 0 stands for all."""
    return f"\nlimit {bindings.bind('limit', limit)}" if limit else ""


def at_least(min_count: int) -> str:
    """Return what to add to what is missing where rarer things were left out."""
    return f" that occurs at least {min_count} times" if min_count > 1 else ""


def literal(value: object) -> str:
    """Return a value as SQL writes it."""
    if value is None:
        return "null"
    # Before int, which bool is a kind of.
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(literal, value))})"
    return "'" + str(value).replace("'", "''") + "'"
