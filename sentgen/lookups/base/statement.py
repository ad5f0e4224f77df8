"""Statements with bound parameters, the tables from which they read hits, and answers with their statement.

The modules of look-ups (`ngram_search`, `concordance`, `frequencies`, `collocations` and the like) write
statements over the tables of `sentgen.schema`; parameters are always bound. `Statement.with_values` shows the
same statement with its values, to be pasted into ``sentgen sql``.

A match lies within a sentence, or with ``--across`` within a document. Statements identify the tokens of a
match by a sentence and positions in it. With ``--across``, the sentence is the first one of the document, and
positions count on over the ends of sentences: the same statements find matches in documents when they read
``running`` in place of `token`. ``placed`` has the number of tokens before each sentence in its document, by
which such positions are converted to sentences and positions in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from sentgen.errors import MemoryLimitError, spell
from sentgen.lookups.base.cache import id_of
from sentgen.output.tabular import SIMPLE_TYPES, Rows
from sentgen.schema.engine import MEMORY_LIMIT, arrow_reader, one_row, raw

if TYPE_CHECKING:
    import pyarrow as pa


#: Rows up to which an answer is read without Arrow.
_ROWS_WITHOUT_ARROW = 1000

#: A parameter, or else a quoted name, a string or a comment, in which a dollar sign is no parameter.
_PARAMETER = re.compile(r"""\$([a-z_]\w*)|"(?:[^"]|"")*"|'(?:[^']|'')*'|--.*""")
#: A subquery for the id of a word or a tag.
_NUMBER = re.compile(r"\(select id from (word|tag) where (?:form|name) = \$([a-z_]\w*)\)")


class Bindings(dict[str, object]):
    """The parameters of a statement, by name."""

    def __init__(self, **given: object) -> None:
        super().__init__(given)
        self._names: dict[tuple[str, type, object], str] = {}
        self._numbers: dict[str, int] = {}

    def bind(self, name: str, value: object) -> str:
        """Store a value and return its parameter, such as ``$word``; a second ``name`` gets a number."""
        # Equal values share a parameter, which keeps the statement short. Names are not tried one by one, as
        # a query may have thousands of values.
        same = (name, type(value), tuple(value) if isinstance(value, list) else value)
        if same not in self._names:
            key, number = name, self._numbers.get(name, 1)
            while key in self and self[key] != value:
                number += 1
                key = f"{name}_{number}"
            self[key], self._names[same], self._numbers[name] = value, key, number
        return f"${self._names[same]}"


