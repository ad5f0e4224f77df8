"""Keywords: what is more frequent in some corpora than in others.

docs/measures.md defines the measures, `sentgen.lookups.statistics.keyness_statement` has them in SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.case_folding import fold
from sentgen.errors import InputError
from sentgen.lookups.base.statement import Answer, Bindings, Statement, at_least, limited_answer, where
from sentgen.lookups.question.lookup import (
    IgnoreCaseOption,
    LimitOption,
    MinCountOption,
    OffsetOption,
    RowSortOption,
    in_pages,
)
from sentgen.lookups.question.patterns import PosOption, read_pos
from sentgen.lookups.question.selection import Selection, select_corpora
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.keyness_statement import Items, Keyness, compared
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema.tables.counts import MAX_ORDER

#: What capital letters may be ignored in.
_OF_WORDS = (By.WORD, By.LEMMA)
_HAS_ITEM = "select 1 from token as t{conditions} limit 1"
_SHARED = "select count(*) from sentence{conditions}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """What is more frequent in some corpora than in others."""

    corpus: Annotated[
        list[str],
        Option(
            "The corpora or subcorpora whose keywords are asked for.",
            argument=True,
            given=True,
            metavar="CORPUS",
            api={"min_length": 1, "max_length": 100},
        ),
    ]
    against: Annotated[
        list[str],
        Option(
            "The corpora or subcorpora to compare them with.",
            shell="Corpus or subcorpus to compare them with; may be repeated.",
            given=True,
            metavar="NAME",
            api={"min_length": 1, "max_length": 100},
        ),
    ]
    where: Annotated[
        str | None,
        Option(
            "Only sentences of these corpora whose metadata meet this: `genre = academic`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    against_where: Annotated[
        str | None,
        Option(
            "Only sentences of the others whose metadata meet this: `genre = fiction`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    by: Annotated[By, Option("What to compare.")] = By.WORD
    n: Annotated[
        int, Option("Compare sequences of so many tokens, inside a sentence.", least=1, most=MAX_ORDER)
    ] = 1
    pos: PosOption = None
    stop: Annotated[
        str | None,
        Option(
            "Leave out these words, a list with blanks or ends of lines between them; case is ignored.",
            shell="Leave out the words of this file, one a line; case is ignored.",
            metavar="FILE",
            file="stop",
            api={"max_length": 20_000},
        ),
    ] = None
    measure: Annotated[Keyness, Option("What to rank by.")] = Keyness.LOG_LIKELIHOOD
    constant: Annotated[
        float,
        Option("What `simple-maths` adds to rates per million: more for more frequent words.", api={"gt": 0}),
    ] = 1
    negative: Annotated[bool, Option("Begin with what is rarer in these corpora than in the others.")] = False
    min_count: MinCountOption = 1
    sort: RowSortOption = ""
    offset: OffsetOption = 0
    ignore_case: IgnoreCaseOption = False
    limit: LimitOption = 20

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return what is more frequent in some corpora than in others, by a measure of the module.

        The columns are the item; ``count`` and ``per_million`` tokens in the corpora; ``reference_count`` and
        ``reference_per_million`` in those that they are compared with; and the measures, each as
        docs/measures.md defines it: ``log_likelihood``, ``log_ratio``, ``percent_diff`` and ``odds_ratio``
        (null where the reference has none), ``simple_maths``; ``p_bonferroni``, ``bic``, and the interval of
        the log ratio. Equals come by falling count, then alphabetically; ``min_count`` is that of both sides
        together. Words and n-grams of whole corpora are counted already; anything else is one scan of `token`
        on each side. Tokens that lack what is compared are tokens, but no item.

        Raises:
            InputError: both sides have the same sentences, one has none, or lacks what is compared, or only
                one of them was lower-cased.
            NotFoundError: no such corpus.
        """
        named = [list(dict.fromkeys(names)) for names in (self.corpus, self.against)]
        _check_names(named, alike=self.where == self.against_where)
        items = self._items()
        asked = {"ignore_case": items.folded, "sentences": items.by is not By.WORD or bool(items.pos)}
        order = self.n if items.by is By.WORD and not items.pos else 0
        focus, reference = (
            select_corpora(connection, names, condition=one, min_order=order, **asked)
            for names, one in zip(named, (self.where, self.against_where), strict=True)
        )
        if left_out := [*focus.left_out, *reference.left_out]:
            raise InputError(
                f"not counted to order {self.n}, and not to be compared by it: {', '.join(left_out)}"
            )
        if items.by in _OF_WORDS and focus.lowercase is not reference.lowercase and not self.ignore_case:
            raise InputError(
                "only one of the sides was lower-cased, so that their words differ in"
                " capitals; compare them with --ignore-case"
            )
        for side, names in zip((focus, reference), named, strict=True):
            _check_side(connection, side, ", ".join(names), items)
        shared = _shared(connection, focus, reference)
        # Where both were lower-cased, there are no capitals to ignore.
        items = replace(items, folded=focus.ignore_case or reference.ignore_case)
        bindings = Bindings(min_count=max(self.min_count, 1), constant=float(self.constant))
        query = compared(
            items, (focus, reference), self.measure, self.limit, bindings, negative=self.negative
        )
        often = at_least(self.min_count)
        missing = f"{self.by}{often}{' in both together' if often else ''}"
        return replace(limited_answer(connection, query, self.limit, missing), remarks=shared)

    def _items(self) -> Items:
        """Return what is compared.

        Raises:
            InputError: it does not go together.
        """
        of_words = self.by in _OF_WORDS
        stop = (
            () if self.stop is None else tuple(dict.fromkeys(fold(self.stop.removeprefix("\ufeff")).split()))
        )
        if self.stop is not None and not of_words:
            raise InputError(f"a list of words to leave out goes with words or lemmas, not with {self.by}")
        if self.stop is not None and not stop:
            raise InputError("the list of words to leave out is empty")
        if self.constant <= 0:
            raise InputError(f"the constant of simple-maths is more than 0, not {self.constant:g}")
        return Items(self.by, self.n, stop, read_pos(self.pos), self.ignore_case and of_words)


