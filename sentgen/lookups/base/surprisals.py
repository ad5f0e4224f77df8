"""Surprisal as an attribute of tokens: the bits that a model gave to them when it was applied to the corpus.

The attribute is ``surprisal`` if one model was applied, else ``surprisal.NAME``, or, for several versions of
a model, ``surprisal.NAME@VERSION``; as in other names, ``_`` stands for characters that a name in a query
cannot have. Tokens of sentences to which the model was not applied have no surprisal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.attributes import Bound, Key, Test
from sentgen.lookups.base.regions import plain
from sentgen.lookups.base.statement import Bindings, Statement, any_row
from sentgen.output.wording import either

NAME = "surprisal"
#: The end of the message where surprisal is compared with a string.
NUMBER = "is a number: compare it by <, <=, > or >="
_WRITTEN = re.compile(rf"(?:(?P<label>.+)\.)?(?P<name>{NAME}(?:\..+)?)")

_MODELS = "select id, name, version from model order by name, version"
OF_CORPORA = "corpus_id in (select id from corpus where name in $corpora)"
_AMONG = """\
({alias}.sentence_id, {alias}.position) in (
    select sentence_id, position from surprisal where model_id = {model}{test}
  )"""
_BITS = """\
(select bits from surprisal
    where model_id = {model} and sentence_id = {alias}.sentence_id and position = {alias}.position)"""


@dataclass(frozen=True, slots=True)
class SurprisalKey(Key):
    """The surprisal of tokens by a model, whose name and version is ``label``."""

    name: str
    model: int
    label: str

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        model, passes = bindings.bind("model", self.model), ""
        if isinstance(test, Bound):
            passes = f" and {test.of_number('bits', bindings)}"
        elif test is not None:
            raise InputError(f"{self.name} {NUMBER}")
        return _AMONG.format(alias=alias, model=model, test=passes)

    def value(self, alias: str, bindings: Bindings) -> str:
        return _BITS.format(alias=alias, model=bindings.bind("model", self.model))

    def string(self, alias: str, bindings: Bindings) -> str:
        return f"{self.value(alias, bindings)}::varchar"


def bin_of(bits: str) -> str:
    """Return the SQL for the bin of a surprisal, one bit wide, as text: ``12-13`` for 12 bits and more."""
    return f"(select floor(b)::bigint || '-' || floor(b)::bigint + 1 from (select {bits} as b))"


def split_name(name: str) -> tuple[str, str] | None:
    """Split a name into the label before it and the name of a surprisal; None if it is another attribute.

    >>> split_name("a.surprisal.news"), split_name("surprisal"), split_name("lemma")
    (('a', 'surprisal.news'), ('', 'surprisal'), None)
    """
    match = _WRITTEN.fullmatch(name)
    return (match["label"] or "", match["name"]) if match else None


@dataclass(frozen=True, slots=True)
class AppliedModels:
    """The models that were applied to some corpora.

    Args:
        keys: name of each attribute, to its key.
        elsewhere: whether models were applied to other corpora only.
        corpora: names of the corpora; empty for all.
        models: names of all models of the store.
    """

    keys: dict[str, SurprisalKey]
    elsewhere: bool
    corpora: Sequence[str]
    models: Sequence[str]

    @property
    def there(self) -> bool:
        """Whether a model was applied to any corpus of the store."""
        return bool(self.keys) or self.elsewhere

    @property
    def names(self) -> list[str]:
        """The names of the attributes that queries can use."""
        return [NAME] if len(self.keys) == 1 else list(self.keys)

    def find(self, name: str) -> SurprisalKey:
        """Return the key of the surprisal that a name stands for.

        Raises:
            InputError: there is no such surprisal, or several models may give it.
        """
        if not self.keys:
            of_corpora = f" of {', '.join(self.corpora)}" if self.corpora else ""
            model = self.models[0] if len(self.models) == 1 else "MODEL"
            corpus = self.corpora[0] if self.corpora else "CORPUS"
            raise InputError(
                f"no token{of_corpora} has a surprisal;"
                f" store it with: sentgen models apply {model} --corpus {corpus}"
            )
        if name == NAME and len(self.keys) == 1:
            return next(iter(self.keys.values()))
        named = {written: {written, f"{NAME}.{key.label}"} for written, key in self.keys.items()}
        keys = [
            self.keys[written]
            for written, names in named.items()
            if name in names or name in set(map(_plain_name, names))
        ]
        if len(keys) == 1:
            return keys[0]
        listed = either([_plain_name(key) for key in self.keys])
        if name == NAME:
            raise InputError(f"the surprisal by which model? Write {listed}")
        raise InputError(f"no {name!r}; write {listed}")

    @classmethod
    def of_corpora(cls, connection: Connection, corpora: Sequence[str] = ()) -> AppliedModels:
        """Find the models that were applied to some corpora; to any, if none are named."""
        rows = Statement(_MODELS).run(connection).to_pylist()
        anywhere = [row for row in rows if _was_applied(connection, row["id"], ())]
        applied = [row for row in anywhere if not corpora or _was_applied(connection, row["id"], corpora)]
        names = [row["name"] for row in applied]
        keys = {}
        for row in applied:
            label = f"{row['name']}@{row['version']}"
            alone = names.count(row["name"]) == 1
            name = f"{NAME}.{row['name'] if alone else label}"
            keys[name] = SurprisalKey(name, row["id"], label)
        models = sorted({row["name"] for row in rows})
        return cls(keys, len(anywhere) > len(applied), corpora, models)


def _plain_name(name: str) -> str:
    """Return the name of a surprisal with underscores for characters that a name in a query cannot have.

    >>> _plain_name("surprisal.my-news@2")
    'surprisal.my_news_2'
    """
    return f"{NAME}.{plain(name.removeprefix(f'{NAME}.'))}"


def _was_applied(connection: Connection, model: int, corpora: Sequence[str]) -> bool:
    bindings = Bindings(model=model, corpora=list(corpora))
    # The rows of a model are stored together, so that few rows of other models are read.
    conditions = ["model_id = $model", OF_CORPORA if corpora else ""]
    return any_row(connection, "surprisal", conditions, bindings)
