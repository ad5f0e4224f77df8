"""What all questions to the counts have in common: what they are about, and the number of rows."""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import Annotated, ClassVar, Protocol

from sqlalchemy import Connection

from sentgen.lookups.base.statement import Answer
from sentgen.lookups.question.selection import Selection, select_corpora
from sentgen.options import Option

#: No count is greater, and no seed.
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
    """What all questions have, each of them a dataclass."""

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
        """Look up the corpora that are meant; see `sentgen.lookups.question.selection.select_corpora`."""
        return select_corpora(
            connection,
            self.corpus,
            condition=self.where,
            min_order=min_order,
            ignore_case=self.ignore_case,
            sentences=sentences,
        )
