"""Tags for untagged words, and checks that corpora have the trees for a dependency model.

A dependency model is over words with tags, universal or language-specific as its corpora were counted. The
words of its input must have tags of the same kind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import duckdb
import pyarrow as pa
from sqlalchemy import func, literal, select

from sentgen.case_folding import fold, fold_sql
from sentgen.counts import corpora
from sentgen.errors import ModelError, spell
from sentgen.models.base.registry import ModelInfo
from sentgen.models.base.sql import statements
from sentgen.models.dependency.tree_counts import Layer
from sentgen.options import TRAIN
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.engine import register_arrow
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import NO_TAG, RESERVED_TAGS, ROOT, corpus, token
from sentgen.schema.tables.counts import dependency_event, segment
from sentgen.schema.tables.models import model_corpus


def corpora_of(store: Store, model: ModelInfo) -> list[tuple[int, str]]:
    """Return ids and names of the corpora that a language model was built from, by id."""
    query = (
        select(corpus.c.id, corpus.c.name)
        .join(model_corpus, model_corpus.c.corpus_id == corpus.c.id)
        .where(model_corpus.c.model_id == model.id)
    )
    with store.connect() as connection:
        return [(int(number), str(name)) for number, name in connection.execute(query.order_by("id"))]


def has_trees(store: Store, model: ModelInfo, layer: Layer = "unit") -> bool:
    """Return whether a corpus that a language model was built from has trees."""
    mine = [number for number, _ in corpora_of(store, model)]
    if not mine or not _having_trees(store, mine, layer):
        return False
    # A lake may have counts of trees without the trees.
    head = token.c.head if layer == "word" else token.c.unit_head
    query = select(literal(1)).where(token.c.corpus_id.in_(mine), head.is_not(None)).limit(1)
    with store.connect() as connection:
        return connection.execute(query).first() is not None


def have_function_heads(store: Store, corpora: Sequence[int]) -> bool:
    """Return whether function words are heads in the counts of some corpora."""
    query = select(func.bool_or(corpus.c.function_heads)).where(corpus.c.id.in_(corpora))
    with store.connect() as connection:
        return bool(connection.execute(query).scalar())


def treebanks_of(
    store: Store, model: ModelInfo, names: Sequence[str] | None = None, layer: Layer = "unit"
) -> list[int]:
    """Return the ids of the corpora whose trees are used with a language model.

    Args:
        names: the corpora to use; if ``None``, those that the model was built from and that have trees.
        layer: `unit` or `word`.

    Raises:
        NotFoundError: there is no corpus of a name.
        ModelError: a named corpus, or every corpus of the model, has no trees.
    """
    if names is not None:
        return named_treebanks(store, names, layer)
    return with_trees(store, [number for number, _ in corpora_of(store, model)], layer)


def named_treebanks(store: Store, names: Sequence[str], layer: Layer = "unit") -> list[int]:
    """Return the ids of some corpora, all of which have trees.

    Raises:
        NotFoundError: there is no corpus of a name.
        ModelError: a corpus has no trees.
    """
    with store.connect() as connection:
        rows = [corpora.find(connection, name) for name in dict.fromkeys(names)]
    wanted = sorted((int(row.id), str(row.name)) for row in rows)
    treebanks = with_trees(store, [number for number, _ in wanted], layer)
    missing = [name for number, name in wanted if number not in treebanks]
    # Only named corpora must have trees: a model may be built from plain text and treebanks together.
    if missing:
        raise ModelError(
            f"there are no dependency trees in {' and '.join(missing)}; name treebanks only"
            f" with {spell('dependencies')}"
        )
    return treebanks


#: The last three letters of a word, each digit as 0, and whether its first letter is a capital.
Ending = tuple[str, bool]
TagCounts = Mapping[str, int]

_SUFFIX = 3


def most_frequent_tags(
    store: Store, corpora: Sequence[int], layer: Layer, words: Iterable[str]
) -> dict[str, str]:
    """Return the most frequent tag of each word form; of equally frequent ones the smaller name.

    A form that does not occur in the layer gets its tag in the layer of words, else that of another spelling
    (lower case, then capitalized). An unknown word gets the most frequent tag among the words seen once with
    the same ending (`_ending`), else among all words seen once, else `_`. One query, and another one if there
    are unknown words.

    Args:
        corpora: ids of the corpora whose trees are read; `with_trees` returns those that have trees.
        layer: `word` for all tokens, `unit` for the last words of base noun phrases and other words.
        words: the forms, in any order.
    """
    wanted = sorted(set(words))
    layers = dict.fromkeys((layer, "word"))
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        counts = _occurrences(duck, corpora, sorted({form for word in wanted for form in _spellings(word)}))
        chosen = {}
        for word in wanted:
            known = (counts[key] for key in product(_spellings(word), layers) if key in counts)
            # The word itself in the other layer is preferred to its other spellings.
            if tags := next(known, None):
                chosen[word] = _most_frequent(tags)
        unseen = [word for word in wanted if word not in chosen]
        return chosen | (_guesses(duck, corpora, layer, unseen) if unseen else {})


def _spellings(word: str) -> list[str]:
    """Return a word as it is, in lower case, and capitalized."""
    return list(dict.fromkeys((word, fold(word), word[:1].upper() + word[1:])))


def _most_frequent(tags: TagCounts) -> str:
    return min(tags, key=lambda tag: (-tags[tag], tag))


def _occurrences(
    duck: duckdb.DuckDBPyConnection, corpora: Sequence[int], forms: list[str]
) -> dict[tuple[str, str], TagCounts]:
    """Return how often forms occur with each tag, by form and layer."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    query = statements("tagging.sql")["occurrences"].format(root=ROOT)
    with register_arrow(duck, _names=pa.table({"name": pa.array(forms, pa.string())})):
        for form, layer, tag, count in duck.execute(query, [list(corpora)]).fetchall():
            counts[form, layer][tag] = count
    return dict(counts)