class ResultBudget:
    """Counts the bytes of the rows of an answer in memory, and refuses more than a quarter of the limit.

    The limit is that of the store; DuckDB takes its memory besides.
    """

    def __init__(self, connection: Connection) -> None:
        limit = connection.get_execution_options().get(MEMORY_LIMIT)
        self._most = int(limit) // 4 if limit else None
        self._bytes = 0

    def add(self, size: int) -> None:
        """Add the bytes of rows, or those from which rows will be computed.

        Raises:
            MemoryLimitError: there are too many bytes.
        """
        self._bytes += size
        if self._most is not None and self._bytes > self._most:
            raise MemoryLimitError(
                f"the answer has more than {self._most / 2**20:,.0f} MB of rows, which is too much for the"
                f" memory limit; ask for fewer with {spell('limit')}, or raise {spell('memory_limit')}"
            )


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; ``$name`` in its text stands for a parameter."""

    text: str
    parameters: dict[str, object] = field(default_factory=dict)

    @property
    def used_parameters(self) -> dict[str, object]:
        """The parameters that occur in the text, as DuckDB refuses others."""
        return {name: self.parameters[name] for name in _PARAMETER.findall(self.text) if name}

    def with_ids(self, connection: Connection) -> Statement:
        """Return the statement with the ids of words and tags in place of the subqueries for them.

        A column is compared with a constant while it is read, but joined with a subquery: in the bigrams of
        10M tokens that takes 4 ms instead of 10.
        """

        def look_up(match: re.Match[str]) -> str:
            number = id_of(connection, match[1], str(self.parameters[match[2]]))
            # An unknown word keeps its subquery: `in` an empty result is false, but `in (null)` is null.
            return match[0] if number is None else f"({number})"

        return replace(self, text=_NUMBER.sub(look_up, self.text))

    def run(self, connection: Connection) -> pa.Table:
        """Return the rows."""
        statement = self.with_ids(connection)
        reader = arrow_reader(raw(connection), statement.text, statement.used_parameters)
        budget, batches = ResultBudget(connection), []
        for batch in reader:
            batches.append(batch)
            budget.add(batch.nbytes)
        import pyarrow as pa

        return pa.Table.from_batches(batches, reader.schema)

    def fetch(self, connection: Connection, limit: int) -> Rows:
        """Return the rows, at most ``limit``, as it is bound in the statement; 0 for all.

        A few rows are read without Arrow, whose import takes longer than most look-ups.
        """
        if not 0 < limit <= _ROWS_WITHOUT_ARROW:
            return Rows.from_arrow(self.run(connection))
        statement = self.with_ids(connection)
        result = raw(connection).execute(statement.text, statement.used_parameters or None)
        names, types = zip(*((name, str(kind)) for name, kind, *_ in result.description), strict=True)
        if not set(types) <= set(SIMPLE_TYPES):
            return Rows.from_arrow(self.run(connection))
        return Rows(names, result.fetchall(), types)

    def value(self, connection: Connection) -> Any:
        """Return the value of a query for one row of one column; None if there is no row."""
        statement = self.with_ids(connection)
        row = one_row(raw(connection), statement.text, statement.used_parameters)
        return row[0] if row else None

    def with_values(self) -> str:
        """Return the statement with its values in place of the parameters.

        >>> Statement("select $word", {"word": "it's"}).with_values()
        "select 'it''s'"
        >>> print(Statement('select $word as "$word"', {"word": "a"}).with_values())
        select 'a' as "$word"
        """
        return _PARAMETER.sub(
            lambda match: literal(self.parameters[match[1]]) if match[1] else match[0], self.text
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Args:
        rows: the rows, at most as many as asked for.
        query: the statement that gives these rows.
        missing: what there is none of where nothing was found, such as "n-gram 'the dow *'".
        truncated: whether there are more rows.
        total: how many rows there are in all, where that was counted.
        offset: how many rows were left out before these.
        left_out: corpora that could not be asked.
        hints: why there may be nothing, where nothing was found.
        near: what may stand in place of a value that never occurs, by that value; the hints name it, too.
        remarks: what else is to be known of the rows.
    """

    rows: Rows
    query: Statement
    missing: str
    truncated: bool = False
    total: int | None = None
    offset: int = 0
    left_out: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    near: Mapping[str, Sequence[str]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def table(self) -> pa.Table:
        """The rows in Arrow."""
        return self.rows.arrow()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found: there are no rows, or a number of hits that is 0."""
        return not self.rows.num_rows or self.total == 0

    @property
    def notes(self) -> list[str]:
        """What is to be said beside the rows: corpora that were left out, and that there is nothing."""
        notes = list(self.remarks)
        if self.left_out:
            notes.append(f"not counted to this order and left out: {', '.join(self.left_out)}")
        if self.is_empty:
            notes.append("; ".join([f"no {self.missing}", *self.hints]))
        return notes


def where(conditions: Sequence[str], indent: str = "") -> str:
    """Return the where clause, one condition a line, without empty ones; empty for no condition."""
    joined = f"\n{indent}  and ".join(filter(None, conditions))
    return f"\n{indent}where {joined}" if joined else ""


def any_row(
    connection: Connection, table: str, conditions: Sequence[str] = (), bindings: Bindings | None = None
) -> bool:
    """Return whether a table has a row that meets some conditions."""
    text = f"select 1 from {table}{where(conditions)} limit 1"
    return Statement(text, bindings or Bindings()).value(connection) is not None


def any_of(conditions: Sequence[str]) -> str:
    """Return the condition that one of several holds."""
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})"


def limited_answer(connection: Connection, query: Statement, limit: int, missing: str) -> Answer:
    """Run a query whose parameter ``limit`` is the number of rows that are shown (0: it has none)."""
    # One row more says whether there are more rows, without counting them.
    statement = Statement(query.text, {**query.parameters, "limit": limit + 1}) if limit else query
    rows, more = statement.fetch(connection, limit).first(limit)
    return Answer(rows, query, missing, truncated=more)


def limit_clause(limit: int, bindings: Bindings, indent: str = "") -> str:
    """Return the limit clause; empty for a limit of 0, which means all rows."""
    return f"\n{indent}limit {bindings.bind('limit', limit)}" if limit else ""


def at_least(min_count: int) -> str:
    """Return the end of a message on missing rows, if rows of a lower count were left out."""
    return f" that occurs at least {min_count} times" if min_count > 1 else ""


def literal(value: object) -> str:
    """Return a value as SQL writes it."""
    if value is None:
        return "null"
    # Before int, of which bool is a subclass.
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(literal, value))})"
    return "'" + str(value).replace("'", "''") + "'"


_PLACED = """\
  select s.id, d.first_sentence as start, s.length, (s.first_token - b.first_token)::integer as before
  from sentence as s
  join document as d on d.id = s.document_id
  join sentence as b on b.id = d.first_sentence{conditions}"""
_RUNNING = """\
  select t.*, p.start, p.before + t.position as place
  from token as t
  join placed as p on p.id = t.sentence_id"""


@dataclass(frozen=True, slots=True)
class TableExpression:
    """A common table expression; ``materialized`` or not if DuckDB is not to decide that itself."""

    name: str
    text: str
    materialized: bool | None = False

    def __str__(self) -> str:
        how = (
            "not materialized " if self.materialized is None else "materialized " if self.materialized else ""
        )
        return f"{self.name} as {how}(\n{self.text}\n)"


@dataclass(frozen=True, slots=True)
class Extent:
    """The table from which matches read tokens, and how it numbers them: by sentences or by documents.

    Args:
        tokens: a table with the columns of `token`.
        sentence: the column with the sentence from whose first token positions count.
        position: the column with the position of a token from there.
    """

    tokens: str
    sentence: str
    position: str


SENTENCE = Extent("token", "sentence_id", "position")
DOCUMENT = Extent("running", "start", "place")


def document_tokens(conditions: Sequence[str] = ()) -> list[TableExpression]:
    """Return the expressions from which `DOCUMENT` reads: ``placed``, and then ``running``.

    The ``conditions`` on rows ``s`` of `sentence` select whole documents.
    """
    placed = TableExpression("placed", _PLACED.format(conditions=where(conditions, "  ")), materialized=True)
    # Not materialized, as it has all tokens.
    return [placed, TableExpression("running", _RUNNING, materialized=None)]


def expressions_text(parts: Sequence[TableExpression]) -> str:
    """Return the text of common table expressions, each followed by a comma and a line feed."""
    return "".join(f"{part},\n" for part in parts)


def only_expressions(parts: str) -> str:
    """Return the with clause of a statement that has only these common table expressions."""
    return f"with recursive {parts.rstrip().rstrip(',')}\n" if parts else ""


@dataclass(frozen=True, slots=True)
class HitSource:
    """The part of a statement from which hits are read.

    Args:
        table: the text behind ``from``.
        sentence: SQL for the id of the sentence.
        first: SQL for the position of the first token.
        last: SQL for the position of the last token.
        parts: common table expressions of the table, each followed by a comma and a line feed.
        extent: whether hits lie within sentences or documents, from which their positions count.
        match: the table with the positions of labels, one row for each assignment of tokens to labels.
        labels: column of ``match`` for each label.
    """

    table: str
    sentence: str = "sentence_id"
    first: str = "first"
    last: str = "last"
    parts: str = ""
    extent: Extent = SENTENCE
    match: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def with_start(self) -> str:
        """The start of a with clause to which further common table expressions are added."""
        return f"with recursive {self.parts}" if self.parts else "with "
