"""A hostile client of MCP gets no more than the API gives."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fort import CANARY, Fort, require_clean, require_problem
from serving import until
from sql_attacks import ATTACKS
from test_http_attacks import BODIES
from test_parameter_attacks import texts, values

from sentgen.server.operations import operations
from sentgen.server.parameters import parameters

pytest.importorskip("mcp", reason="no mcp; install the extra `test`")

from sentgen.server.tools import TOOLS

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}


def send(fort: Fort, body: bytes, **headers: str) -> httpx.Response:
    """Send what may be no request."""
    response = fort.client.post("/mcp", content=body, headers=HEADERS | headers)
    require_clean(response)
    return response


def ask(fort: Fort, name: object, arguments: object) -> dict[str, Any]:
    """Ask a tool; return its result, or the error of the protocol."""
    call = {"name": name, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    answer: dict[str, Any] = send(fort, body.encode("utf-8", "surrogatepass")).json()
    return answer.get("result") or answer["error"]


def refusal(fort: Fort, name: str, arguments: dict[str, Any]) -> str:
    """Return the line with which a tool refuses."""
    result = ask(fort, name, arguments)
    assert result["isError"]
    assert "structuredContent" not in result
    (content,) = result["content"]
    assert "\n" not in content["text"]
    return str(content["text"])


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize("attack", ATTACKS)
def test_sql_attack_is_refused(fort: Fort, attack: str) -> None:
    """The refusal has the line of the API."""
    query = attack.format(file=fort.store, folder=fort.folder)
    line = require_problem(fort.ask(query), 400)["detail"]

    until(lambda: refusal(fort, "sql", {"sql": query}) == line)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_arguments_that_are_none(fort: Fort, body: bytes) -> None:
    """What is no query in JSON is refused by the protocol, or by the tool."""
    head = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sql", "arguments": '
    response = send(fort, head + body + b"}}")

    assert response.status_code in {200, 400}
    told = response.json()
    if "result" in told and not told["result"]["isError"]:
        assert len(told["result"]["structuredContent"]["rows"]) == 1
        # What is left out may be nothing here.
        again = fort.request("POST", "/v1/sql", content=body, headers={"Content-Type": "application/json"})
        assert again.status_code == 200


CASES = [(name, each) for name in TOOLS if name != "sql" for each in texts(operations()[name])]


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_values_stay_values(fort: Fort, listening: str, name: str, parameter: str, nightly: bool) -> None:
    """They are looked up, or refused, as by the API; by day each parameter says some of them."""
    operation = operations()[name]
    is_list = parameters(operation).model_json_schema()["properties"][parameter].get("type") == "array"
    step = 1 if nightly else 9
    for value in values(fort, listening)[CASES.index((name, parameter)) % step :: step]:
        asked = {**operation.example, parameter: [value] if is_list else value}
        result = ask(fort, name, asked)

        if not result["isError"]:
            assert CANARY not in json.dumps(result["structuredContent"]["rows"])


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        "select 1",
        1,
        {"sql": 1},
        {"sql": None},
        {"sql": "select 1", "limit": "many"},
        {"sql": "select 1", "limit": 10**30},
        {"sql": "select 1", "path": "/etc/passwd"},
        {"sql": "select 1", "self": 1, "client": "1.2.3.4"},
        {"sql": "x" * 900_000},
    ],
)
def test_wrong_types(fort: Fort, arguments: object) -> None:
    """What is not as the schema says is an error, and short."""
    result = ask(fort, "sql", arguments)

    assert result.get("isError") or result.get("code") == -32602
    assert len(json.dumps(result)) < 3_000


@pytest.mark.parametrize(
    "name", ["", "nope", "backoff", "line_sets", "regenerate", "__class__", "../sql", 1, None]
)
def test_other_tools(fort: Fort, name: object) -> None:
    """Operations that are no tools are none by their names."""
    assert ask(fort, name, {})["code"] == -32602


@pytest.mark.parametrize(
    "message",
    [
        {"method": "resources/list"},
        {"method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
        {"method": "prompts/get", "params": {"name": "x"}},
        {"method": "logging/setLevel", "params": {"level": "debug"}},
        {"method": "completion/complete", "params": {}},
        {"method": "sampling/createMessage", "params": {}},
        {"method": "tools/list", "params": {"cursor": CANARY[:3] * 10_000}},
        {"method": "tools/call"},
        {"method": "tools/call", "params": []},
        {"method": "x" * 100_000},
        {"method": 1},
        {"method": None, "id": {}},
        {"method": "ping", "id": "x" * 100_000},
        {"result": {}, "id": 1},
        {"method": "notifications/cancelled", "params": {"requestId": 1}},
    ],
)
def test_other_messages(fort: Fort, message: dict[str, Any]) -> None:
    """They are answered, or refused, also many at once, and nothing else comes of them."""
    for body in ({"jsonrpc": "2.0", "id": 1, **message}, {"jsonrpc": "1.0", **message}, [message] * 100):
        assert send(fort, json.dumps(body).encode()).status_code in {200, 202, 400, 404, 413}


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": "1"},
        {"MCP-Protocol-Version": "9999-99-99"},
        {"MCP-Protocol-Version": "2026-07-28"},
        {"Mcp-Session-Id": "x" * 10_000},
        {"Accept": "text/html"},
        {"Content-Type": "text/plain"},
        {"Last-Event-ID": "1"},
    ],
)
def test_headers(fort: Fort, headers: dict[str, str]) -> None:
    """Others are refused, or change nothing."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "corpora"}})

    assert send(fort, body.encode(), **headers).status_code in {200, 400, 404, 406, 415}


def test_a_request_that_is_too_long(fort: Fort) -> None:
    """It is refused where all are, whether it says how long it is or not."""
    for content in (b" " * 2_000_000, iter([b" " * 100_000] * 20)):
        require_problem(fort.client.post("/mcp", content=content, headers=HEADERS), 413)


def test_a_tool_that_wants_everything(fort: Fort) -> None:
    """It is cut at the limits of the server, or ended, and the next one is answered."""
    result = ask(fort, "sql", {"sql": "select * from range(1000000000000)"})
    if not result["isError"]:
        assert len(result["structuredContent"]["rows"]) == 1000
        assert result["structuredContent"]["truncated"]
    assert refusal(
        fort, "sql", {"sql": "select count(*) from v_tokens a, v_tokens b, v_tokens c, range(1000)"}
    )
