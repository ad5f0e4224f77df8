"""What a page asks for unless its form says otherwise: the same as its command."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import MISSING
from typing import cast

import pytest
from starlette.datastructures import QueryParams

from sentgen.options import parameters_of
from sentgen.server.operations import operations
from sentgen.server.pages.page import Asking, PageAnswer, PageParameters
from sentgen.server.pages.site import PAGES

#: What is typed into the forms of a page, which has nothing else.
_TYPED = {
    "word": "camp",
    "query": '[lemma="camp"]',
    "by": "",
    "corpus": "relief",
    "against": "others",
    "document": "a b",
    "abstract": "a",
    "file": "a b",
    "words": "a b",
    "text": "a b",
    "name": "relief",
    "pattern": "camp",
    "set": "camp",
    "key": "a b",
    "related": "a b",
}
#: What pages make of that: a lemma, CoNLL-U, and the name of what is counted where nothing else is asked for.
_WRITTEN = {"lemma:camp", "lemma:others", "a b\n\n", "word"}
#: Parts of a page that are turned, and lists beside others, are as long as fits; pictures have what they draw.
_OF_THE_PAGE = {"limit", "offset", "sort", "tree", "trace", "explain", "html", "graph", "negative", "marks"}
_OF_THE_PAGE |= {"places", "all_measures", "sizes"}
#: The lists that a form has a number of rows for.
_LISTS = {"/keyness": "keyness", "/sketch": "sketch", "/thesaurus": "thesaurus", "/vectors": "near"}
_LISTS |= {"/collocations": "collocations"}


#: What there is.
_ROWS = {
    "models": [{"name": "m", "version": 1, "corpora": "relief", "over": "words"}],
    "corpora": [{"corpus": "relief", "documents": 1, "sentences": 1, "tokens": 1}],
}


class Noting:
    """Notes what a page asks for, and answers with nothing."""

    offers_sql, offers_labels, status, path = True, False, 200, "/page"

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, object]]] = []

    async def __call__(self, name: str, /, **values: object) -> PageAnswer:
        self.asked.append((name, values))
        return PageAnswer(rows=_ROWS.get(name, []))

    async def nothing(self) -> None:
        """Ask nothing."""

    def problem(self, text: str, status: int, picture: str = "") -> PageAnswer:
        return PageAnswer(problem=text)


def asked_by(path: str, **more: str) -> list[tuple[str, Mapping[str, object]]]:
    """Return what a page asks for, of what is typed."""
    (page,) = (one for one in PAGES if one.path == path)
    noting = Noting()
    asyncio.run(page.view(cast(Asking, noting), PageParameters(QueryParams({**_TYPED, **more}))))  # type: ignore[arg-type]
    return noting.asked


@pytest.mark.parametrize(
    ("path", "operation", "more"),
    [
        ("/keyness", "keyness", {}),
        ("/collocations", "collocations", {}),
        ("/sketch", "sketch", {}),
        ("/thesaurus", "thesaurus", {}),
        ("/vectors", "near", {}),
        ("/generate", "generate", {}),
        ("/fuse", "fuse", {}),
        ("/regenerate", "regenerate", {"algorithm": "lmo"}),
        ("/align", "align", {}),
        ("/query", "kwic", {}),
        ("/query", "match", {"language": "grew", "query": "pattern { V [] }"}),
        ("/query", "frequencies", {"by": "word"}),
        ("/corpus", "kwic", {"show": "concordance"}),
        ("/corpus", "frequencies", {"show": "frequencies"}),
        ("/corpus", "ngrams", {"show": "ngrams", "words": ""}),
        ("/word", "collocations", {}),
    ],
)
def test_defaults_of_forms_are_those_of_the_declaration(
    path: str, operation: str, more: dict[str, str]
) -> None:
    """A form that is sent as it comes asks for what the command gives without options."""
    declared = parameters_of(operations()[operation].declaration)
    defaults = {one.name: one.default for one in declared if one.default is not MISSING}
    typed = {*_TYPED.values(), *more.values(), *_WRITTEN}
    asked = [values for name, values in asked_by(path, **more) if name == operation]
    turned = _OF_THE_PAGE - ({"limit"} if _LISTS.get(path) == operation else set())

    assert asked
    for values in asked:
        given = {name: value for name, value in values.items() if value not in ("", [], None)}
        if given.get("graph"):
            continue
        for name in defaults.keys() & given.keys() - turned:
            if str(given[name]) in typed or (isinstance(given[name], list) and typed.issuperset(given[name])):
                continue
            usual = "L5-R5" if (operation, name) == ("collocations", "window") else defaults[name]
            assert str(given[name]) == str(usual), (path, name)
