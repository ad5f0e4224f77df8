"""The statements of a request: its hits in context, their number, and their number by keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.case_folding import folded
from sentgen.errors import InputError
from sentgen.lookups.attributes import TokenKey
from sentgen.lookups.concordances.hits import HitSource
from sentgen.lookups.concordances.sorting import LineOrder
from sentgen.lookups.concordances.surface import LINE_COLUMNS, Surface
from sentgen.lookups.grew.compiler import Compiler, HitStatement
from sentgen.lookups.grew.features import FORM
from sentgen.lookups.grew.syntax import ANCHOR, CountKey, Filter, Placement, Reference
from sentgen.lookups.keys import MetadataKey, bare
from sentgen.lookups.reach import SENTENCE
from sentgen.lookups.statement import Bindings, Statement, limit_clause, where
from sentgen.lookups.surprisals import SurprisalKey, bin_of
from sentgen.output.wording import near
from sentgen.schema.base import quoted

#: What stands for a value that there is not.
UNDEFINED = "__undefined__"

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
#: Of hits that are sorted, where they are is known before.
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
#: Metadata that tells sentences apart, so that there are no parts to speak of.
_OF_ONE = ("text", "sent_id")


@dataclass(frozen=True, slots=True)
class GrewStatements:
    """The statements of one request.

    Args:
        compiler: what compiled it.
        source: what finds its hits.
        bindings: the parameters of all statements.
    """

    compiler: Compiler
    source: HitStatement
    bindings: Bindings

    def count(self, most: int = 0) -> Statement:
        """Return the statement for the number of hits, which are counted up to ``most``; 0 for all."""
        source = self.source.text
        if most:
            source = f"from (\n  select 1\n  {self._inner}{limit_clause(most, self.bindings)}\n)"
        return Statement(f"{self.source.head()}select count(*) as count\n{source}", self.bindings)

    def lines(
        self, limit: int, context: int, seed: int | None, surface: Surface, order: LineOrder
    ) -> Statement:
        """Return the statement for hits in context.

        Args:
            limit: hits at most, 0 for all.
            context: words on each side of what lies between the first node and the last one.
            seed: draw the hits at random.
            surface: how tokens become text.
            order: what they are put in order by.
        """
        self.bindings["context"] = context
        nodes, edges = self.source.scope.nodes, self.source.scope.edges
        places, labels = self._places
        told = [
            f"\n    {self.bindings.bind('node', f'{name}=')}"
            f" || coalesce(max(word.form) filter (where c.position = {place}), '{ANCHOR}') || '@' || {place}"
            for name, place in zip(nodes, places, strict=True)
        ]
        told += [
            f"\n    {self.bindings.bind('edge', f'{name}=')} || {label}"
            for name, label in zip(edges, labels, strict=True)
        ]
        columns = ["number", "numbered.sentence_id", "numbered.first", "numbered.last", *places, *labels]
        parts = [
            *self._chosen(limit, seed, order),
            _RANKED if order.keys else _NUMBERED.format(places=self._ties, **self._ends),
            _LINE.format(
                columns=", ".join(columns),
                nodes="".join(f",{one}" for one in told) or ", ''",
                surface=surface.columns("numbered.first", "numbered.last", "numbered.first - $context"),
                join=surface.join,
            ),
        ]
        return Statement(self.source.head(parts) + _LINES, self.bindings)

    @property
    def placed(self) -> HitSource:
        """Where the hits come from in another statement with these bindings."""
        parts = [*self.source.paths, self._hit(0, None, "placed")]
        told = "".join(f"{one},\n" for one in parts)
        return HitSource("placed as hit", "sentence_id", self._ends["first"], self._ends["last"], told)

    def sentences(self, limit: int, seed: int | None, order: LineOrder) -> Statement:
        """Return the statement for the numbers of the sentences of the same hits."""
        head = self.source.head(self._chosen(limit, seed, order))
        return Statement(f"{head}select distinct sentence_id from hit order by sentence_id", self.bindings)

    def keyed(self, keys: Sequence[CountKey], whether: Sequence[tuple[str, Filter]], limit: int) -> Statement:
        """Return the statement for the number of hits by keys.

        Args:
            keys: what they are counted by.
            whether: conditions, with the text that names them, by which they are counted too.
            limit: rows at most, 0 for all.
        """
        columns = self._columns(keys, whether)
        names = [_quoted(text) for text in (*(key.text for key in keys), *(text for text, _ in whether))]
        if len(set(names)) < len(names):
            raise InputError("the same key is given twice; give each once")
        keyed = ", ".join(f"{one} as {name}" for (_, one), name in zip(columns, names, strict=True))
        counted, order = self._counted([one for one, _ in columns]), ", ".join(names)
        parts = self._metadata(keys)
        if not parts:
            text = self.source.head([counted]) + _KEYED.format(keys=keyed, order=order)
        else:
            corpora = self.compiler.conditions.selection.of_sentences(self.bindings, "meta")
            metadata = ", ".join(f"{string} as {name}" for name, string in parts.items())
            part = _PART.format(metadata=metadata, corpora=where(corpora, "  "))
            head = self.source.head([counted, _NAMED.format(keys=keyed), part])
            text = head + _RELATIVE.format(shared=", ".join(parts), order=order)
        return Statement(text + limit_clause(limit, self.bindings), self.bindings)

    def _columns(
        self, keys: Sequence[CountKey], whether: Sequence[tuple[str, Filter]]
    ) -> list[tuple[str, str]]:
        """Return for each key what hits are grouped by, and the string that it stands for."""
        found = [self._key(key, f"key_{number}") for number, key in enumerate(keys, 1)]
        for _, condition in whether:
            column = f"key_{len(found) + 1}"
            raw = self.compiler.filter(condition, self.source.scope)
            found.append((raw, f"case when {column} then 'yes' else 'no' end"))
        return found

    def _counted(self, raw: Sequence[str]) -> str:
        """Return the table of the number of hits by keys."""
        columns = ",\n    ".join(f"{one} as key_{number}" for number, one in enumerate(raw, 1))
        return _COUNTED.format(raw=columns, source=self._inner)

    def _metadata(self, keys: Sequence[CountKey]) -> dict[str, str]:
        """Return the columns of metadata by which the corpus falls into parts, each with its string."""
        found = ((key.text, self._metadata_key(key)) for key in keys)
        return {
            _quoted(text): f"coalesce({meta.of_row('meta', self.bindings)}, '{UNDEFINED}')"
            for text, meta in found
            if meta and meta.name not in _OF_ONE
        }

    def _metadata_key(self, key: CountKey) -> MetadataKey | None:
        """Return the key of metadata that a key is, under whichever name it has; none if it is of nodes.

        Raises:
            InputError: there is neither.
        """
        of, scope, conditions = key.of, self.source.scope, self.compiler.conditions
        if not isinstance(of, Reference) or of.name in {**scope.nodes, **scope.edges}:
            return None
        keys, name = conditions.keys, key.text
        if of.name == "meta" or bare(name) != name or keys.find_metadata(name) or keys.find_region(name):
            return conditions.metadata_key(name)
        close = "".join(f"; did you mean {found}?" for found in near(name, keys.of_sentences, 1))
        try:
            scope.either(of.name)
        except InputError as error:
            raise InputError(f"{error}{close}") from None
        return None

    def _key(self, key: CountKey, column: str) -> tuple[str, str]:
        """Return what hits are grouped by, numbers if possible, and the string that it stands for."""
        of, scope, bindings = key.of, self.source.scope, self.bindings
        if isinstance(of, Placement):
            return self._placement(of), column
        if meta := self._metadata_key(key):
            value = f"(select {meta.of_row('meta', bindings)} from sentence as meta where meta.id = {column})"
            return self.source.sentence, f"coalesce({value}, '{UNDEFINED}')"
        token = self.compiler.key(of, scope)
        raw, missing = self.compiler.value(of, scope), UNDEFINED
        value = f"{column}::varchar"
        if isinstance(of, Reference) and isinstance(token, TokenKey) and len(token.columns) == 1:
            raw = f"{scope.either(of.name).alias}.{token.columns[0]}"
            value = f"(select {token.of_row('', bindings)} from {token.table} where id = {column})"
            missing = ANCHOR if of.key in FORM else UNDEFINED
        elif isinstance(of, Reference) and isinstance(token, SurprisalKey):
            raw = bin_of(token.value(scope.either(of.name).alias, bindings))
        if token and token.spelled and self.compiler.ignore_case:
            value = folded(value)
        return raw, f"coalesce({value}, '{missing}')"

    def _placement(self, of: Placement) -> str:
        """Return the names of nodes in the order of their positions."""
        scope = self.source.scope
        nodes = [
            f"{{'at': {scope.node(name).position}, 'name': {self.bindings.bind('node', name)}}}"
            for name in of.names
        ]
        ordered = f"list_transform(list_sort([{', '.join(nodes)}]), lambda one: one.name)"
        return f"array_to_string({ordered}, ' << ')"

    @property
    def _places(self) -> tuple[list[str], list[str]]:
        """The columns of hits with the positions of their nodes, and with their relations."""
        nodes, edges = self.source.scope.nodes, self.source.scope.edges
        return (
            [f"place_{number}" for number, _ in enumerate(nodes, 1)],
            [f"label_{number}" for number, _ in enumerate(edges, 1)],
        )

    @property
    def _ties(self) -> str:
        """What puts hits in the order of the corpus."""
        places, labels = self._places
        return ", ".join(["sentence_id", *places, *labels])

    @property
    def _ends(self) -> dict[str, str]:
        """The first token of a hit and the last one; of one without nodes, those of its sentence."""
        places, _ = self._places
        length = "(select length from sentence where sentence.id = hit.sentence_id)"
        return {
            "first": f"least({', '.join(places)})" if places else "1",
            "last": f"greatest({', '.join(places)})" if places else length,
        }

    def _chosen(self, limit: int, seed: int | None, order: LineOrder) -> list[str]:
        """Return the tables up to the hits that are shown, which have a ``rank`` if they are sorted."""
        if not order.keys:
            return [self._hit(limit, seed)]
        drawn = limit if seed is not None else 0
        hits = order.hits("every", SENTENCE, self.bindings, limit, ties=self._ties)
        return [self._hit(drawn, seed, "unsorted"), _EVERY.format(**self._ends), hits]

    def _hit(self, limit: int, seed: int | None, name: str = "hit") -> str:
        """Return the table of the hits that are shown: their sentences, nodes and relations."""
        scope = self.source.scope
        positions = [one.position for one in scope.nodes.values()]
        labels = [f"(select name from tag where id = {one.alias}.deprel_id)" for one in scope.edges.values()]
        columns = {"sentence_id": self.source.sentence}
        columns |= {f"place_{number}": one for number, one in enumerate(positions, 1)}
        columns |= {f"label_{number}": one for number, one in enumerate(labels, 1)}
        order = list(columns)
        if seed is not None and limit:
            # A hash of the place: the same hits for a seed.
            place = ", ".join(columns.values())
            order.insert(0, f"md5(concat_ws(':', {self.bindings.bind('seed', seed)}, {place}))")
        most = limit_clause(limit, self.bindings, "  ")
        told = ", ".join(f"{one} as {name}" for name, one in columns.items())
        return _HIT.format(name=name, columns=told, source=self._inner, order=", ".join(order), limit=most)

    @property
    def _inner(self) -> str:
        return self.source.text.replace("\n", "\n  ")


def _quoted(name: str) -> str:
    """Return a name of a column; a dollar would stand for a parameter."""
    return quoted(" ".join(name.replace("$", "").split()))
