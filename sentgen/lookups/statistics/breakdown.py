"""The keys by which tokens, or hits of a query, are counted: attributes of tokens, regions and documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.case_folding import fold_sql
from sentgen.errors import InputError
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.languages import check_text
from sentgen.lookups.base.line_labels import OF_LINES
from sentgen.lookups.base.regions import RegionKey
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.surprisals import bin_of, split_name
from sentgen.lookups.cql.conditions import TokenConditions
from sentgen.lookups.cql.syntax import Term
from sentgen.output.wording import instead


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The keys by which tokens or hits are counted.

    Args:
        keys: name to attribute; an attribute without a label is that of all tokens of a hit.
        parts: kinds of the regions that dispersion is computed over; none for documents.
        mean: the attribute whose numbers are averaged.
    """

    keys: Mapping[str, Term]
    selection: Selection
    store_keys: StoreKeys
    parts: tuple[str, ...] = ()
    mean: Term | None = None

    @property
    def around(self) -> dict[str, Term]:
        """The keys that are metadata or attributes of regions."""
        return {name: term for name, term in self.keys.items() if _is_around(self.store_keys, term)}

    @property
    def regions(self) -> tuple[str, ...]:
        """The kinds of regions whose attributes are among the keys."""
        keys = (self.store_keys.find(term.attribute) for term in self.keys.values())
        return tuple(dict.fromkeys(kind for key in keys if isinstance(key, RegionKey) for kind in key.kinds))

    @property
    def names(self) -> dict[str, str]:
        """The names of columns over documents, by their names over regions; empty over regions."""
        return {} if self.parts else {"parts": "documents", "part_share": "document_share"}

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return the writer of SQL for attributes of tokens."""
        return TokenConditions(self.selection, bindings, frozenset(), self.store_keys)

    def string(self, term: Term, alias: str, bindings: Bindings) -> str:
        """Return the string to count by in SQL, for a row with the sentence and the position of a token."""
        if surprisal := self.store_keys.find_surprisal(term.attribute):
            return self.string_of(term, bin_of(surprisal.value(alias, bindings)))
        return self.string_of(term, self.conditions(bindings).string(term.attribute, alias))

    def string_of(self, term: Term, string: str) -> str:
        """Return the string to count by in SQL, from that of an attribute; ``_`` stands for null."""
        if self.selection.ignore_case and term.attribute in ("word", "form", "lemma"):
            string = fold_sql(string)
        return f"coalesce({string}, '_')"

    @classmethod
    def read(
        cls, connection: Connection, by: str, selection: Selection, over: str | None, mean: str | None
    ) -> Breakdown:
        """Read the keys to count hits by.

        Args:
            by: keys, with commas between them.
            over: a kind of regions that dispersion is computed over, instead of documents.
            mean: an attribute whose values are numbers, of the first token of a hit unless it has a label.

        Raises:
            InputError: a key is empty or given twice, there is no such region, or ``mean`` names several
                attributes.
        """
        store_keys = StoreKeys(connection, selection.names)
        parts = () if over is None else store_keys.find_kinds(over)
        if over is not None and not parts:
            raise InputError(f"no region {over!r} to be parts; {instead(over, store_keys.kinds)}")
        keys, number = _read_keys(store_keys, by), None
        if mean is not None:
            number, *others = _read_keys(store_keys, mean).values()
            if others:
                raise InputError(f"{mean!r}: a mean is that of one number; ask for each by itself")
            number = replace(number, label=number.label or "match")
        return cls(keys, selection, store_keys, parts, number)

    @classmethod
    def of_parts(cls, connection: Connection, names: list[str], selection: Selection) -> Breakdown:
        """Return a breakdown by the keys among ``names`` that are metadata or attributes of regions."""
        store_keys = StoreKeys(connection)
        read = _read_keys(store_keys, ",".join(names))
        return cls(
            {name: term for name, term in read.items() if _is_around(store_keys, term)}, selection, store_keys
        )


def _read_keys(store_keys: StoreKeys, by: str) -> dict[str, Term]:
    """Return the attributes to count by, each with the label of its token."""
    check_text(by)
    names = [name.strip() for name in by.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{by!r} has an empty key, or one twice; write keys as in a.lemma,match.doc_genre")
    return {name: _read_key(store_keys, name) for name in names}


def _read_key(store_keys: StoreKeys, name: str) -> Term:
    """Read a key; metadata, regions and labels of lines are those of the first token of the hit."""
    label, _, attribute = name.rpartition(".")
    label, attribute = split_name(name) or (label, attribute)
    # A label of the query may have the name of the lines, too.
    if name.startswith(OF_LINES):
        missing = store_keys.find(attribute) is None
        if store_keys.find_label(name, required=missing):
            return Term(name, "match")
    term = Term(name, "match") if label == "meta" else Term(attribute, label)
    if _is_around(store_keys, term):
        return replace(term, label=term.label or "match")
    if (
        term.label
        and not store_keys.find_token(term.attribute)
        and isinstance(store_keys.find(name), RegionKey)
    ):
        return Term(name, "match")
    return term


def _is_around(store_keys: StoreKeys, term: Term) -> bool:
    key = store_keys.find(term.attribute)
    return key is not None and not key.of_tokens
