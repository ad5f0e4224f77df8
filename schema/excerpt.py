"""Excerpts: a new store with some of the corpora of another, for people who may have only these.

Rows that are left out are never written to the new file. Rows of which it is not known that they belong to
these corpora only (models from ARPA files, evaluations, parses) are left out, too. Ids have gaps, as after
`sentgen corpora remove`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

import duckdb
from sqlalchemy import Table

from sentgen.errors import NotFoundError
from sentgen.schema.base import literal, metadata
from sentgen.schema.engine import raw
from sentgen.schema.store import Store
from sentgen.schema.tables.corpus import NO_TAG, ROOT
from sentgen.schema.tables.models import PARTS

#: Columns with ids of `word`, and with those of `tag`.
_WORDS = frozenset({"lemma_id", "w1", "w2", "w3", "w4", "w5"})
_TAGS = frozenset({"upos_id", "xpos_id", "feats_id", "deprel_id"})
#: Queries for the ids of chosen rows, with the names of the corpora: a corpus that was replaced is another.
_CHOICES = {
    "chosen_corpus": "select * from whole.corpus where name in (select unnest($corpora::varchar[]))",
    "chosen_segment": "from whole.segment semi join chosen_corpus on chosen_corpus.id = segment.corpus_id",
    # Models of a removed corpus do not belong to a new corpus that has its id.
    "chosen_model": """
        with recursive strange as (
            select m.id, m.name || '@' || m.version as label
            from whole.model m
            left join whole.model_corpus f on f.model_id = m.id
            left join chosen_corpus c
                on c.id = f.corpus_id and c.name = f.corpus_name and c.created_at <= m.created_at
            where c.id is null
            union
            select m.id, m.name || '@' || m.version
            from strange s
            join whole.model_parameter p on p.name = $parts || s.label
            join whole.model m on m.id = p.model_id
        )
        from whole.model anti join strange on strange.id = model.id""",
    "chosen_aligner": """
        select a.*
        from whole.alignment_model a
        left join chosen_corpus c
            on c.id = a.corpus_id and c.name = a.corpus_name and c.created_at <= a.created_at
        -- One that has learnt nothing is of no corpus.
        where c.id is not null or (a.corpus_id = 0 and a.pairs = 0 and a.iterations = 0)""",
    "chosen_space": """
        from whole.vector_space s
        where (
            select bool_and(c.id is not null and c.created_at <= s.created_at)
            from (select unnest(string_split(s.corpora, chr(10))) as name) f
            left join chosen_corpus c on c.name = f.name
        )""",
    "chosen_subcorpus": """
        from whole.subcorpus s
        where s.corpora <> '' and (
            select bool_and(f.name in (select name from chosen_corpus))
            from (select unnest(string_split(s.corpora, chr(10))) as name) f
        )""",
}


def write_excerpt(
    whole: Path, path: Path, corpora: Collection[str], *, memory_limit: int | None = None
) -> None:
    """Write some corpora of a store, and all that was made from these alone, to a new store at ``path``.

    Linear in the store. The same store and corpora make the same rows in the same order.

    Raises:
        NotFoundError: the store has no corpus of one of the names.
        StoreError: a store cannot be read or written.
    """
    # With one thread, rows keep their order (`sentgen.schema.store.one_thread`).
    with (
        Store(whole, read_only=True, memory_limit=memory_limit, threads=1),
        Store(path, create=True, memory_limit=memory_limit, threads=1) as store,
        store.connect() as connection,
    ):
        connection.rollback()
        duck = raw(connection)
        # This compression leaves gaps with old memory (`sentgen.schema.snapshots`): words of other corpora.
        duck.execute("set disabled_compression_methods = 'dict_fsst'")
        duck.execute(f"attach {literal(str(whole))} as whole (read_only)")
        _choose(duck, corpora)
        for name, table in metadata.tables.items():
            if name not in ("word", "tag"):
                duck.execute(f"insert into {name} by name from whole.{name} where {rows_of(table)}")
        for name in ("word", "tag"):
            used = " union ".join(_uses(name))
            reserved = ROOT if name == "word" else NO_TAG
            rows = f"from whole.{name} where id > {reserved} and id in ({used})"
            duck.execute(f"insert into {name} by name {rows}")
        duck.execute("detach whole")
        duck.execute("checkpoint")


def _choose(duck: duckdb.DuckDBPyConnection, corpora: Collection[str]) -> None:
    for name, query in _CHOICES.items():
        values = {"corpora": list(corpora), "parts": PARTS}
        given = {key: value for key, value in values.items() if f"${key}" in query}
        duck.execute(f"create temp table {name} as {query}", given)
    there = {name for (name,) in duck.execute("select name from chosen_corpus").fetchall()}
    for name in corpora:
        if name not in there:
            known = duck.execute("select name from whole.corpus order by name").fetchall()
            raise NotFoundError(f"no corpus {name!r}; there are: {', '.join(each for (each,) in known)}")
    names = there | {name for (name,) in duck.execute("select name from chosen_subcorpus").fetchall()}
    saved = duck.execute("select name, arguments from whole.saved_query").fetchall()
    chosen = [name for name, arguments in saved if _is_of(json.loads(arguments), names)]
    duck.execute("create temp table chosen_query as select unnest(?::varchar[]) as name", [chosen])


def _is_of(arguments: list[str], corpora: Collection[str]) -> bool:
    """Return whether a saved query names corpora, all of them among ``corpora``."""
    following = pairwise([*arguments, ""])
    named = [value for option, value in following if option in ("--corpus", "--against")]
    pairs = (argument.partition("=") for argument in arguments)
    named += [value for option, equals, value in pairs if equals and option in ("--corpus", "--against")]
    return bool(named) and set(named) <= set(corpora)


#: Conditions for the rows of single tables; false for tables whose rows belong to no known corpus.
_ROWS = {
    "corpus": "id in (select id from chosen_corpus)",
    "model": "id in (select id from chosen_model)",
    "alignment_model": "id in (select id from chosen_aligner)",
    "vector_space": "id in (select id from chosen_space)",
    "subcorpus": "name in (select name from chosen_subcorpus)",
    "saved_query": "name in (select name from chosen_query)",
    # Weights of which one is for a model that is left out are left out as a set.
    "model_weight": """
        model_id in (select id from chosen_model)
        and (model_id, version, algorithm) not in (
            select (w.model_id, w.version, w.algorithm)
            from whole.model_weight w
            where w.kind = 'feature' and w.name not in (select name || '@' || version from chosen_model)
        )""",
    **dict.fromkeys(("removed_model", "run", "score", "output", "parse"), "false"),
}


def rows_of(table: Table) -> str:
    """Return the condition that the rows of a table in an excerpt meet.

    Raises:
        LookupError: no condition is known for the table.
    """
    if table.name in _ROWS:
        return _ROWS[table.name]
    models = "chosen_aligner" if table.name.startswith("alignment") else "chosen_model"
    choices = {
        "corpus_id": "chosen_corpus",
        "segment_id": "chosen_segment",
        "model_id": models,
        "space_id": "chosen_space",
    }
    conditions = [f"{key} in (select id from {choice})" for key, choice in choices.items() if key in table.c]
    if not conditions:
        raise LookupError(f"nothing says which rows of {table.name} an excerpt has")
    return " and ".join(conditions)


def _uses(strings: str) -> Iterator[str]:
    """Yield queries for the ids of words or of tags that the rows use."""
    for name, table in metadata.tables.items():
        for column in table.columns:
            if refers_to(column.name) == strings:
                yield f"select {column.name} from {name}"


def refers_to(column: str) -> str:
    """Return the table whose ids a column has, ``word`` or ``tag``; empty if it has other values.

    >>> refers_to("head_word_id"), refers_to("deprel_id"), refers_to("corpus_id")
    ('word', 'tag', '')
    """
    if column.endswith("word_id") or column in _WORDS:
        return "word"
    return "tag" if column.endswith("tag_id") or column in _TAGS else ""
