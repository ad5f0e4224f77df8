"""Surprisal as an attribute of tokens: by the model that was applied to them, or by one of several.

It is called ``surprisal`` where one model was applied, else ``surprisal.NAME``, or ``surprisal.NAME@VERSION``
where several versions were; as in other names, ``_`` stands for what a query cannot hold. A token of a
sentence that the model was not applied to has none.
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
#: What is said where it is compared with a string.
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
    """The surprisal by a model.

    Args:
        name: as it was written.
        model: id of the model.
        label: name and version of the model.
    """

    name: str
    model: int
    label: str

    def condition(self, alias: str, test: Test | None, bindings: Bindings) -> str:
        """Return the condition that a row with ``sentence_id`` and ``position`` has such a value."""
        model, passes = bindings.bind("model", self.model), ""
        if isinstance(test, Bound):
            passes = f" and {test.of_number('bits', bindings)}"
        elif test is not None:
            raise InputError(f"{self.name} {NUMBER}")
        return _AMONG.format(alias=alias, model=model, test=passes)

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the surprisal of a row with ``sentence_id`` and ``position``, a number."""
        return _BITS.format(alias=alias, model=bindings.bind("model", self.model))

    def string(self, alias: str, bindings: Bindings) -> str:
        """Return the same as a string."""
        return f"{self.value(alias, bindings)}::varchar"


def bin_of(bits: str) -> str:
    """Return the bin of one bit that a surprisal is in, as text in SQL: ``12-13`` for 12 bits and more."""
    return f"(select floor(b)::bigint || '-' || floor(b)::bigint + 1 from (select {bits} as b))"


def split_name(name: str) -> tuple[str, str] | None:
    """Return the label and the name of a surprisal; none if it is another attribute.

    >>> split_name("a.surprisal.news"), split_name("surprisal"), split_name("lemma")
    (('a', 'surprisal.news'), ('', 'surprisal'), None)
    """
    match = _WRITTEN.fullmatch(name)
    return (match["label"] or "", match["name"]) if match else None


@dataclass(frozen=True, slots=True)
class AppliedModels:
    """The models that were applied to some corpora.

    Args:
        keys: the surprisal by each, by the names that it has.
        elsewhere: whether others were applied, or these, but to other corpora alone.
        corpora: which corpora.
        models: names of all models of the store.
    """

    keys: dict[str, SurprisalKey]
    elsewhere: bool
    corpora: Sequence[str]
    models: Sequence[str]

    @property
    def there(self) -> bool:
        """Whether any was applied, to whichever corpora."""
        return bool(self.keys) or self.elsewhere

    @property
    def names(self) -> list[str]:
        """What can be asked for."""
        return [NAME] if len(self.keys) == 1 else list(self.keys)

    def find(self, name: str) -> SurprisalKey:
        """Return the surprisal that a name stands for.

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


def _plain_name(name: str) -> str:
    """Return a name as queries can hold it.

    >>> _plain_name("surprisal.my-news@2")
    'surprisal.my_news_2'
    """
    return f"{NAME}.{plain(name.removeprefix(f'{NAME}.'))}"


def applied_models(connection: Connection, corpora: Sequence[str] = ()) -> AppliedModels:
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
    return AppliedModels(keys, len(anywhere) > len(applied), corpora, models)


def _was_applied(connection: Connection, model: int, corpora: Sequence[str]) -> bool:
    bindings = Bindings(model=model, corpora=list(corpora))
    # Rows of a model lie together, so that this reads few of others.
    conditions = ["model_id = $model", OF_CORPORA if corpora else ""]
    return any_row(connection, "surprisal", conditions, bindings)
