"""Collocations: what occurs with a word more often than chance, in a window or by a dependency relation.

Every pair of a node and a collocate has a table of frequencies (Evert 2008, "Corpora and collocations")::

                      collocate     others
    with the node     o11           r1 - o11       r1
    elsewhere         c1 - o11      ...
                      c1                           n

In a window the things counted are tokens: r1 are the tokens within the window of a node (each once, though
windows may overlap), c1 the tokens that are the collocate, n all tokens. By relation they are the pairs of
head and modifier with that relation: r1 those with the node, c1 those with the collocate, n all of them.
With e11 = r1 c1 / n:

* PMI = log2(o11 / e11) (Church and Hanks 1990, "Word association norms, mutual information, and
  lexicography").
* Log-likelihood G2 = 2 sum o ln(o / e) over the four cells (Dunning 1993, "Accurate methods for the
  statistics of surprise and coincidence"); here it is negative where the collocate is rarer than expected.
* logDice = 14 + log2(2 o11 / (f + c1)) (Rychlý 2008, "A lexicographer-friendly association score"), where f
  is the frequency of the node (window) or r1 (relation). It may pass 14 where the window of a node has
  several of the collocate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import Value, explained
from sentgen.lookups.cql.search import Strategy
from sentgen.lookups.hits import Hits, TokenHits, read_hits
from sentgen.lookups.patterns import ATTRIBUTES, conjunction, tag_among
from sentgen.lookups.queries import (
    Answer,
    Bindings,
    Query,
    Selection,
    at_least,
    limit_clause,
    limited,
    select_corpora,
    where,
)


class Measure(StrEnum):
    """What collocates are ranked by."""

    LOGDICE = "logdice"
    PMI = "pmi"
    LOG_LIKELIHOOD = "log-likelihood"
    COUNT = "count"


class Unit(StrEnum):
    """What a collocate is."""

    WORD = "word"
    LEMMA = "lemma"


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens before and after the node."""

    left: int
    right: int


#: Where nothing else is asked for.
AROUND = Window(5, 5)


def read_window(text: str) -> Window:
    """Read ``5`` or ``5,2``.

    Raises:
        InputError: it is neither, or empty.
    """
    parts = text.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise InputError(f"{text!r} is no window; write 5, or 5,2 for five words before and two after")
    sizes = [int(part) for part in parts]
    if not any(sizes):
        raise InputError("a window of no words holds no collocates; write 5, or 5,2")
    return Window(sizes[0], sizes[-1])


#: Measure to its column in the answer; that of the count has another name within the statement.
COLUMN = {Measure.LOGDICE: "logdice", Measure.PMI: "pmi", Measure.LOG_LIKELIHOOD: "log_likelihood"}

#: One number for all words that differ in capital letters only.
_SPELLING = """spelling as (
  select id, min(id) over (partition by lower(form)) as folded
  from word
),
"""

_WINDOW = """\
{beginning}{spelling}node as (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}
),
spot as (
  select distinct t.sentence_id, t.position, {t} as id
  from node
  join token as t on t.sentence_id = node.sentence_id
    and t.position between node.first - $left and node.last + $right
    and t.position not between node.first and node.last{spelled_t}
),
together as (
  select id, count(*) as o11
  from spot
  where id is not null
  group by id
  having count(*) >= $min_count
),
alone as (
  select {t} as id, count(*) as c1
  from token as t{spelled_t}
  where {t} in (select id from together){and_corpora}
  group by {t}
),
pair as (
  select id, o11::double as o11, (select count(*) from spot)::double as r1, c1::double as c1,
    (select count(*) from token{corpora})::double as n, (select count(*) from node)::double as f
  from together
  join alone using (id)
),
{scores}
select {form} as collocate, o11::bigint as count, c1::bigint as frequency,
  logdice, pmi, log_likelihood
from scored
join word on word.id = scored.id
order by {measure} desc, o11 desc, collocate"""

