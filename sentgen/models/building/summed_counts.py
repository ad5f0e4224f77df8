"""The counts of a model's corpora, summed in tables of the connection, from which it is estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from sentgen.errors import ModelError
from sentgen.models.base import sql
from sentgen.models.building.chosen import BuiltFrom
from sentgen.models.building.recipe import Recipe
from sentgen.models.building.recount import recount
from sentgen.schema.tables.corpus import BOS, EOS, UNK

_FILE = "build.sql"
Progress = Callable[[str], None]


def check_corpora(corpora: Sequence[BuiltFrom], settings: Recipe) -> None:
    """Refuse corpora that do not make such a model.

    Raises:
        ModelError: there are none, or they are empty or not counted to its order.
    """
    if not corpora:
        raise ModelError("a model needs a corpus; give --corpus NAME")
    for each in corpora:
        if each.max_order < settings.order:
            raise ModelError(
                f"corpus {each.name!r} is counted up to order {each.max_order}, not {settings.order}; "
                f"choose --order {each.max_order}, or ingest it again with --order {settings.order}"
            )
    if not sum(each.sentences for each in corpora):
        raise ModelError(f"no sentences in {', '.join(each.name for each in corpora)}; ingest some first")


def count(
    connection: Connection,
    corpora: Sequence[BuiltFrom],
    settings: Recipe,
    report: Progress,
    *,
    new_words: bool = True,
    first_words: tuple[int, int] | None = None,
    chosen: bool = False,
) -> None:
    """Make ``counted_1`` and up: the counts of the model's n-grams, in the corpora together.

    The same lie sorted in ``part_1`` and up, where an n-gram may have several rows.

    Args:
        connection: of the store.
        corpora: the corpora.
        settings: of the model.
        report: called with one line a step.
        new_words: if not, all words of the model must be in the store already, and nothing is written to it.
        first_words: those n-grams alone whose first word is at least the first number and less than the
            second; if nothing is counted again.
        chosen: whether the sentences of the table ``chosen`` alone count (`sentgen.models.building.chosen`).

    Raises:
        ModelError: marks of the ends of sentences stand within them.
    """
    segments = [number for each in corpora for number in each.segments]
    if chosen or not settings.as_counted:
        recount(
            connection,
            [each.id for each in corpora],
            settings,
            chosen=chosen,
            new_words=new_words and not settings.as_counted,
            progress=report,
        )
        statements = ["part_counted"]
    else:
        one = len(segments) == 1  # sorted and summed already: read it where it lies
        statements = ["count_segment", "part_segment"] if one else ["count_segments", "part_segments"]
    for n in range(1, settings.order + 1):
        for statement in statements:
            listed = ", ".join(map(str, segments))
            within = f" and w1 >= {first_words[0]} and w1 < {first_words[1]}" if first_words else ""
            sql.run(connection, _FILE, statement, n=n, words=sql.words(n), segments=listed, within=within)
    if settings.order > 1 and sql.run(connection, _FILE, "misplaced", bos=BOS, eos=EOS)[0][0]:
        raise ModelError(
            "the text contains <s> or </s> as words, which no language model can tell from the ends of "
            "sentences; replace them and ingest it again"
        )


def vocabulary(connection: Connection, corpora: Sequence[BuiltFrom], settings: Recipe) -> int:
    """Return how many words a model has that reads the counts of its corpora."""
    count(connection, corpora, settings, lambda _: None)
    unigrams = sql.run(connection, _FILE, "vocabulary", bos=BOS, unk=UNK, least=settings.min_count[0])
    drop_temporary(connection)
    return int(unigrams[0][0]) + (settings.unknown == "word")


def drop_temporary(connection: Connection) -> None:
    """Drop the temporary tables and views of a build, which would keep their memory."""
    for name, kind in sql.run(connection, _FILE, "temporary"):
        sql.rows(connection, f"drop {'view' if kind == 'VIEW' else 'table'} temp.{name}")