def _check_names(sides: Sequence[Sequence[str]], *, alike: bool) -> None:
    """Refuse a side without a name, and a name on both of them; ``alike``: of the same sentences of it."""
    if not all(sides):
        raise InputError("keywords come of a comparison; name corpora, and others to compare them with")
    if alike and (both := [name for name in sides[0] if name in sides[1]]):
        raise InputError(
            f"compared with itself: {', '.join(both)}; name each corpus on one side only, or choose"
            " sentences with --where and --against-where"
        )


def _check_side(connection: Connection, side: Selection, names: str, items: Items) -> None:
    """Refuse a side without tokens, or without what is compared: all of the other one would be key."""
    bindings, hints = Bindings(), list[str]()
    if not Statement(items.size(side, bindings), bindings).value(connection):
        what = "tokens" if items.length == 1 else f"sequences of {items.length} tokens"
        if side.condition:
            hints = side.condition.hints(connection)
        raise InputError(
            f"{names} has no {what} to compare; {'; '.join(hints) or 'name corpora with sentences'}"
        )
    for each, what, instead in (
        (replace(items, stop=(), pos=()), str(items.by), "compare by word"),
        (
            replace(items, stop=()),
            f"{items.by} with a part of speech {' or '.join(items.pos)}",
            "name others",
        ),
    ):
        if each.counted_already(side):
            continue
        bindings = Bindings()
        conditions = where([*each.of_tokens("t", bindings), *side.of_tokens(bindings, "t")])
        if Statement(_HAS_ITEM.format(conditions=conditions), bindings).value(connection) is None:
            raise InputError(f"{names} has no {what} to compare; {instead}")


def _shared(connection: Connection, focus: Selection, reference: Selection) -> tuple[str, ...]:
    """Say how many sentences are on both sides, which makes these more alike; nothing if none is.

    Raises:
        InputError: all sentences are on both sides.
    """
    if focus.condition is None and reference.condition is None:
        return ()
    bindings = Bindings()
    sides = [side.of_sentences(bindings) for side in (focus, reference)]
    all_of = [Statement(_SHARED.format(conditions=where(side)), bindings).value(connection) for side in sides]
    both = Statement(_SHARED.format(conditions=where([*sides[0], *sides[1]])), bindings).value(connection)
    if both == all_of[0] == all_of[1]:
        raise InputError("both sides have the same sentences; compare different ones")
    if not both:
        return ()
    return (f"{quantity(both, 'sentence is', 'sentences are')} on both sides, and counted on each",)
