"""Which words are near a word or a phrase, by the cosine of their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlalchemy import Connection

from sentgen.case_folding import fold
from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.base.statement import Answer, Bindings, Statement, limit_clause, limited_answer
from sentgen.lookups.question.lookup import LimitOption, MinCountOption, OffsetOption, RowSortOption, in_pages
from sentgen.models.vectors.registry import find_space
from sentgen.options import Option
from sentgen.output.wording import quantity

VectorsOption = Annotated[
    str | None,
    Option(
        "Name of the vectors; those that were built last if not given.",
        metavar="NAME",
        api={"max_length": 200},
    ),
]
#: Of a phrase, the mean of the vectors of its words; a sum has the same direction.
_NEAR = """\
with phrase as (
  select v.components
  from (values {words}) w (form)
  join word_vector v on v.form = w.form and v.space_id = $space
),
size as (
  select sqrt(sum(list_inner_product(a.components, b.components)::double)) as length
  from phrase a
  cross join phrase b
)
select v.form as word, v.count,
  round(sum(list_inner_product(v.components, p.components)::double) / any_value(s.length), 4) as cosine
from word_vector v
cross join phrase p
cross join size s
where v.space_id = $space
  and v.count >= $min_count
  and v.form not in ({known})
group by v.form, v.count, v.rank
order by sum(list_inner_product(v.components, p.components)::double) desc, v.rank{limit}"""
_KNOWN = "select form from word_vector where space_id = $space and form in ({known})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Words near a word or a phrase."""

    word: Annotated[
        str, Option("A word, or the words of a phrase: `prime minister`.", argument=True, metavar="WORD")
    ]
    vectors: VectorsOption = None
    min_count: MinCountOption = 1
    sort: RowSortOption = ""
    offset: OffsetOption = 0
    limit: LimitOption = 20

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the words with their cosines, the nearest first; of equals, the more frequent first.

        Raises:
            InputError: no word is given.
            NotFoundError: there are no such vectors, or a word has none.
        """
        words = fold(self.word).split()
        if not words:
            raise InputError("no word is given; name one, or a phrase in quotes")
        space = find_space(connection, self.vectors)
        bindings = Bindings(space=space.id, min_count=self.min_count)
        # A word that comes twice counts twice.
        names = [bindings.bind("word", word) for word in words]
        listed = {"words": ", ".join(f"({name})" for name in names), "known": ", ".join(names)}
        known = set(Statement(_KNOWN.format(**listed), bindings).run(connection)["form"].to_pylist())
        if missing := [word for word in words if word not in known]:
            raise NotFoundError(
                f"no vector of {', '.join(map(repr, missing))} in {space.name!r}, whose words occur"
                f" {quantity(space.min_count, 'time')} or more; take another word, or more text"
            )
        text = _NEAR.format(limit=limit_clause(self.limit, bindings), **listed)
        return limited_answer(connection, Statement(text, bindings), self.limit, f"word near {self.word!r}")
