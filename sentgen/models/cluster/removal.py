"""Take a model out of a lake."""

from __future__ import annotations

from pathlib import Path

from sentgen.counts.cluster.catalogue import EPOCH, bounds, changed
from sentgen.errors import StoreError
from sentgen.models.base.registry import find_all
from sentgen.schema import Store
from sentgen.schema.lakes.layout import LakeFile, read_manifest
from sentgen.schema.lakes.places import Place

#: Small tables of models, and the columns with their numbers.
_TABLES = {
    "model": "id",
    "model_corpus": "model_id",
    "model_parameter": "model_id",
    "model_weight": "model_id",
}


def remove_model(lake: Place, work: Path, label: str) -> list[str]:
    """Remove one version (``NAME@VERSION``) or all versions of a model, with its files; return their labels.

    Neither their numbers nor their versions are used again, as in a store.

    Raises:
        NotFoundError: there is no such model.
        StoreError: something is not finished; or a file has n-grams of other models, too, since the lake was
            made of a store.
    """
    read_manifest(lake)
    with changed(lake, work) as catalogue:
        with Store(lake.root, read_only=True) as store:
            found = find_all(store, label)
        gone = {model.id for model in found}
        tables = catalogue.tables()
        tables["model_ngram"] = [file for file in catalogue.files("model_ngram") if not _of(lake, file, gone)]
        for table, column in _TABLES.items():
            tables[table] = catalogue.without(table, column, gone)
        removed = catalogue.rows("removed_model") + [
            {"id": one.id, "name": one.name, "version": one.version, "removed_at": EPOCH} for one in found
        ]
        tables["removed_model"] = [catalogue.write("removed_model", removed, 0)]
        catalogue.drop_unused(tables)
        catalogue.commit(tables)
        return [model.label for model in found]


def _of(lake: Place, file: LakeFile, models: set[int]) -> bool:
    """Tell whether a file has n-grams of these models, and of no others.

    Raises:
        StoreError: of both.
    """
    least, most = bounds(lake, file, "model_id")
    within = models & set(range(least, most + 1))
    if within and (least != most):
        raise StoreError(
            f"{lake}: the lake was made of a store, with several models in a file; "
            "remove the model there, and export it again"
        )
    return bool(within)
