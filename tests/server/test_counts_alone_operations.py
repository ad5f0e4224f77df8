"""Operations on a lake that was counted: what needs sentences is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from counted_lake import counted_lake
from serving import declaration

from sentgen.errors import NotFoundError
from sentgen.schema import Store
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Store]]:
    """The lake, open."""
    path = counted_lake(tmp_path_factory.mktemp("counted"))
    with Store(path, read_only=True) as store:
        yield path, store


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("kwic", {"pattern": "camp", "marks": True}),
        ("kwic", {"pattern": "camp", "places": True}),
        ("match", {"request": "pattern { V [upos=VERB] }"}),
        ("frequencies", {"by": ["genre"]}),
        ("collocations", {"word": "camp"}),
        ("sketch", {"word": "camp"}),
        ("thesaurus", {"word": "camp"}),
        ("hits", {"word": "camp", "other": "the", "role": "collocate"}),
    ],
)
def test_what_needs_sentences_is_refused(
    name: str, asked: dict[str, Any], lake: tuple[Path, Store], opening: Opening
) -> None:
    """The same refusal as of the commands, for the API and the pages."""
    operation, (path, store) = operations()[name], lake
    context = Context(replace(opening, store=str(path)), store)
    parameters = declaration(name, **asked)
    with pytest.raises(NotFoundError, match="this lake holds counts, no sentences"):
        operation.run(context, parameters)
