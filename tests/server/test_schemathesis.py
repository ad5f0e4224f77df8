"""The API does what its OpenAPI document says, whatever it is asked: schemathesis invents the requests."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving import Server

from sentgen.server.operations import operations

#: Invented requests for each route, always the same ones; by day a quarter of them.
EXAMPLES = {"lookup": 25, "compute": 6, "sql": 25, "desk": 25}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ROUTES = [operation for operation in operations().values() if operation.api]


@pytest.fixture(scope="session")
def document(server: Server) -> Any:
    """The document, read from the running server."""
    return schemathesis.openapi.from_dict(server.client.get("/v1/openapi.json").json())


@pytest.mark.parametrize("name", [operation.name for operation in ROUTES])
def test_route_keeps_its_word(server: Server, document: Any, name: str, nightly: bool) -> None:
    """No 500; status, media type and body are among those that the document tells."""
    operation = operations()[name]
    requests = document[operation.route][operation.method].as_strategy()

    @hypothesis.settings(
        max_examples=EXAMPLES[operation.kind] // (1 if nightly else 4),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=requests)
    def ask(case: Any) -> None:
        response = case.call(base_url=server.address)
        case.validate_response(response, checks=CHECKS)

    ask()


def test_document_tells_all_routes(server: Server) -> None:
    """Each operation of the API is in it, with an example that works."""
    paths = server.client.get("/v1/openapi.json").json()["paths"]

    assert {path for path in paths if path.startswith("/v1/")} == {operation.route for operation in ROUTES}
