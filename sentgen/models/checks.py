"""Checks of the models of a store: complete n-grams, probabilities that sum to one, n-grams as counted.

`sentgen.schema.maintenance.check` runs these after its own. The n-grams of a model whose corpora changed
since, which `sentgen models list` calls stale, cannot be counted again. Of an imported one, nothing is known
about sums and counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentgen.errors import DamagedError
from sentgen.models.base import sql
from sentgen.models.base.registry import (
    CONDITION,
    DYNAMIC,
    MIXTURE,
    PRUNED,
    SCORER,
    STUPID_BACKOFF,
    ModelInfo,
    list_models,
)
from sentgen.models.building import katz
from sentgen.models.building.recipe import BuiltFrom, Chosen, Recipe, apart, drop_temporary, selected
from sentgen.schema import Store
from sentgen.schema.checks import REBUILD, Check
from sentgen.schema.tables.corpus import BOS, EOS, UNK
from sentgen.schema.tables.counts import MAX_ORDER

#: Tolerance of a sum of one: the rounding of a million doubles is a thousandth of that.
_TOLERANCE = 1e-6

_FILE = "checks.sql"
#: The parameters that each smoothing estimates for each order; Katz also has discounts, or ``absolute``.
_PARAMETERS = {
    "katz": [f"n{r}" for r in range(1, katz.K + 2)],
    "kneser-ney": ["n1", "n2", "n3", "n4", "d1", "d2", "d3"],
}


def model_checks(store: Store, *, quick: bool = False) -> Iterator[Check]:
    """Yield the checks of all models; ``quick`` leaves out the slow ones.

    Run each check before the next one is taken: its temporary tables are dropped then.
    """
    yield _check("n-grams of models are whole", "shape")
    yield _check("words of models", "words")
    unstored = _listed(STUPID_BACKOFF, DYNAMIC, SCORER)
    yield _check("vocabulary of models", "vocabulary", bos=BOS, unstored=unstored)
    made = _listed(MIXTURE, DYNAMIC, PRUNED, SCORER)
    yield _check("tokens of models", "corpora", condition=CONDITION, made=made)
    pairs = ", ".join(f"'{name}': {names}" for name, names in _PARAMETERS.items())
    yield _check("parameters of models", "parameters", parameters=f"map {{{pairs}}}", max_order=MAX_ORDER)
    if quick:
        return
    for model in list_models(store):
        if model.smoothing in (*_PARAMETERS, MIXTURE):
            yield from _sums(model)
        if model.smoothing in _PARAMETERS and not model.is_stale(store):
            yield from _recounted(store, model)


def _check(name: str, statement: str, *, slow: bool = False, **values: object) -> Check:
    return Check(name, sql.statements(_FILE)[statement].format(**values), REBUILD, slow)


def _listed(*names: str) -> str:
    """Return names as a list of SQL."""
    return ", ".join(f"'{name}'" for name in names)


def _sums(model: ModelInfo) -> Iterator[Check]:
    """Yield checks that the probabilities of all words after each context sum to one, by its length."""
    named = f"{model.label}: probabilities of"
    values = {"model": model.id, "tolerance": _TOLERANCE}
    yield _check(f"{named} words sum to one", "unigrams", slow=True, bos=BOS, **values)
    for n in range(2, model.order + 1):
        yield _check(
            f"{named} order {n} sum to one",
            "contexts",
            slow=True,
            n=n,
            shorter=n - 1,
            context=sql.words(n - 1, prefix="g."),
            names=sql.words(n - 1),
            same_suffix=sql.matching("g", "s", n - 1, skip=1),
            **values,
        )


def _recounted(store: Store, model: ModelInfo) -> Iterator[Check]:
    """Yield a check that the n-grams of a model are those of the current counts of its corpora."""
    settings = Recipe.of_model(model)
    try:
        with store.begin() as connection:
            corpora = [BuiltFrom.find(connection, name) for name in model.corpora]
            recorded, draw = apart(model.condition)
            _, condition = selected(connection, model.corpora, recorded or None)
            if chosen := bool(model.condition):
                Chosen.choose(connection, condition, draw, [each.id for each in corpora])
            settings.count(connection, corpora, lambda _: None, new_words=False, chosen=chosen)
    except DamagedError:  # the counts are damaged, not the model
        return
    try:
        yield _check(
            f"{model.label}: n-grams recounted",
            "ngrams",
            slow=True,
            model=model.id,
            counted="\nunion all\n".join(_counted_rows(model, n) for n in range(1, model.order + 1)),
        )
    finally:
        with store.begin() as connection:
            drop_temporary(connection)


def _counted_rows(model: ModelInfo, n: int) -> str:
    """Return a query for the number and the digest of the n-grams of ``counted_n`` that the model keeps."""
    # The hash of the stored rows is over five columns, null beyond the order.
    missing = ["null::integer"] * (MAX_ORDER - n)
    values = {"min_count": model.min_count[n - 1], "columns": ", ".join([sql.words(n), *missing])}
    if n > 1:
        return sql.statements(_FILE)["kept"].format(n=n, words=sql.words(n), **values)
    always = [BOS] if model.unknown == "none" else [BOS, UNK]
    return sql.statements(_FILE)["kept_unigrams"].format(unk=UNK, eos=EOS, always=always, **values)
