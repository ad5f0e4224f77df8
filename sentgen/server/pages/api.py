"""API: its routes with what each takes, as the OpenAPI document tells it to programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sentgen.server.pages.page import Asking, Page, PageParameters
from sentgen.server.routes import AnswerForm

PATH = "/v1/docs"
#: How values are called where people read it.
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


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Read the document, with an example of each operation."""
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
    for one in described.get("parameters", ()):
        yield _described(one["name"], one, one["schema"], document, needed=one.get("required", False))
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
    """Say what values there are.

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
    """Return a schema, or what it refers to."""
    while "$ref" in schema:
        found: Mapping[str, Any] = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def _curl(address: str, method: str, path: str, example: dict[str, Any]) -> str:
    """Return a command that asks."""
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


PAGES = (Page(PATH, "", "api.html.j2", _view),)