_DEPENDENCY = """\
{beginning}{spelling}modifier_of_node as (
  select d.deprel_id, {d} as id, count(*) as o11
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_d}{node_is_head}
  group by d.deprel_id, {d}
),
head_of_node as (
  select d.deprel_id, {h} as id, count(*) as o11
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_h}{node_is_modifier}
  group by d.deprel_id, {h}
),
linked as (
  select *, 'modifier' as role, sum(o11) over (partition by deprel_id) as r1 from modifier_of_node
  union all
  select *, 'head' as role, sum(o11) over (partition by deprel_id) as r1 from head_of_node
),
together as (
  select * from linked
  where o11 >= $min_count and id is not null
),
alone as (
  select d.deprel_id, 'modifier' as role, {d} as id, count(*) as c1
  from token as d{spelled_d}
  where d.head > 0
    and {d} in (select id from together where role = 'modifier'){and_arcs}
  group by d.deprel_id, {d}
  union all
  select d.deprel_id, 'head' as role, {h} as id, count(*) as c1
  from token as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_h}
  where {h} in (select id from together where role = 'head'){and_arcs}
  group by d.deprel_id, {h}
),
relation as (
  select d.deprel_id, count(*) as n
  from token as d
  where d.head > 0{and_arcs}
  group by d.deprel_id
),
pair as (
  select deprel_id, role, id, o11::double as o11, r1::double as r1, c1::double as c1, n::double as n,
    r1::double as f
  from together
  join alone using (deprel_id, role, id)
  join relation using (deprel_id)
),
{scores}
select tag.name as relation, role, {form} as collocate, o11::bigint as count, c1::bigint as frequency,
  logdice, pmi, log_likelihood
from scored
join word on word.id = scored.id
join tag on tag.id = deprel_id
order by {measure} desc, o11 desc, relation, role, collocate"""


def _cell(observed: str, expected: str) -> str:
    return f"case when {observed} > 0 then ({observed}) * ln(({observed}) / ({expected})) else 0 end"


# Cells of the table of frequencies; the limit of o ln o at 0 is 0.
_SCORES = f"""\
scored as (
  select *,
    14 + log2(2 * o11 / (f + c1)) as logdice,
    log2(o11 * n / (r1 * c1)) as pmi,
    case when o11 * n < r1 * c1 then -2 else 2 end * (
      {_cell("o11", "r1 * c1 / n")}
      + {_cell("r1 - o11", "r1 * (n - c1) / n")}
      + {_cell("c1 - o11", "(n - r1) * c1 / n")}
      + {_cell("n - r1 - c1 + o11", "(n - r1) * (n - c1) / n")}
    ) as log_likelihood
  from pair
)"""


