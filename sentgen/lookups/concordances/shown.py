"""What is said of a line and its text, as columns before it: metadata, attributes of regions and tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sentgen.errors import InputError
from sentgen.lookups.attributes import TokenKey
from sentgen.lookups.keys import MetadataKey, StoreKeys, bare
from sentgen.lookups.regions import RegionKey
from sentgen.lookups.statement import Bindings
from sentgen.lookups.surprisals import SurprisalKey
from sentgen.output.wording import instead

#: Columns that every line has before its words, and those of the words and their places.
_ALWAYS = ("corpus", "document", "sent_id")
_TAKEN = ("left", "node", "right", "sentence_id", "first", "last")
_MOST = 50
#: What lines can show and be sorted by, beside their words: of the first token of the hit.
LineKey = MetadataKey | RegionKey | SurprisalKey | TokenKey


def find_key(keys: StoreKeys, name: str, what: str = "metadata", others: Sequence[str] = ()) -> LineKey:
    """Return what a name stands for: surprisal, metadata, an attribute of regions, or one of tokens.

    Args:
        keys: those of the store.
        name: the name.
        what: it is, for the message that there is none; and ``others``: what else it may be.

    Raises:
        InputError: there is none.
    """
    of_place = keys.find_surprisal(name) or keys.find_metadata(name) or keys.find_region(name)
    if found := of_place or keys.find_token(name):
        return found
    listed = [*others, *keys.of_sentences, *keys.of_regions, *keys.of_tokens]
    raise InputError(f"no {what} {name!r}; {instead(bare(name), listed)}")


@dataclass(frozen=True, slots=True)
class Home:
    """Where the sentence of a hit's first token is in a statement, for what is around that token.

    Args:
        row: alias of a row of `sentence`.
        position: SQL for the position of the token in it.
    """

    row: str
    position: str

    def value(self, key: LineKey, bindings: Bindings) -> str:
        """Return a value in SQL; null if there is none."""
        if isinstance(key, MetadataKey):
            return key.value(self.row, bindings)
        token = f"(select {self.row}.id as sentence_id, {self.position} as position) as spot"
        return f"(select {key.value('spot', bindings)} from {token})"


def read_shown(given: Sequence[str], others: Collection[str] = ()) -> tuple[str, ...]:
    """Read names of keys, one each or several with commas between them; leave out what every line has.

    Args:
        given: the names.
        others: columns that these lines have, too.

    Raises:
        InputError: one is empty or given twice, or is the name of a column with words.
    """
    names = [name.strip() for one in given for name in one.split(",")]
    if not all(names) or len(set(names)) < len(names) or len(names) > _MOST:
        raise InputError(
            f"{', '.join(given)!r} has an empty key, or one twice, or more than {_MOST}; write keys as in"
            " genre,year"
        )
    if taken := [name for name in names if name in (*_TAKEN, *others)]:
        raise InputError(f"a line has a column {taken[0]!r} already; write meta.{taken[0]} for metadata")
    return tuple(name for name in names if name not in _ALWAYS)


@dataclass(frozen=True, slots=True)
class Shown:
    """Columns before a line, by the names that were given of their keys."""

    keys: tuple[tuple[str, LineKey], ...] = ()

    def columns(self, bindings: Bindings) -> str:
        """Return these columns of ``line`` and its ``sentence`` in SQL, each with a comma behind it."""
        home = Home("sentence", "line.first")
        named = ((_quoted(name), home.value(key, bindings)) for name, key in self.keys)
        return "".join(f"\n  {value} as {name}," for name, value in named)


def _quoted(name: str) -> str:
    """Return a name of a column; a dollar would stand for a parameter."""
    return '"' + name.replace("$", "").replace('"', '""') + '"'


def shown_keys(there: StoreKeys, names: Sequence[str]) -> Shown:
    """Look up the keys whose values are shown among those of a store.

    Raises:
        InputError: there is none of a name.
    """
    return Shown(tuple((name, find_key(there, name)) for name in names))
