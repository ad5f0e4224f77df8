"""Ask a request: `Match` is what `sentgen match`, the API and Python call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from sqlalchemy import Connection

from sentgen.case_folding import fold_sql
from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import NAMED, TokenKey
from sentgen.lookups.base.keys import MetadataKey, StoreKeys, bare
from sentgen.lookups.base.question import MOST, ContextOption, Lookup, OffsetOption, after_offset, in_pages
from sentgen.lookups.base.statement import (
    SENTENCE,
    Answer,
    Bindings,
    HitSource,
    Statement,
    limit_clause,
    limited_answer,
    where,
)
from sentgen.lookups.base.surface import LINE_COLUMNS, Surface
from sentgen.lookups.base.surprisals import SurprisalKey, bin_of
from sentgen.lookups.concordances.line_query import LineContext
from sentgen.lookups.concordances.sorting import NONE, LineOrder, SortKey, SortOption
from sentgen.lookups.grew.compiler import Compiler, HitStatement
from sentgen.lookups.grew.syntax import (
    ANCHOR,
    FORM,
    CountKey,
    FeatureRelation,
    GrewEdge,
    Node,
    Placement,
    Reference,
)
from sentgen.lookups.search.absence import QuestionValue, explain_absence
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.output.wording import near
from sentgen.schema.base import quote_identifier

if TYPE_CHECKING:
    from sentgen.lookups.concordances.hit_places import Marks
    from sentgen.lookups.concordances.line_text import SortedSides

#: If the first hits are enough: the search begins with SENTENCES / _FIRST sentences, and takes _FIRST times
#: as many in each further round.
SENTENCES, _FIRST = 100_000, 8
_LAST = "select coalesce(max(id), 0) from sentence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Lookup):
    """The places where a Grew request matches the trees."""

    request: Annotated[
        str,
        Option("The request, such as `pattern { V [upos=VERB]; V -[obj]-> O }`.", argument=True),
    ] = ""
    key: Annotated[
        list[str],
        Option(
            "What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`, labels"
            " as `lines.SET`.",
            shell="What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`,"
            " labels as `lines.SET`; may be repeated.",
            metavar="KEY",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    whether: Annotated[
        list[str],
        Option(
            "Conditions to count hits by, yes or no: `S [upos=PRON]`.",
            shell="Condition to count hits by, yes or no: `S [upos=PRON]`; may be repeated.",
            metavar="CLAUSES",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    count: Annotated[bool, Option("Only the number of hits.")] = False
    context: ContextOption = 15
    sort: SortOption = NONE
    random: Annotated[
        int | None,
        Option(
            "Seed: hits drawn at random, not the first ones.",
            shell="Hits drawn at random, not the first ones.",
            metavar="SEED",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None
    offset: OffsetOption = 0

    def __post_init__(self) -> None:
        if self.count and self.sort != NONE:
            raise InputError(
                f"{spell('sort')} puts lines and rows in order, and a count has none; leave it out"
            )
        if self.offset and self.random is not None:
            raise InputError(
                f"{spell('random')} draws the hits that are shown; ask without {spell('offset')}"
            )
        if not self.is_count:
            SortKey.read_all(self.sort)

    @property
    def is_count(self) -> bool:
        """Whether hits are counted, so that there are no lines."""
        return bool(self.count or self.key or self.whether)

    def ask(self, connection: Connection) -> Answer:
        """Return the hits of a Grew request in context, or how many there are.

        The columns of hits are ``corpus``, ``document``, ``sent_id``, ``left``, ``node``, ``right``, where
        the node reaches from the first token to the last one of the hit, and ``nodes``
        (``V=fell@4 S=prices@3``, and the relations of edges with names).

        Counts are one row, or one for each of the values of keys. The columns are those of the keys and
        conditions, ``count``, and with them ``frequency``, the share in all hits; the most frequent come
        first. With metadata among the keys (but for ``text`` and ``sent_id``), ``per_million_in_part`` is the
        count per million tokens of the sentences that have the same metadata.

        Raises:
            InputError: the request does not parse, or names what it does not have.
            NotFoundError: no such corpus.
        """
        if self.key or self.whether:
            return self._by_keys(connection)
        if self.count:
            return self._total(connection)
        return after_offset(self, lambda match: match._hits(connection))

    @in_pages
    def _by_keys(self, connection: Connection) -> Answer:
        search = self._search(connection)
        answer = limited_answer(connection, search.whole.count_by(), self.limit, self._missing)
        return search.with_hints(answer)

    def _total(self, connection: Connection) -> Answer:
        search = self._search(connection)
        query = search.whole.count()
        total = int(query.value(connection))
        answer = Answer(Rows(("count",), [(total,)], ("BIGINT",)), query, self._missing, total=total)
        return search.with_hints(answer)

    def _hits(self, connection: Connection) -> Answer:
        search = self._search(connection)
        hits = search.first_sentences().lines().fetch(connection, self.limit)
        total = hits.num_rows
        if self.limit and total == self.limit:
            total = int(search.whole.count().value(connection))
        query, more, remarks = search.whole.lines(), total > hits.num_rows, search.order.remarks
        answer = Answer(hits, query, self._missing, truncated=more, total=total, remarks=remarks)
        return search.with_hints(answer)

    def places(self, connection: Connection, limit: int) -> Answer:
        """Return the documents with hits, and the places of hits in them (see `hit_places`); 0: no limit."""
        # Imported here, as it imports numpy, which other questions do not need.
        from sentgen.lookups.concordances.hit_places import hit_places

        search, bindings = self._search(connection), Bindings()
        source = search.statements(bindings).placed_hits
        return hit_places(connection, source, bindings, None, limit, self._missing)

    @property
    def _missing(self) -> str:
        return f"match of {' '.join(self.request.split())!r}"

    def check(self, connection: Connection) -> None:
        """Raise the errors of `ask` without searching."""
        search = self._search(connection)
        if self.key or self.whether:
            search.whole.count_by()

    def sentences(self, connection: Connection) -> list[int]:
        """Return the ids of the sentences of the hits, in the order of the corpus; none for counts."""
        if self.is_count:
            return []
        first = replace(self, limit=self.limit and self.offset + self.limit)
        ids = first._search(connection).first_sentences().sentences().run(connection)
        return [int(sentence) for sentence in ids["sentence_id"].to_pylist()[self.offset :]]

    def sorted_sides(
        self, connection: Connection, hits: Sequence[Mapping[str, object]], marks: Sequence[Marks]
    ) -> list[SortedSides]:
        """Return the texts beside hits in parts, with those by which hits are sorted.

        Args:
            connection: the store.
            hits: rows of `ask`.
            marks: the marks of the hits, with their positions.
        """
        from sentgen.lookups.concordances.line_text import PLACE, SortedSides, SortedWords

        rows = [
            (mark.sentence_id, min(mark.positions.values()), max(mark.positions.values()))
            for mark in marks
            if mark.positions
        ]
        words = SortedWords.of_order(self.sort)
        ready = iter(words.of_lines(connection, Rows(PLACE, rows), LineContext(self.context), across=False))
        sides = (next(ready) if mark.positions else SortedSides((), ()) for mark in marks)
        # The artificial root of trees has no token, and no text before it.
        return [one if hit["left"] else one._replace(left=()) for hit, one in zip(hits, sides, strict=True)]

    def _search(self, connection: Connection) -> _Search:
        if self.count and (self.key or self.whether):
            raise InputError("a count alone has no keys; ask for one of the two")
        return _Search(connection, self)


class _Search:
    """A request that was read, and the store to search."""

    def __init__(self, connection: Connection, match: Match) -> None:
        # Imported here, as the import of the parser takes longer than other look-ups.
        from sentgen.lookups.grew.reading import read_key, read_request, read_whether

        self.connection, self.match, self._read = connection, match, read_key
        self.selection = match.select(connection, sentences=True)
        self.whether = [(text, read_whether(text)) for text in match.whether]
        self.request = read_request(match.request)
        self._there = StoreKeys(connection, self.selection.names)
        self.keys = [self._key(text.strip()) for text in match.key]
        self.whole = self.statements(Bindings())
        # Counts have an order of their own.
        sort = NONE if match.is_count else match.sort
        self.order = LineOrder.of_keys(self._there, SortKey.read_all(sort), match.context)

    def _key(self, text: str) -> CountKey:
        """Return a key; names of metadata and of labels of lines need not be valid in Grew."""
        name, _, rest = text.partition(".")
        of_hits = name in self.request.names
        if self._there.find_label(text, required=not of_hits) or (
            not of_hits and self._there.find_metadata(text)
        ):
            return CountKey(text, Reference(name, rest))
        return self._read(text)

    def statements(self, bindings: Bindings, first: int = 0) -> _GrewStatements:
        """Compile the request, for all sentences or the first ones."""
        compiler = Compiler(bindings, self.selection, self._there, first)
        source = compiler.source(self.request, self.keys, [condition for _, condition in self.whether])
        return _GrewStatements(self, compiler, source, bindings)

    def first_sentences(self) -> _GrewStatements:
        """Return the statements for as many first sentences as have the requested number of hits."""
        size, last = max(SENTENCES // _FIRST, 1), int(Statement(_LAST).value(self.connection))
        limit = self.match.limit
        while limit and self.match.random is None and not self.order.keys and size < last:
            part = self.statements(Bindings(), size)
            if int(part.count(limit).value(self.connection)) == limit:
                return part
            size *= _FIRST
        return self.whole

    def with_hints(self, answer: Answer) -> Answer:
        """Add hints to an answer without rows: values in the pattern that never occur."""
        if not answer.is_empty:
            return answer
        values, trees = list[QuestionValue](), False
        for clause in self.request.clauses:
            if isinstance(clause, GrewEdge) and not clause.label.enhanced:
                trees = True
                if not clause.label.negated:
                    values += QuestionValue.of_tests("deprel", "", clause.label.values)
            for description in clause.descriptions if isinstance(clause, Node) else ():
                for feature in description:
                    attribute = "word" if feature.key == "form" else feature.key
                    if attribute in NAMED and feature.relation is FeatureRelation.IS:
                        values += QuestionValue.of_tests(attribute, f"{feature.key}=", feature.values)
        return explain_absence(self.connection, answer, self.selection, values, trees=trees, of_tokens=True)


#: Stands for a missing value.
_UNDEFINED = "__undefined__"

_HIT = """\
{name} as materialized (
  select {columns}
  {source}
  order by {order}{limit}
)"""
_NUMBERED = """\
numbered as (
  select row_number() over (order by {places}) as number, hit.*,
    {first} as first, {last} as last
  from hit
)"""
#: Sorted hits: their positions are computed before the order.
_EVERY = """\
every as (
  select hit.*, {first} as first, {last} as last
  from unsorted as hit
)"""
_RANKED = """\
numbered as (
  select rank as number, hit.*
  from hit
)"""
_LINE = """\
line as (
  select {columns}, concat_ws(' '{nodes}) as nodes,
    {surface}
  from numbered
  left join token as c on c.sentence_id = numbered.sentence_id
    and c.position between numbered.first - $context and numbered.last + $context
  left join word on word.id = c.word_id{join}
  group by {columns}
)"""
_LINES = LINE_COLUMNS.format(shown="", node="coalesce(node, '')", more=", nodes") + "\norder by number"
_COUNTED = """\
counted as (
  select {raw}, count(*) as count
  {source}
  group by all
)"""
_KEYED = """\
select {keys}, sum(count)::bigint as count, sum(count) / sum(sum(count)) over () as frequency
from counted
group by all
order by count desc, {order}"""
#: The same with a count relative to the tokens of the sentences that have the same metadata.
_NAMED = """\
keyed as (
  select {keys}, sum(count)::bigint as count
  from counted
  group by all
)"""
_PART = """\
part as (
  select {metadata}, sum(length) as tokens
  from sentence as meta{corpora}
  group by all
)"""
_RELATIVE = """\
select keyed.*, count / sum(count) over () as frequency, 1e6 * count / tokens as per_million_in_part
from keyed
join part using ({shared})
order by count desc, {order}"""
#: Metadata that differ for each sentence, so that they define no parts of a corpus.
_OF_ONE = ("text", "sent_id")


@dataclass(frozen=True, slots=True)
class _GrewStatements:
    search: _Search
    compiler: Compiler
    source: HitStatement
    bindings: Bindings

    def count(self, most: int = 0) -> Statement:
        """Return the statement for the number of hits, which are counted up to ``most``; 0 for all."""
        source = self.source.text
        if most:
            source = f"from (\n  select 1\n  {self._inner}{limit_clause(most, self.bindings)}\n)"
        return Statement(f"{self.source.head()}select count(*) as count\n{source}", self.bindings)

    def lines(self) -> Statement:
        """Return the statement for hits in context; a hit reaches from the first node to the last one."""
        self.bindings["context"] = self.search.match.context
        surface = Surface.of_store(self.search.connection)
        nodes, edges = self.source.scope.nodes, self.source.scope.edges
        positions, labels = self._hit_columns
        named = [
            f"\n    {self.bindings.bind('node', f'{name}=')} || coalesce(max(word.form)"
            f" filter (where c.position = {position}), '{ANCHOR}') || '@' || {position}"
            for name, position in zip(nodes, positions, strict=True)
        ]
        named += [
            f"\n    {self.bindings.bind('edge', f'{name}=')} || {label}"
            for name, label in zip(edges, labels, strict=True)
        ]
        columns = ["number", "numbered.sentence_id", "numbered.first", "numbered.last", *positions, *labels]
        parts = [
            *self._chosen_hits(),
            _RANKED if self.search.order.keys else _NUMBERED.format(places=self._ties, **self._ends),
            _LINE.format(
                columns=", ".join(columns),
                nodes="".join(f",{string}" for string in named) or ", ''",
                surface=surface.columns("numbered.first", "numbered.last", "numbered.first - $context"),
                join=surface.join,
            ),
        ]
        return Statement(self.source.head(parts) + _LINES, self.bindings)

    @property
    def placed_hits(self) -> HitSource:
        """The source of the hits for another statement with the same bindings."""
        parts = [*self.source.paths, self._hit(0, "placed")]
        beginning = "".join(f"{part},\n" for part in parts)
        return HitSource("placed as hit", "sentence_id", self._ends["first"], self._ends["last"], beginning)

    def sentences(self) -> Statement:
        """Return the statement for the ids of the sentences of the same hits."""
        head = self.source.head(self._chosen_hits())
        return Statement(f"{head}select distinct sentence_id from hit order by sentence_id", self.bindings)

    def count_by(self) -> Statement:
        """Return the statement for the number of hits by keys and conditions."""
        keys, whether = self.search.keys, self.search.whether
        columns = self._columns()
        names = [_column_name(text) for text in (*(key.text for key in keys), *(text for text, _ in whether))]
        if len(set(names)) < len(names):
            raise InputError("the same key is given twice; give each once")
        strings = ", ".join(f"{string} as {name}" for (_, string), name in zip(columns, names, strict=True))
        raw = ",\n    ".join(f"{key} as key_{number}" for number, (key, _) in enumerate(columns, 1))
        counts, order = _COUNTED.format(raw=raw, source=self._inner), ", ".join(names)
        parts = self._metadata()
        if not parts:
            text = self.source.head([counts]) + _KEYED.format(keys=strings, order=order)
        else:
            corpora = self.search.selection.of_sentences(self.bindings, "meta")
            metadata = ", ".join(f"{string} as {name}" for name, string in parts.items())
            part = _PART.format(metadata=metadata, corpora=where(corpora, "  "))
            head = self.source.head([counts, _NAMED.format(keys=strings), part])
            text = head + _RELATIVE.format(shared=", ".join(parts), order=order)
        return Statement(text + limit_clause(self.search.match.limit, self.bindings), self.bindings)

    def _columns(self) -> list[tuple[str, str]]:
        """Return for each key the SQL by which hits are grouped, and that of its string."""
        columns = [self._key(key, f"key_{number}") for number, key in enumerate(self.search.keys, 1)]
        for _, condition in self.search.whether:
            column = f"key_{len(columns) + 1}"
            raw = self.compiler.filter(condition, self.source.scope)
            columns.append((raw, f"case when {column} then 'yes' else 'no' end"))
        return columns

    def _metadata(self) -> dict[str, str]:
        """Return the columns of metadata that divide the corpus into parts, with the SQL of their strings."""
        metadata = {key.text: self._metadata_key(key) for key in self.search.keys}
        return {
            _column_name(text): f"coalesce({meta.of_row('meta', self.bindings)}, '{_UNDEFINED}')"
            for text, meta in metadata.items()
            if meta and meta.name not in _OF_ONE
        }

    def _metadata_key(self, key: CountKey) -> MetadataKey | None:
        """Return the key of metadata to which a key refers by any of its names; None for a key of nodes."""
        value, scope, conditions = key.value, self.source.scope, self.compiler.conditions
        keys, name = conditions.keys, key.text
        of_match = isinstance(value, Reference) and value.name in {**scope.nodes, **scope.edges}
        if not isinstance(value, Reference) or of_match or keys.find_label(name):
            return None
        if value.name == "meta" or bare(name) != name or keys.find_metadata(name) or keys.find_region(name):
            return conditions.metadata_key(name)
        keys.find_label(name, required=True)
        close = "".join(f"; did you mean {close_name}?" for close_name in near(name, keys.of_sentences, 1))
        try:
            scope.either(value.name)
        except InputError as error:
            raise InputError(f"{error}{close}") from None
        return None

    def _key(self, key: CountKey, column: str) -> tuple[str, str]:
        """Return the SQL by which hits are grouped, ids if possible, and that of its string."""
        value, scope, bindings = key.value, self.source.scope, self.bindings
        if isinstance(value, Placement):
            return self._node_order(value), column
        if label := self.compiler.conditions.keys.find_label(key.text):
            first = label.at(self.source.sentence, scope.first, bindings)
            return first, f"coalesce({column}, '{_UNDEFINED}')"
        if meta := self._metadata_key(key):
            row = meta.of_row("meta", bindings)
            string = f"(select {row} from sentence as meta where meta.id = {column})"
            return self.source.sentence, f"coalesce({string}, '{_UNDEFINED}')"
        token = self.compiler.key(value, scope)
        raw, missing = self.compiler.value(value, scope), _UNDEFINED
        string = f"{column}::varchar"
        if isinstance(value, Reference) and isinstance(token, TokenKey) and len(token.columns) == 1:
            raw = f"{scope.either(value.name).alias}.{token.columns[0]}"
            string = f"(select {token.of_row('', bindings)} from {token.table} where id = {column})"
            missing = ANCHOR if value.key in FORM else _UNDEFINED
        elif isinstance(value, Reference) and isinstance(token, SurprisalKey):
            raw = bin_of(token.value(scope.either(value.name).alias, bindings))
        if token and token.is_word and self.compiler.ignore_case:
            string = fold_sql(string)
        return raw, f"coalesce({string}, '{missing}')"

    def _node_order(self, nodes: Placement) -> str:
        """Return the SQL for the names of nodes, sorted by their positions."""
        scope = self.source.scope
        fields = [
            f"{{'at': {scope.node(name).position}, 'name': {self.bindings.bind('node', name)}}}"
            for name in nodes.names
        ]
        ordered = f"list_transform(list_sort([{', '.join(fields)}]), lambda node: node.name)"
        return f"array_to_string({ordered}, ' << ')"

    @property
    def _hit_columns(self) -> tuple[list[str], list[str]]:
        """The columns of hits with the positions of their nodes, and with their relations."""
        nodes, edges = self.source.scope.nodes, self.source.scope.edges
        return (
            [f"place_{number}" for number, _ in enumerate(nodes, 1)],
            [f"label_{number}" for number, _ in enumerate(edges, 1)],
        )

    @property
    def _ties(self) -> str:
        """The columns that sort hits in the order of the corpus."""
        positions, labels = self._hit_columns
        return ", ".join(["sentence_id", *positions, *labels])

    @property
    def _ends(self) -> dict[str, str]:
        """The SQL for the first and the last token of a hit; without nodes, those of its sentence."""
        positions, _ = self._hit_columns
        length = "(select length from sentence where sentence.id = hit.sentence_id)"
        return {
            "first": f"least({', '.join(positions)})" if positions else "1",
            "last": f"greatest({', '.join(positions)})" if positions else length,
        }

    def _chosen_hits(self) -> list[str]:
        """Return the tables up to the hits that are shown, which have a ``rank`` if they are sorted."""
        order, limit = self.search.order, self.search.match.limit
        if not order.keys:
            return [self._hit(limit)]
        drawn = limit if self.search.match.random is not None else 0
        hits = order.hits("every", SENTENCE, self.bindings, limit, ties=self._ties)
        return [self._hit(drawn, "unsorted"), _EVERY.format(**self._ends), hits]

    def _hit(self, limit: int, name: str = "hit") -> str:
        """Return the table of the first hits, or of those that are drawn at random; 0 for all."""
        scope, seed = self.source.scope, self.search.match.random
        positions, labels = self._hit_columns
        columns = {"sentence_id": self.source.sentence}
        columns |= zip(positions, (node.position for node in scope.nodes.values()), strict=True)
        for label, edge in zip(labels, scope.edges.values(), strict=True):
            columns[label] = f"(select name from tag where id = {edge.alias}.deprel_id)"
        order = list(columns)
        if seed is not None and limit:
            # By a hash of the position of a hit, so that a seed always draws the same hits.
            values = ", ".join(columns.values())
            order.insert(0, f"md5(concat_ws(':', {self.bindings.bind('seed', seed)}, {values}))")
        return _HIT.format(
            name=name,
            columns=", ".join(f"{value} as {column}" for column, value in columns.items()),
            source=self._inner,
            order=", ".join(order),
            limit=limit_clause(limit, self.bindings, "  "),
        )

    @property
    def _inner(self) -> str:
        return self.source.text.replace("\n", "\n  ")


def _column_name(name: str) -> str:
    """Return the quoted name of a column, without dollar signs, which begin parameters."""
    return quote_identifier(" ".join(name.replace("$", "").split()))