def find_collocations(
    connection: Connection,
    word: str = "",
    *,
    cql: str | None = None,
    strategy: Strategy = Strategy.ALL,
    within: Window | str = AROUND,
    by: Unit = Unit.WORD,
    measure: Measure = Measure.LOGDICE,
    min_count: int = 2,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return what occurs with a word, the strongest first, then the most frequent, then alphabetically.

    The columns are ``collocate``; ``count``, how often it occurs with the node (o11); ``frequency``, how
    often in all (c1); ``logdice``, ``pmi`` and ``log_likelihood`` as defined in this module. By relation,
    ``relation`` and ``role`` (whether the collocate is the head or the modifier) come first. Windows end at
    the sentence.

    Args:
        connection: the store.
        word: the node, one token pattern (see `sentgen.lookups.patterns`), or what can only be CQL.
        cql: the node as a query in CQL instead: its hits, of any length; by relation, of one token.
        strategy: which of the spans that a CQL query matches are nodes.
        within: words before and after the node, or a pattern of dependency relations, ``*`` for all.
        by: collocates as words or as lemmas.
        measure: what to rank by.
        min_count: leave out collocates that occur with the node less often.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: take words that differ in capital letters only for one, the node and its collocates.
        limit: rows at most, 0 for all.

    Raises:
        InputError: the node is not one token.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    node = read_node(connection, word, selection, cql=cql, strategy=strategy)
    asked = word if cql is None else cql
    # What never occurs together has no score: its logarithms are infinite.
    bindings = Bindings(min_count=max(min_count, 1))
    text = statement(node, within, by, measure, selection, bindings)
    query = Query(text + limit_clause(limit, bindings), bindings)
    missing = f"collocate of {asked!r}{at_least(min_count)}"
    values = list(node.values)
    if isinstance(within, str):
        values.append(Value("deprel", within))
    return explained(connection, limited(connection, query, limit, missing), selection, values)


def read_node(
    connection: Connection,
    word: str,
    selection: Selection,
    *,
    cql: str | None = None,
    strategy: Strategy = Strategy.ALL,
) -> Hits:
    """Read the pattern of one token, or a query in CQL.

    Raises:
        InputError: the pattern is one of several tokens, or of none.
    """
    node = read_hits(connection, word, selection, cql=cql, strategy=strategy)
    if isinstance(node, TokenHits) and len(node.tokens) > 1:
        raise InputError(f"collocations are those of one word, and {word!r} has {len(node.tokens)}")
    return node


def statement(
    node: Hits, within: Window | str, by: Unit, measure: Measure, selection: Selection, bindings: Bindings
) -> str:
    """Return the statement for all collocates, which has no limit yet; ``min_count`` is bound."""
    if isinstance(within, str):
        text = _by_relation(node, within, selection, bindings)
    else:
        text = _by_window(node, within, selection, bindings)
    text = _spelled(text, ATTRIBUTES[by][0], selection).replace("{scores}", _SCORES)
    return text.replace("{measure}", COLUMN.get(measure, "o11"))


def _spelled(text: str, column: str, selection: Selection) -> str:
    """Fill in the numbers of words: as they are stored, or the same for words that are one."""
    folded = selection.ignore_case
    for alias in "tdh":
        place, of_alias = f"{alias}.{column}", f"spelling_{alias}"
        # Not an inner join: tokens without a lemma are tokens of the window, too.
        join = f"\n  left join spelling as {of_alias} on {of_alias}.id = {place}"
        text = text.replace(f"{{spelled_{alias}}}", join if folded else "")
        text = text.replace(f"{{{alias}}}", f"{of_alias}.folded" if folded else place)
    text = text.replace("{spelling}", _SPELLING if folded else "")
    return text.replace("{form}", selection.spelled("word.form"))


def _by_window(node: Hits, window: Window, selection: Selection, bindings: Bindings) -> str:
    bindings.update(left=window.left, right=window.right)
    in_corpora = "".join(f"\n    and {one}" for one in selection.of_tokens(bindings, "t.corpus_id"))
    source = node.source(bindings)
    return (
        _WINDOW.replace("{beginning}", source.beginning)
        .replace("{sentence}", source.sentence)
        .replace("{first}", source.first)
        .replace("{last}", source.last)
        .replace("{source}", source.table)
        .replace("{and_corpora}", in_corpora)
        .replace("{corpora}", where(selection.of_tokens(bindings), "      "))
    )


def _by_relation(node: Hits, relation: str, selection: Selection, bindings: Bindings) -> str:
    arcs = conjunction([tag_among("d.deprel_id", relation, bindings)])
    arcs += selection.of_tokens(bindings, "d.corpus_id")
    beginning = "with "
    if isinstance(node, TokenHits):
        of_node = {alias: node.tokens[0].conditions(alias, bindings) for alias in "hd"}
    elif not node.one_token:
        raise InputError("by relation a node is one token; ask for collocates in a window, or for one token")
    else:
        source = node.source(bindings)
        beginning = source.beginning
        among = f"in (select {source.sentence}, {source.first} from {source.table})"
        of_node = {alias: [f"({alias}.sentence_id, {alias}.position) {among}"] for alias in "hd"}
    return (
        _DEPENDENCY.replace("{beginning}", beginning)
        .replace("{node_is_head}", where([*of_node["h"], *arcs], "  "))
        .replace("{node_is_modifier}", where([*of_node["d"], *arcs], "  "))
        .replace("{and_arcs}", "".join(f"\n    and {condition}" for condition in arcs))
    )