def _guesses(
    duck: duckdb.DuckDBPyConnection, corpora: Sequence[int], layer: Layer, words: list[str]
) -> dict[str, str]:
    """Return the most probable tags of unknown words."""
    endings = {word: _ending(word) for word in words}
    suffixes, capitalized = zip(*sorted(set(endings.values())), strict=True)
    by_ending: dict[Ending, dict[str, int]] = defaultdict(dict)
    # `_` with count 0, for corpora without words seen once.
    overall: dict[str, int] = defaultdict(int, {RESERVED_TAGS[NO_TAG]: 0})
    query = statements("tagging.sql")["seen_once"].format(
        root=ROOT, ending=fold_sql(f"right(w.form, {_SUFFIX})"), first=fold_sql("left(w.form, 1)")
    )
    with register_arrow(duck, _endings=pa.table({"suffix": suffixes, "capitalized": capitalized})):
        for suffix, capital, tag, count in duck.execute(query, [list(corpora), layer]).fetchall():
            overall[tag] += count
            # Words with other endings are only in the overall counts.
            if suffix is not None:
                by_ending[suffix, capital][tag] = count
    return {word: _most_frequent(by_ending.get(ending, overall)) for word, ending in endings.items()}


def _ending(word: str) -> Ending:
    """Return the features by which unknown words are tagged, computed as in the query.

    >>> _ending("Mid-1990s"), _ending("ran")
    (('00s', True), ('ran', False))
    """
    return re.sub("[0-9]", "0", fold(word[-_SUFFIX:])), word[:1] != fold(word[:1])


def known_tags(store: Store, corpora: Sequence[int], layer: Layer) -> set[str]:
    """Return the tags in the dependency counts of some corpora."""
    with store.connect() as connection, translated_errors(store.path):
        rows = raw(connection).execute(statements("tagging.sql")["known_tags"], [list(corpora), layer])
        return {name for (name,) in rows.fetchall()}


