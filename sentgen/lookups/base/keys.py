"""The keys that names in a query stand for in a store, found by `StoreKeys.find` for all query languages.

A name is an attribute of tokens, else a key of metadata, else an attribute of regions. Metadata are
``genre`` in ``--where``, ``meta.genre`` in Grew and ``match.doc_genre`` in CQL, and all languages read all
three. In a name, ``_`` stands for any character that a name in a query cannot have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import (
    COLUMNS,
    COMPUTED,
    TAGS,
    Key,
    MiscKey,
    TokenKey,
    WrittenKey,
    period_in,
    period_of,
)
from sentgen.lookups.base.line_labels import OF_LINES, LineLabelKey
from sentgen.lookups.base.regions import RegionKey, plain
from sentgen.lookups.base.statement import Bindings, Statement, any_row
from sentgen.lookups.base.surprisals import NAME, OF_CORPORA, AppliedModels, SurprisalKey
from sentgen.output.wording import instead
from sentgen.schema.engine import connection_cache, raw

OfPeriods = TypeVar("OfPeriods", "MetadataKey", RegionKey)
#: What may stand before a key of metadata.
_LABELS = ("meta.", "match.", "matchend.")
#: Prefixes behind a label that say whose value is meant: True for the document, False for the sentence.
_OWNERS = (("doc_", True), ("document_", True), ("text_", True), ("s_", False), ("sentence_", False))

_OF_SENTENCE = "(select min(value) from sentence_meta where sentence_id = {alias}.id and key = {key})"
_OF_DOCUMENT = (
    "(select min(value) from document_meta where document_id = {alias}.document_id and key = {key})"
)
_OF_TOKEN = "(select {value} from sentence as meta where meta.id = {alias}.sentence_id)"
#: The conditions for metadata of sentences, and of documents.
_HOLDS = (
    "s.id in (select sentence_id from sentence_meta as m where m.key = {key}{test})",
    "s.document_id in (select document_id from document_meta as m where m.key = {key}{test})",
)
_OCCURRING = """\
select value
from (
  select m.value from document_meta as m where m.key = $key
  union all
  select m.value from sentence_meta as m where m.key = $key
)
group by value
order by count(*) desc, value
limit $most"""
_ALWAYS_OCCURRING = "select distinct {value} as value from {table} order by value limit $most"
#: An example of a value, where no value is a number or a date.
_NO_NUMBER = """\
select case when count({number}) = 0 then min(value::varchar) end
from (
{values}
)"""
_ALL = 2**62
#: Characters of a value that a message shows.
_MOST_CHARACTERS = 40
_METADATA = """\
select key, bool_or(of_document) as of_document, bool_or(not of_document) as of_sentence
from (
  select distinct key, true as of_document from document_meta
  union all
  select distinct key, false from sentence_meta
)
group by key
order by key"""
_FEATURES = """\
select distinct split_part(part, '=', 1) as name
from (select unnest(string_split({column}, '|')) as part from {table} where contains({column}, '='))
where contains(part, '=')
order by name"""
_KINDS = "select distinct kind from region order by kind"
_ATTRIBUTES = """\
select distinct a.key
from region_meta as a
semi join (select sentence_id, place from region where kind in $kinds) using (sentence_id, place)
order by a.key"""


@dataclass(frozen=True, slots=True)
class _SentenceProperty:
    """A property that every sentence has, such as its corpus, in SQL.

    Args:
        value: the value in SQL; ``{alias}`` is the alias of the row of `sentence`.
        table: the table with the value, if that is not in the row of `sentence`.
        column: column of `sentence` with the id of the row in ``table``.
        number: whether the value is a number.
    """

    value: str
    table: str = ""
    column: str = ""
    number: bool = False

    def string(self, alias: str) -> str:
        if self.table:
            return f"(select {self.value} from {self.table} where id = {alias}.{self.column})"
        return f"{self.value.format(alias=alias)}{'::varchar' if self.number else ''}"

    def holds(self, test: str) -> str:
        if self.table:
            return f"s.{self.column} in (select id from {self.table} where {test})"
        return f"coalesce({test}, false)"


_SOURCE = "(select parse_filename(path) from source where source.id = document.source_id)"
ALWAYS = {
    "corpus": _SentenceProperty("name", "corpus", "corpus_id"),
    "document": _SentenceProperty("name", "document", "document_id"),
    "source": _SentenceProperty(_SOURCE, "document", "document_id"),
    "sent_id": _SentenceProperty("coalesce({alias}.sent_id, {alias}.id::varchar)"),
    "length": _SentenceProperty("{alias}.length", number=True),
    "text": _SentenceProperty("text", "v_sentences", "id"),
}


@dataclass(frozen=True, slots=True)
class MetadataKey(Key):
    """A key of metadata.

    Args:
        of_document: whether values of documents are meant, and some document has one.
        of_sentence: whether values of sentences are meant, and some sentence has one; neither: the key is a
            property that every sentence has, such as its corpus.
        step: length of the periods into which numbers are put; 0 for the values themselves.
    """

    what: ClassVar[str] = "metadata"
    of_tokens: ClassVar[bool] = False
    name: str
    of_document: bool = False
    of_sentence: bool = False
    step: int = 0

    @property
    def always(self) -> _SentenceProperty | None:
        """The property of every sentence that the key is; None if it is one of the metadata."""
        return None if self.of_document or self.of_sentence else ALWAYS[self.name]

    @property
    def one_a_document(self) -> bool:
        """Whether all sentences of a document have the same value."""
        if self.always:
            return self.always.column in ("corpus_id", "document_id")
        return not self.of_sentence

    @property
    def tested_value(self) -> str:
        """The SQL of the value that a condition on a sentence tests."""
        value = self.always.value.format(alias="s") if self.always else "m.value"
        return period_of(f"{value}::varchar", self.step) if self.step else value

    @property
    def number(self) -> bool:
        """Whether the value is a number, and no string."""
        return bool(self.always and self.always.number and not self.step)

    def value(self, alias: str, bindings: Bindings) -> str:
        return _OF_TOKEN.format(value=self.of_row("meta", bindings), alias=alias)

    def of_row(self, alias: str, bindings: Bindings) -> str:
        """Return the SQL for the value of a row of `sentence`: its own, else that of its document."""
        return period_of(self._string(alias, bindings), self.step)

    def value_at(self, sentence: str, position: str, bindings: Bindings) -> str:
        return self.of_row(sentence, bindings)

    def _string(self, alias: str, bindings: Bindings) -> str:
        if self.always:
            return self.always.string(alias)
        levels = ((self.of_sentence, _OF_SENTENCE), (self.of_document, _OF_DOCUMENT))
        key = bindings.bind("key", self.name)
        values = [level.format(alias=alias, key=key) for has, level in levels if has]
        return values[0] if len(values) == 1 else f"coalesce({', '.join(values)})"

    def holds(self, test: str, bindings: Bindings) -> str:
        """Return the condition that the value of a row ``s`` of `sentence` passes a test; empty: any."""
        if self.always:
            return self.always.holds(test) if test else "true"
        key, passes = bindings.bind("key", self.name), test and f" and {test}"
        of_sentence, of_document = (statement.format(key=key, test=passes) for statement in _HOLDS)
        if not self.of_sentence:
            return of_document
        if not self.of_document:
            return of_sentence
        # A value of the sentence wins over that of its document.
        own = f" and not {_HOLDS[0].format(key=key, test='')}" if test else ""
        return f"({of_sentence} or ({of_document}{own}))"

    def frequent_values(self, most: int) -> Statement | None:
        """Return the query for the values, the most frequent first; None where each sentence has its own."""
        if self.step:
            return None
        if self.always is None:
            return Statement(_OCCURRING, {"key": self.name, "most": most})
        if not self.one_a_document:
            return None
        text = _ALWAYS_OCCURRING.format(value=self.always.value, table=self.always.table)
        return Statement(text, {"most": most})


class StoreKeys:
    """Finds keys in a store; each kind of key is looked up once, when it is first needed.

    ``corpora`` are the names of those whose tokens may have surprisal; empty for all.
    """

    def __init__(self, connection: Connection, corpora: Sequence[str] = ()) -> None:
        self.connection, self.corpora = connection, corpora
        # The keys of a store that nobody can change are looked up once for all questions.
        known = connection_cache(connection).setdefault(StoreKeys, ({}, {}, {}, {}))
        self._found: dict[str, Key | None] = {}
        self._labels: dict[str, LineLabelKey | None] = {}
        self._misc: dict[str, bool] = known[0]
        self._attributes: dict[tuple[str, ...], list[str]] = known[1]
        self._listed: dict[str, list[Any]] = known[2]
        #: An example of a value for each key that has no number or date.
        self._numbers: dict[str, str | None] = known[3]

    @cached_property
    def features(self) -> list[str]:
        """The keys of FEATS."""
        return self._names(_FEATURES.format(column="name", table="tag"))

    @cached_property
    def metadata(self) -> dict[str, MetadataKey]:
        """The keys of the metadata."""
        rows = self._rows(_METADATA)
        return {str(name): MetadataKey(str(name), bool(doc), bool(own)) for name, doc, own in rows}

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of regions."""
        return self._names(_KINDS)

    @cached_property
    def applied(self) -> AppliedModels:
        """The models that were applied to these corpora."""
        return AppliedModels.of_corpora(self.connection, self.corpora)

    def any_token(self, column: str) -> bool:
        """Return whether some token of the corpora has a value in a column of `token`."""
        bindings = Bindings(corpora=list(self.corpora))
        conditions = [f"{column} is not null", OF_CORPORA if self.corpora else ""]
        return any_row(self.connection, "token", conditions, bindings)

    def find(self, name: str) -> Key | None:
        """Return the key that a name stands for: of tokens, metadata, regions or labels of lines; or None.

        Raises:
            InputError: the name asks for a surprisal that no token has, or that several models may give, or
                for a set of lines without labels.
        """
        if name not in self._found:
            self._found[name] = (
                self.find_label(name)
                or self.find_token(name)
                or self.find_metadata(name)
                or self.find_region(name)
            )
        return self._found[name]

    def find_label(self, name: str, *, required: bool = False) -> LineLabelKey | None:
        """Return the labels of lines that a name stands for; None if the store itself has a key of this name.

        Args:
            name: ``lines.make``, or ``lines.make.ann``.
            required: refuse a name of this form for which there is no set.

        Raises:
            InputError: no line of the set has a label.
            NotFoundError: there is no such set.
        """
        if not name.startswith(OF_LINES) or self.find_metadata(name) or self.find_region(name):
            return None
        if name not in self._labels or (required and self._labels[name] is None):
            self._labels[name] = LineLabelKey.find(self.connection, name, required=required)
        return self._labels[name]

    def find_token(self, name: str) -> Key | None:
        """Return the attribute of tokens that a name stands for, or None; see `find`."""
        if name in COLUMNS or name in TAGS:
            return TokenKey.of_name(name)
        if surprisal := self.find_surprisal(name):
            return replace(surprisal, name=name)
        if feats := self._find_feature(name):
            return TokenKey.of_feature(feats)
        key = COMPUTED.get(name)
        # What only some tokens have under MISC, a `WrittenKey` finds there by itself.
        return MiscKey(name) if self._is_misc(name) and not isinstance(key, WrittenKey) else key

    def find_surprisal(self, name: str) -> SurprisalKey | None:
        """Return the surprisal that a name stands for; None if it is another key, or a key of the sources.

        Raises:
            InputError: no token has this surprisal, or several models may give it.
        """
        if name.partition(".")[0] != NAME:
            return None
        of_source = name in self.features or self._is_misc(name) or name in self.metadata
        return None if of_source and not self.applied.there else self.applied.find(name)

    def refusal(
        self, name: str, what: str, ways: Mapping[type, str], known: Iterable[str] | None = None
    ) -> str:
        """Return the message that a name means nothing in its place, with what may be meant.

        Args:
            name: the name as it was written.
            what: what there is none of, such as "attribute".
            ways: for each class of key, how to ask for such a key elsewhere: ``{name}`` is the name as it was
                written, ``{key}`` the name in the store.
            known: names that may stand there; by default those of the metadata, and of tokens if ``what`` is
                not metadata.
        """
        try:
            key = self.find(name)
        except InputError:  # a surprisal that there is not
            key = None
        for kind, way in ways.items():
            if key is not None and isinstance(key, kind):
                return (
                    f"{key.name} is {key.what}: {way.format(name=name, key=key.name, where=spell('where'))}"
                )
        if known is None:
            known = [*([] if what == MetadataKey.what else self.of_tokens), *self.of_sentences]
        return f"no {what} {name!r}; {instead(bare(name), known)}"

    def attributes(self, kinds: tuple[str, ...]) -> list[str]:
        """Return the attributes of regions of some kinds."""
        if kinds not in self._attributes:
            query = Statement(_ATTRIBUTES, Bindings(kinds=list(kinds)))
            self._attributes[kinds] = query.run(self.connection).column(0).to_pylist()
        return self._attributes[kinds]

    def find_kinds(self, name: str) -> tuple[str, ...]:
        """Return the kinds of regions that a name stands for: ``list_item`` for list-item, too."""
        return tuple(kind for kind in self.kinds if name in (kind, plain(kind)))

    def find_attribute(self, kinds: tuple[str, ...], name: str) -> RegionKey | None:
        """Return the attribute of regions of some kinds that a name stands for, or None."""
        keys = tuple(key for key in self.attributes(kinds) if name in (key, plain(key)))
        return RegionKey(f"{kinds[0]}.{keys[0]}", kinds, keys) if keys else None

    def find_region(self, name: str) -> RegionKey | None:
        """Return the attribute of regions that a name stands for, or None.

        A name is ``speaker.party`` or ``speaker_party``, maybe with a label; for periods ``speaker.born/10``.
        """
        stem = _stem(name)
        for at, letter in enumerate(stem):
            kinds = self.find_kinds(stem[:at]) if letter in "._" else ()
            if key := self.find_attribute(kinds, stem[at + 1 :]) if kinds else None:
                return key
        of_periods, step = period_in(name)
        key = self.find_region(of_periods) if step else None
        return key and self._in_periods(key, name, step)

    @property
    def of_regions(self) -> list[str]:
        """All attributes of regions, as ``speaker.party``."""
        return [f"{kind}.{key}" for kind in self.kinds for key in self.attributes((kind,))]

    @property
    def of_tokens(self) -> list[str]:
        """All attributes of tokens: columns, keys of FEATS and of MISC, and surprisal."""
        misc = self._names(_FEATURES.format(column="misc", table="token_misc"))
        names = [*COLUMNS, *self.features, *misc, *self.applied.names, *TAGS, *COMPUTED]
        return list(dict.fromkeys(names))

    @property
    def of_sentences(self) -> list[str]:
        """All keys of metadata, and the properties that every sentence has."""
        return list(dict.fromkeys([*ALWAYS, *self.metadata]))

    def find_metadata(self, name: str, *, quoted: bool = False) -> MetadataKey | None:
        """Return the key of metadata that a name stands for, or None.

        Args:
            name: ``genre``, ``meta.genre``, ``match.doc_genre`` or ``doc_genre``; ``year/10`` for periods.
            quoted: whether the name was in quotes: then it is a key of the metadata as it is.
        """
        stem = _stem(name)
        of_periods, step = period_in(name)
        if step and not quoted and name not in self.metadata:
            key = self.find_metadata(of_periods)
            return key and self._in_periods(key, name, step)
        if quoted or (name in self.metadata and name not in ALWAYS):
            return self.metadata.get(name)
        # Behind `meta.`, keys of the metadata win.
        if stem in ALWAYS and not name.startswith("meta."):
            return MetadataKey(stem)
        key = self._written(stem) or self._with_owner(stem)
        return key or (MetadataKey(stem) if stem in ALWAYS else None)

    def find_property(self, kind: str, attribute: str) -> MetadataKey | None:
        """Return the key for an attribute of sentences (``s``) or documents (``doc``), such as ``id``."""
        if attribute == "id":
            return MetadataKey("sent_id" if kind == "s" else "document")
        return self.find_metadata(f"{kind}_{attribute}")

    def require(self, name: str, what: str = "metadata", others: Sequence[str] = ()) -> Key:
        """Return the key of a name: surprisal, metadata, attribute of regions or tokens, or labels of lines.

        The message that there is none says ``what`` kind of key, and may name ``others`` that are allowed.

        Raises:
            InputError: there is no such key.
        """
        key_of_place = self.find_surprisal(name) or self.find_metadata(name) or self.find_region(name)
        if key := key_of_place or self.find_label(name, required=True) or self.find_token(name):
            return key
        listed = [*others, *self.of_sentences, *self.of_regions, *self.of_tokens]
        raise InputError(f"no {what} {name!r}; {instead(bare(name), listed)}")

    def _in_periods(self, key: OfPeriods, name: str, step: int) -> OfPeriods:
        """Return a key whose values are periods of the numbers or dates of another."""
        if key.name not in self._numbers:
            if (query := key.frequent_values(_ALL)) is None:  # each sentence has its own
                table = isinstance(key, MetadataKey) and key.always and key.always.table
                query = Statement(f"select {key.tested_value} as value from {table or 'sentence as s'}")
            text = _NO_NUMBER.format(values=query.text, number=period_of("value::varchar", 1))
            self._numbers[key.name] = Statement(text, query.parameters).value(self.connection)
        if (example := self._numbers[key.name]) is not None:
            raise InputError(
                f"{name}: periods are those of numbers or dates, and no {key.name} is one, such as"
                f" {example[:_MOST_CHARACTERS]!r}; write {key.name}"
            )
        return replace(key, step=step)

    def _written(self, name: str) -> MetadataKey | None:
        """Return a key by its name, or by its name with underscores: `author_gender` is `author-gender`."""
        if name in self.metadata or not name.isidentifier():
            return self.metadata.get(name)
        alike = [key for written, key in self.metadata.items() if re.sub(r"\W", "_", written) == name]
        return alike[0] if len(alike) == 1 else None

    def _with_owner(self, stem: str) -> MetadataKey | None:
        for prefix, of_document in _OWNERS:
            key = self._written(stem.removeprefix(prefix)) if stem.startswith(prefix) else None
            if key and (key.of_document if of_document else key.of_sentence):
                return replace(key, of_document=of_document, of_sentence=not of_document)
        return None

    def _find_feature(self, name: str) -> str | None:
        """Return the key of FEATS that a name stands for: ``Number_psor`` and ``Number__psor``, too."""
        if name in self.features:
            return name
        wanted = name.replace("__", "_")
        return next((feature for feature in self.features if plain(feature).strip("_") == wanted), None)

    def _is_misc(self, name: str) -> bool:
        if name in COLUMNS or name in self.features or self._with_owner(_stem(name)):
            return False
        if name not in self._misc:
            self._misc[name] = MiscKey(name).occurs(self.connection)
        return self._misc[name]

    def _names(self, statement: str) -> list[str]:
        return [str(name) for (name,) in self._rows(statement)]

    def _rows(self, statement: str) -> list[Any]:
        if statement not in self._listed:
            self._listed[statement] = raw(self.connection).execute(statement).fetchall()
        return self._listed[statement]


def _stem(name: str) -> str:
    """Return a key without the label before it."""
    return next((name.removeprefix(label) for label in _LABELS if name.startswith(label)), name)


def bare(name: str) -> str:
    """Return a key without the prefixes of query languages, to compare it with other keys.

    >>> bare("match.doc_gnre")
    'gnre'
    """
    stem = _stem(name)
    return next((stem.removeprefix(owner) for owner, _ in _OWNERS if stem.startswith(owner)), stem)
