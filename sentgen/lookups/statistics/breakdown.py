"""What tokens, or the hits of a query, are counted by: attributes of them and of what is around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sentgen.case_folding import folded
from sentgen.errors import InputError
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.languages import check_text
from sentgen.lookups.base.regions import RegionKey
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.surprisals import bin_of, split_name
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.cql.tokens import TokenConditions
from sentgen.lookups.question.selection import Selection
from sentgen.output.wording import instead


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What is counted by.

    Args:
        keys: attributes, each with its name; without a label, of all tokens of a hit.
        selection: the corpora.
        there: the keys of the store.
        parts: kinds of the regions over which the dispersion is; none for documents.
        mean: the number of which there is a mean.
    """

    keys: Mapping[str, Term]
    selection: Selection
    there: StoreKeys
    parts: tuple[str, ...] = ()
    mean: Term | None = None

    @property
    def around(self) -> dict[str, Term]:
        """Those of the keys that are metadata or attributes of regions."""
        return {name: term for name, term in self.keys.items() if _is_around(self.there, term)}

    @property
    def regions(self) -> tuple[str, ...]:
        """The kinds of regions whose attributes are among the keys."""
        keys = (self.there.find(term.attribute) for term in self.keys.values())
        return tuple(dict.fromkeys(kind for key in keys if isinstance(key, RegionKey) for kind in key.kinds))

    @property
    def names(self) -> dict[str, str]:
        """What columns are called, by what they are called over regions."""
        return {} if self.parts else {"parts": "documents", "part_share": "document_share"}

    def conditions(self, bindings: Bindings) -> TokenConditions:
        """Return what writes attributes of tokens."""
        return TokenConditions(self.selection, bindings, frozenset(), self.there)

    def string(self, term: Term, alias: str, bindings: Bindings) -> str:
        """Return the string that is counted by, of a row with the sentence and the position of a token."""
        if surprisal := self.there.find_surprisal(term.attribute):
            return self.named(term, bin_of(surprisal.value(alias, bindings)))
        return self.named(term, self.conditions(bindings).string(term.attribute, alias))

    def named(self, term: Term, string: str) -> str:
        """Return what is counted by, by the string of an attribute."""
        if self.selection.ignore_case and term.attribute in ("word", "form", "lemma"):
            string = folded(string)
        return f"coalesce({string}, '_')"


def read_breakdown(
    connection: Connection, by: str, selection: Selection, over: str | None, mean: str | None
) -> Breakdown:
    """Read what hits are counted by.

    Args:
        connection: the store.
        by: keys, with commas between them.
        selection: the corpora.
        over: a kind of regions over which the dispersion is, instead of documents.
        mean: an attribute whose values are numbers, of the first token of a hit unless it has a label.

    Raises:
        InputError: a key is empty or given twice, there is no such region, or there is more than one number.
    """
    there = StoreKeys(connection, selection.names)
    parts = () if over is None else there.find_kinds(over)
    if over is not None and not parts:
        raise InputError(f"no region {over!r} to be parts; {instead(over, there.kinds)}")
    keys, number = _read_keys(there, by), None
    if mean is not None:
        number, *others = _read_keys(there, mean).values()
        if others:
            raise InputError(f"{mean!r}: a mean is that of one number; ask for each by itself")
        number = replace(number, label=number.label or "match")
    return Breakdown(keys, selection, there, parts, number)


def of_parts(connection: Connection, names: list[str], selection: Selection) -> Breakdown:
    """Return the breakdown by those of some keys that are metadata or attributes of regions."""
    there = StoreKeys(connection)
    read = _read_keys(there, ",".join(names))
    return Breakdown({name: one for name, one in read.items() if _is_around(there, one)}, selection, there)


def _read_keys(there: StoreKeys, by: str) -> dict[str, Term]:
    """Return the attributes to count by, each with the label of its token."""
    check_text(by)
    names = [name.strip() for name in by.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{by!r} has an empty key, or one twice; write keys as in a.lemma,match.doc_genre")
    return {name: _read_key(there, name) for name in names}


def _read_key(there: StoreKeys, name: str) -> Term:
    """Return a key; what is around the match is said of its first token."""
    label, _, attribute = name.rpartition(".")
    label, attribute = split_name(name) or (label, attribute)
    term = Term(name, "match") if label == "meta" else Term(attribute, label)
    if _is_around(there, term):
        return replace(term, label=term.label or "match")
    if term.label and not there.find_token(term.attribute) and isinstance(there.find(name), RegionKey):
        return Term(name, "match")
    return term


def _is_around(there: StoreKeys, term: Term) -> bool:
    found = there.find(term.attribute)
    return found is not None and not found.of_tokens