def tags_beside(
    store: Store, corpora: Sequence[int], kind: str, words: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """Return the most frequent tag of one kind for each word with a given tag of the other kind.

    A word that never has the given tag gets its most frequent tag (see `most_frequent_tags`) if tokens of
    this tag have the given one most often, else the tag that tokens with the given tag have most often. Of
    equally frequent tags the first by name is returned. If no token has the given tag, the word is left out.

    Args:
        corpora: ids of the corpora whose tokens are counted.
        kind: `xpos` or `upos`.
        words: forms with their tags of the other kind, in any order.
    """
    wanted = sorted(set(words))
    forms = sorted({form for word, _ in wanted for form in _spellings(word)})
    of_words: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    beside: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    others: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    query = statements("tagging.sql")["pairs"].format(kind=kind, other="upos" if kind == "xpos" else "xpos")
    names = pa.table({"name": pa.array(forms, pa.string())})
    with (
        store.connect() as connection,
        translated_errors(store.path),
        cursor(raw(connection)) as duck,
        register_arrow(duck, _names=names),
    ):
        rows = duck.execute(query, [list(corpora)]).fetchall()
    for form, other, tag, count in rows:
        beside[other][tag] += count
        others[tag][other] += count
        if form is not None:
            of_words[form, other][tag] = count
    usual = most_frequent_tags(store, corpora, "word", {word for word, _ in wanted})
    best = {}
    for word, other in wanted:
        if other not in beside:
            continue
        known = next((of_words[form, other] for form in _spellings(word) if (form, other) in of_words), None)
        fits = _most_frequent(others[usual[word]]) == other if others.get(usual[word]) else False
        best[word, other] = usual[word] if known is None and fits else _most_frequent(known or beside[other])
    return best


def _having_trees(store: Store, corpora: Sequence[int], layer: Layer = "unit") -> list[int]:
    """Return the ids of the corpora that have trees in a layer, ascending."""
    # Every attachment has a row at the level of tags, which has the fewest rows.
    events = select(dependency_event.c.segment_id).where(
        dependency_event.c.segment_id == segment.c.id,
        dependency_event.c.layer == layer,
        dependency_event.c.level == "tag-tag",
    )
    having = select(segment.c.corpus_id).where(segment.c.corpus_id.in_(corpora), events.exists())
    with store.connect() as connection:
        return sorted(set(connection.scalars(having)))


def with_trees(store: Store, corpora: Sequence[int], layer: Layer = "unit") -> list[int]:
    """Return the ids of the corpora that have trees in a layer, ascending.

    Raises:
        ModelError: none of the corpora has trees.
    """
    treebanks = _having_trees(store, corpora, layer)
    if not treebanks:
        with store.connect() as connection:
            names = connection.scalars(select(corpus.c.name).where(corpus.c.id.in_(corpora))).all()
            # No corpora: the model was imported, or its corpora were removed.
            missing = (
                f"there are no dependency trees in {' and '.join(sorted(names))}, in the layer of {layer}s"
                if names
                else "the model has no corpora here to take dependency trees from"
            )
            raise ModelError(
                f"{missing}; name a treebank with {spell('dependencies')} CORPUS, or parse the text"
                f" ({TRAIN}): sentgen ingest FILE --corpus NAME --parser PARSER"
            )
    return treebanks


def tag_set(store: Store, corpora: Sequence[int]) -> str:
    """Return which tags the dependency counts of some corpora use, `xpos` or `upos`.

    Corpora without trees are ignored. A token without a tag of this kind was counted with its tag of the
    other kind; tag other sentences by the same rule.

    Raises:
        ModelError: none of the corpora has trees, or they use different tags.
    """
    counted = with_trees(store, corpora, "word")
    query = select(corpus.c.name, corpus.c.tags).where(corpus.c.id.in_(counted)).order_by(corpus.c.name)
    with store.connect() as connection:
        kinds = {str(row.name): str(row.tags) for row in connection.execute(query)}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name} {tags}" for name, tags in kinds.items())
        raise ModelError(
            f"the dependency counts of these corpora use different tags ({listed});"
            " choose corpora of one kind, or make one: sentgen ingest FILE --corpus NAME --tags KIND"
        )
    return next(iter(kinds.values()))
