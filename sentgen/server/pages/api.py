"""Pages for programmers: SQL, the routes of the API, and the answer to a request of a program.

The page of routes is made from the OpenAPI document; the page of SQL shows the data dictionary.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sentgen.schema import dictionary
from sentgen.server.pages.forms import PageExample
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters
from sentgen.server.routes import AnswerForm

_ROWS = 200


EXAMPLES = (
    PageExample("What the store holds", {"query": "select * from v_corpora order by corpus"}),
    PageExample(
        "The most frequent trigrams inside sentences",
        {
            "query": "select w1, w2, w3, count\nfrom v_ngrams_3\nwhere w1 <> '<s>' and w3 <> '</s>'\n"
            "order by count desc, w1, w2, w3\nlimit 20"
        },
    ),
    PageExample(
        "How long the sentences are",
        {
            "query": "select corpus, count(*) as sentences, median(length) as median,\n"
            "  max(length) as longest\nfrom v_sentences\ngroup by corpus\norder by corpus"
        },
    ),
    PageExample(
        "Modifiers on both sides of the same head",
        {
            "query": "select head, modifier,\n  sum(count) filter (direction = 'left') as before,\n"
            "  sum(count) filter (direction = 'right') as after\nfrom v_dependencies\n"
            "where layer = 'unit' and level = 'word-word'\ngroup by all\nhaving before > 0 and after > 0\n"
            "order by before + after desc, head, modifier\nlimit 20"
        },
    ),
    PageExample(
        "What verbs have as subjects",
        {
            "query": "select h.lemma as verb, t.lemma as subject, count(*) as count\nfrom v_tokens as t\n"
            "join v_tokens as h on h.sentence_id = t.sentence_id and h.position = t.head\n"
            "where t.deprel = 'nsubj' and h.upos = 'VERB'\ngroup by all\norder by count desc, verb, subject\n"
            "limit 20"
        },
    ),
    PageExample(
        "Where models back off: the lowest weights",
        {
            "query": "select model, version, n, ngram, log10_backoff\nfrom v_model_ngrams\nwhere n = 2\n"
            "order by log10_backoff, model, version, ngram\nlimit 20"
        },
    ),
)


async def _sql(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    text, part = query.raw("query").strip(), ListPart("/sql", query, _ROWS)
    # In a thread: the first call makes a store in memory, which would block all requests.
    relations = await asyncio.to_thread(dictionary.relations)
    return {
        "text": text,
        "part": part,
        "answer": await _rows(ask, text, part) if text else None,
        "examples": EXAMPLES,
        "relations": relations,
    }


async def _rows(ask: Asking, text: str, part: ListPart) -> PageAnswer:
    """Ask for the rows up to the last one shown; if they are to be sorted, for all rows."""
    answer = await ask("sql", sql=text, limit=0 if part.sort else part.offset + part.rows)
    if part.sort and answer.truncated:
        return ask.problem("there are more rows than can be sorted here; write: order by", 400)
    return part.cut(answer)


ANSWER = "/answer"


async def _answer(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask the operation in `ask` again, with the parameters in `with`, a JSON object."""
    name, part = query.text("ask"), ListPart(ANSWER, query, _ROWS)
    operation, given = ask.offered.get(name), _given(query.raw("with"))
    if not name:
        answer = None
    elif operation is None:
        answer = ask.problem(f"no operation {name!r}; there are: {', '.join(ask.offered)}", 404)
    elif given is None:
        answer = ask.problem("`with` is no object of JSON; take the link as the program gave it", 400)
    else:
        answer = await ask(name, **given)
        if operation.method == "POST":
            # The API has no address for the answers of POST, and this page sends no files of its own.
            answer = replace(answer, files={})
    return {
        "summary": operation.summary if operation else "",
        "answer": answer,
        # Not marked as truncated: the page shows only rows that the program asked for.
        "shown": part.cut(replace(answer, truncated=False)) if answer else None,
        "part": part,
    }


def _given(text: str) -> dict[str, object] | None:
    """Parse the parameters; ``None`` if they are no JSON object."""
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


DOCS = "/v1/docs"
#: Names of types of values for readers.
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
    "null": "nothing",
}


@dataclass(frozen=True, slots=True)
class _Taken:
    """A parameter as the page shows it."""

    name: str
    kind: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """A route as the page shows it."""

    method: str
    path: str
    summary: str
    description: str
    taken: tuple[_Taken, ...]
    example: str


async def _api(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Return the routes of the OpenAPI document, with an example of each operation."""
    document = ask.document
    return {
        "about": document["info"]["description"],
        "common": [*_taken(document["paths"]["/v1/corpora"]["get"], document)],
        "endpoints": [
            _endpoint(ask, method, path, described)
            for path, methods in document["paths"].items()
            for method, described in methods.items()
        ],
        "needs_token": "security" in document,
    }


def _endpoint(ask: Asking, method: str, path: str, described: Mapping[str, Any]) -> _Endpoint:
    operation = ask.offered.get(described["operationId"])
    common = AnswerForm.model_fields if operation else {}
    example = dict(operation.example) if operation else {}
    return _Endpoint(
        method.upper(),
        path,
        described["summary"],
        described.get("description", ""),
        tuple(each for each in _taken(described, ask.document) if each.name not in common),
        _curl(ask.address, method, path, example),
    )


def _taken(described: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[_Taken]:
    """Yield the parameters of a route: of its path, its query, and its body."""
    for each in described.get("parameters", ()):
        yield _described(each["name"], each, each["schema"], document, needed=each.get("required", False))
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        schema = _resolved(body, document)
        for name, about in schema.get("properties", {}).items():
            yield _described(name, about, about, document, needed=name in schema.get("required", ()))


def _described(
    name: str,
    about: Mapping[str, Any],
    schema: Mapping[str, Any],
    document: Mapping[str, Any],
    *,
    needed: bool,
) -> _Taken:
    default = schema.get("default")
    shown = "needed" if needed else "" if default in (None, "", []) else json.dumps(default)
    return _Taken(name, _kind(schema, document), shown, about.get("description", ""))


def _kind(schema: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return the types of the values of a schema, in words.

    >>> _kind({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}, {})
    'whole number or list of text'
    """
    schema = _resolved(schema, document)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        kinds = [_kind(each, document) for each in schema["anyOf"] if each != {"type": "null"}]
        return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}), document)}"
    return _KINDS.get(kind, str(kind))


def _resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema, or the schema that it refers to."""
    while "$ref" in schema:
        resolved: Mapping[str, Any] = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            resolved = resolved[part]
        schema = resolved
    return schema


def _curl(address: str, method: str, path: str, example: dict[str, Any]) -> str:
    """Return a command line of curl for a request."""
    for name in [name for name in example if f"{{{name}}}" in path]:
        path = path.replace(f"{{{name}}}", str(example.pop(name)))
    words = ["curl", address + path]
    if method == "post":
        body = json.dumps(example, ensure_ascii=False)
        words += ["-H", "Content-Type: application/json", "-d", body]
    elif example:
        words[1:1] = ["-G"]
        for name, value in example.items():
            words += ["--data-urlencode", f"{name}={value}"]
    return shlex.join(words)


PAGES = (
    Page("/sql", "SQL", "sql.html.j2", _sql, asks=("sql",)),
    Page(ANSWER, "", "answer.html.j2", _answer),
    Page(DOCS, "", "api.html.j2", _api),
)
