"""The options that all questions share: corpora, conditions, the number of rows, and pages of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, replace
from functools import wraps
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer, Statement
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import instead, quantity
from sentgen.schema.base import quote_identifier

#: The largest number that options accept for counts and seeds.
MOST = 2**62
CorporaOption = Annotated[
    list[str],
    Option(
        "Only these corpora.",
        shell="Only this corpus; may be repeated.",
        metavar="NAME",
        api={"max_length": 100},
    ),
]
WhereOption = Annotated[
    str | None,
    Option(
        "Only sentences whose metadata meet this: `genre = academic and year >= 2010`.",
        metavar="EXPR",
        api={"max_length": 10_000},
    ),
]
LimitOption = Annotated[
    int,
    Option(
        "Rows; 0 for as many as the server gives.",
        short="-n",
        least=0,
        rows=True,
        api={"le": 1_000_000},
    ),
]
IgnoreCaseOption = Annotated[bool, Option("Ignore the case of letters: `The` and `the` are one word.")]
MinCountOption = Annotated[int, Option("Omit lower counts.", least=1, api={"le": MOST})]
ContextOption = Annotated[int, Option("Words on each side at most.", least=0, api={"le": 1000})]


class Question(Protocol):
    """The interface of all questions, which are dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    @property
    def limit(self) -> int: ...

    def ask(self, connection: Connection) -> Answer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A question about sentences: what all of them take."""

    #: Options that come after those of each question.
    LAST: ClassVar[tuple[str, ...]] = ("corpus", "where", "ignore_case", "limit")

    corpus: CorporaOption = field(default_factory=list)
    where: WhereOption = None
    ignore_case: IgnoreCaseOption = False
    limit: LimitOption = 20

    def select(self, connection: Connection, *, min_order: int = 0, sentences: bool = False) -> Selection:
        """Look up the corpora of the question; see `sentgen.lookups.base.selection.Selection.named`."""
        return Selection.named(
            connection,
            self.corpus,
            condition=self.where,
            min_order=min_order,
            ignore_case=self.ignore_case,
            sentences=sentences,
        )


RowSortOption = Annotated[
    str,
    Option(
        "Sort all rows by this column, by `-dp` from its end, before some of them are shown.",
        metavar="COLUMN",
        api={"max_length": 200},
    ),
]
OffsetOption = Annotated[int, Option("Rows to leave out at the beginning.", least=0, api={"le": MOST})]
AnyQuestion = TypeVar("AnyQuestion")
_DOWN, _UNSORTED = "-", ("", "none")
_REST = "select *\nfrom (\n{text}\n)\noffset $left_out"
#: Rows that are equal stay in the order of the answer.
_SORTED = """\
select * exclude (row_of_answer)
from (
  select *, row_number() over () as row_of_answer
  from (
{text}
  )
)
order by {column}{down} nulls last, row_of_answer{limit}"""


def in_pages(ask: Callable[[Any, Connection], Answer]) -> Callable[[Any, Connection], Answer]:
    """Decorate the ``ask`` of a question so that it obeys ``sort`` and ``offset`` besides ``limit``.

    Rows are in the order of the question, or sorted by a column: then rows without a value are last, and
    equal rows keep their order. To sort, all rows are computed, and the answer says how many there are.

    Raises:
        InputError: there is no such column, or the offset is not less than the number of rows.
    """

    @wraps(ask)
    def ask_page(question: Any, connection: Connection) -> Answer:
        if question.sort in _UNSORTED:
            return after_offset(question, lambda whole: ask(whole, connection))
        answer = ask(replace(question, sort=_UNSORTED[0], offset=0, limit=0), connection)
        if answer.is_empty:
            return answer
        return _sort_rows(answer, question.sort, question.offset, question.limit)

    return ask_page


def after_offset(question: AnyQuestion, ask: Callable[[AnyQuestion], Answer]) -> Answer:
    """Return the rows of an answer without the first ``offset`` ones.

    Raises:
        InputError: the offset is not less than the number of rows.
    """
    offset, limit = question.offset, question.limit  # type: ignore[attr-defined]
    if not offset:
        return ask(question)
    answer = ask(replace(question, offset=0, limit=limit and offset + limit))  # type: ignore[type-var]
    if answer.is_empty:
        return answer
    rows = answer.rows.num_rows
    _check(offset, answer.total or rows)
    query = Statement(_REST.format(text=answer.query.text), {**answer.query.parameters, "left_out": offset})
    total = answer.total if answer.truncated else rows
    shown = answer.rows.slice(offset, rows - offset)
    return replace(answer, rows=shown, query=query, total=total, offset=offset)


def _sort_rows(answer: Answer, sort: str, offset: int, limit: int) -> Answer:
    column, down = sort.removeprefix(_DOWN), sort.startswith(_DOWN)
    names, rows = answer.rows.columns, answer.rows.num_rows
    if column not in names:
        raise InputError(f"no column {column!r} to sort by; {instead(column, names)}")
    _check(offset, rows)
    import pyarrow.compute as pc

    table = answer.rows.arrow()
    order = "descending" if down else "ascending"
    # Rows without a value are last, and equal rows keep their order.
    order_rows = pc.sort_indices(table, sort_keys=[(column, order)])
    text = _SORTED.format(
        text=answer.query.text,
        column=quote_identifier(column),
        down=" desc" if down else "",
        limit=("\nlimit $rows" if limit else "") + ("\noffset $left_out" if offset else ""),
    )
    query = Statement(text, {**answer.query.parameters, "rows": limit, "left_out": offset})
    shown = Rows.from_arrow(table.take(order_rows.slice(offset, limit or rows)))
    more = offset + shown.num_rows < rows
    return replace(answer, rows=shown, query=query, truncated=more, total=rows, offset=offset)


def _check(offset: int, rows: int) -> None:
    if offset >= rows:
        raise InputError(
            f"{spell('offset')} {offset} leaves out all there is, {quantity(rows, 'row')}; give a smaller one"
        )
