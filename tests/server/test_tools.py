"""MCP with its official client: tools give the same answers as the API."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import ROOT, Server

from sentgen.server.operations import operations

pytest.importorskip("mcp", reason="no mcp; install the extra `test`")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

from sentgen.server.tools import TOOLS

#: A question to each tool.
ASKED: dict[str, dict[str, Any]] = {
    "corpora": {},
    "kwic": {"pattern": "lemma:camp", "limit": 3, "sort": "left", "corpus": ["relief"]},
    "match": {"request": "pattern { V -[nsubj]-> S }", "key": ["V.lemma"], "limit": 5},
    "frequencies": {"query": '[upos="ADJ"]', "by": ["lemma"], "limit": 5},
    "collocations": {"word": "water", "window": "3,2", "min_count": 1},
    "ngrams": {"pattern": "the *", "limit": 3},
    "score": {"text": ["the people arrived .", "zyx the camp"], "model": "relief"},
    "sql": {
        "sql": "select ? as a, 'é\u2028<b>' as b, null as c, [1, 2] as d",
        "parameters": ["x"],
        "limit": 2,
    },
}
#: Questions that cannot be answered.
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("sql", {"sql": "drop table word"}),
    ("sql", {"sql": "selec 1"}),
    ("sql", {"sql": "select $x"}),
    ("kwic", {"patern": "camp"}),
    ("kwic", {"pattern": '[word="a" "b"'}),
    ("kwic", {"pattern": "camp", "corpus": ["nope"]}),
    ("ngrams", {}),
    ("ngrams", {"pattern": ["the", "*"]}),
    ("ngrams", {"pattern": "the *", "limit": -1}),
    ("score", {"text": ["a"], "model": "nope"}),
    ("collocations", {"word": "water", "cql": '"water"'}),
]


def over_http(server: Server, talk: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """Talk to a server as the official client does."""

    async def run() -> Any:
        async with Client(f"{server.address}/mcp", mode=mode) as client:
            return await talk(client)

    return asyncio.run(run())


def ask(server: Server, name: str, given: dict[str, Any], mode: str = "auto") -> CallToolResult:
    """Ask one question."""
    result: CallToolResult = over_http(server, lambda client: client.call_tool(name, given), mode)
    return result


def api(client: httpx.Client, name: str, given: dict[str, Any]) -> httpx.Response:
    """Send the same request to the API."""
    operation = operations()[name]
    if operation.method == "POST":
        return client.post(operation.route, json=given)
    return client.get(operation.route, params=given)


def told(result: CallToolResult) -> dict[str, Any]:
    """The answer of a tool, after a check that both of its forms are equal."""
    assert not result.is_error, result.content
    (text,) = result.content
    assert json.loads(text.text) == result.structured_content
    answer: dict[str, Any] = result.structured_content
    return answer


def test_there_are_eight_tools(server: Server) -> None:
    """Each takes what its operation takes, says what that is, and only reads."""
    tools = over_http(server, lambda client: client.list_tools()).tools

    assert [tool.name for tool in tools] == [*TOOLS] == [*ASKED]
    for tool in tools:
        properties = tool.input_schema.get("properties", {})
        assert [*properties] == operations()[tool.name].names()
        assert all("description" in each or "$ref" in each for each in properties.values())
        assert tool.input_schema["additionalProperties"] is False
        assert "x-" not in json.dumps(tool.input_schema)
        assert tool.annotations.read_only_hint


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("name", ASKED)
def test_a_tool_answers_what_the_api_answers(
    server: Server, client: httpx.Client, name: str, mode: str
) -> None:
    """To programs of today and of the years before, with the snapshot and a link."""
    answer = told(ask(server, name, ASKED[name], mode))
    link, snapshot = answer.pop("link"), answer.pop("snapshot")

    assert answer == api(client, name, ASKED[name]).json()
    assert snapshot == client.get("/healthz").json()["snapshot"]
    assert link.startswith(f"{server.address}/answer?")


@pytest.mark.parametrize("name", ASKED)
def test_the_link_shows_the_same_rows(server: Server, client: httpx.Client, name: str) -> None:
    """On a page, with the command, for as long as this snapshot is served."""
    answer = told(ask(server, name, ASKED[name]))
    page = client.get(answer["link"], headers={"Accept": "text/html"})
    later = client.get(answer["link"].replace(answer["snapshot"], "sentgen-0123456789abcdef"))

    assert page.status_code == 200
    assert page.text.count("<tr>") == len(answer["rows"]) + 1
    for row in answer["rows"]:
        for value in row.values():
            if isinstance(value, str) and value.isalnum():
                assert value in page.text
    assert later.status_code == 410


@pytest.mark.parametrize(
    ("query", "status", "problem"),
    [
        ({}, 200, ""),
        ({"ask": "nope"}, 404, "no operation &#39;nope&#39;; there are: corpora, "),
        ({"ask": "backoff", "with": '{"model": "relief", "ngram": "the"}'}, 404, "no operation"),
        ({"ask": "kwic", "with": "[1]"}, 400, "is no object of JSON"),
        ({"ask": "kwic", "with": "{"}, 400, "is no object of JSON"),
        ({"ask": "kwic", "with": "[" * 20_000}, 400, "is no object of JSON"),
        ({"ask": "kwic", "with": '{"patern": 1}'}, 422, "did you mean"),
    ],
)
def test_a_link_that_is_wrong_says_so(
    client: httpx.Client, query: dict[str, str], status: int, problem: str
) -> None:
    """The page shows the error."""
    page = client.get("/answer", params=query, headers={"Accept": "text/html"})

    assert page.status_code == status
    assert problem in page.text
    assert ('role="alert"' in page.text) == bool(problem)


def test_a_page_shows_some_of_many_rows(client: httpx.Client) -> None:
    """The others are on the next ones, and can be sorted, too."""
    asked = {"ask": "sql", "with": json.dumps({"sql": "select range as number from range(450)"})}

    first, last, turned = (
        client.get("/answer", params={**asked, **more}).text
        for more in ({}, {"offset": "400"}, {"sort": "-number"})
    )

    assert [page.count("<tr>") for page in (first, last, turned)] == [201, 51, 201]
    assert ">449<" in last
    assert ">449<" in turned
    assert "450 rows" in first
    assert 'rel="next"' in first
    assert 'rel="next"' not in last


@pytest.mark.parametrize(("name", "given"), REFUSED)
def test_a_refusal_is_an_error_of_the_tool(
    server: Server, client: httpx.Client, name: str, given: dict[str, Any]
) -> None:
    """The error has the line of the API."""
    result = ask(server, name, given)
    # A list in a query string is a parameter that is given twice.
    problem = api(client, name, given).json() if not isinstance(given.get("pattern"), list) else {}

    assert result.is_error
    assert result.structured_content is None
    (text,) = result.content
    assert text.text == problem.get("detail", "pattern: give a text")


def test_an_answer_that_no_model_can_read_is_refused(server: Server, client: httpx.Client) -> None:
    """With what to do; a page or a file has room for it."""
    query = {"sql": "select repeat('x', 1000) as x from range(1100)"}
    result = ask(server, "sql", query)

    assert result.is_error
    assert result.content[0].text.endswith("more than a model can read; ask for less, as with `limit`")
    assert api(client, "sql", query).status_code == 200
    assert len(told(ask(server, "sql", {**query, "limit": 100}))["rows"]) == 100


def test_an_unknown_tool_is_an_error_of_the_protocol(server: Server) -> None:
    """Which says what there is, and not all of a long name."""

    async def mistaken(client: Client) -> str:
        # Inside: the client puts what leaves it into a group.
        with pytest.raises(MCPError) as error:
            await client.call_tool("x" * 1_000, {})
        return str(error.value)

    message = over_http(server, mistaken)

    assert message.startswith(f"no tool '{'x' * 80}… (")
    assert message.endswith(f"; there are: {', '.join(TOOLS)}")


def test_sql_of_tools_is_audited(server: Server) -> None:
    """As that of the API, with the address of who asked."""
    ask(server, "sql", {"sql": "select 'asked by a tool'"})

    (event,) = (one for one in server.events("sentgen.audit") if "by a tool" in one["asked"]["sql"])
    assert (event["status"], event["client"]) == (200, "127.0.0.1")
    assert any(one["route"] == "/mcp" for one in server.events("sentgen.access"))


def test_requests_are_those_of_mcp_alone(client: httpx.Client) -> None:
    """Each is by itself: there is no stream to listen to, and no session to end."""
    assert client.get("/mcp").status_code == client.delete("/mcp").status_code == 405
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream", "Origin": "http://evil.example"}
    assert client.post("/mcp", json=asked, headers=headers).status_code == 403


@pytest.mark.slow
def test_sql_is_left_out_where_it_is_forbidden(published: Path, tmp_path: Path) -> None:
    """As `serve --no-sql` leaves it out: the tool is not there."""
    words = [str(ROOT / "cli.py"), "mcp", "--snapshots", str(published), "--no-sql"]
    command = StdioServerParameters(command=sys.executable, args=words, cwd=tmp_path)

    async def tools() -> list[str]:
        async with Client(stdio_client(command, errlog=log)) as speaking:
            with pytest.raises(MCPError, match="no tool 'sql'"):
                await speaking.call_tool("sql", {"sql": "select 1"})
            return [tool.name for tool in (await speaking.list_tools()).tools]

    with (tmp_path / "log").open("w") as log:
        assert asyncio.run(tools()) == [name for name in TOOLS if name != "sql"]


@pytest.mark.slow
def test_the_same_on_standard_input(
    server: Server, client: httpx.Client, published: Path, tmp_path: Path
) -> None:
    """A program that starts `sentgen mcp` is told the same, with links to the server that was named."""
    words = [str(ROOT / "cli.py"), "mcp", "--snapshots", str(published), "--address", f"{server.address}/"]
    command = StdioServerParameters(command=sys.executable, args=words, cwd=tmp_path)

    async def talk() -> tuple[list[str], list[CallToolResult], CallToolResult]:
        with (tmp_path / "log").open("w") as log:
            async with Client(stdio_client(command, errlog=log)) as speaking:
                return await asked(speaking)

    async def asked(speaking: Client) -> tuple[list[str], list[CallToolResult], CallToolResult]:
        tools = [tool.name for tool in (await speaking.list_tools()).tools]
        answers = [await speaking.call_tool(name, given) for name, given in ASKED.items()]
        return tools, answers, await speaking.call_tool("sql", {"sql": "drop table word"})

    tools, answers, refused = asyncio.run(talk())

    assert tools == [*TOOLS]
    for (name, given), result in zip(ASKED.items(), answers, strict=True):
        assert told(result) == told(ask(server, name, given))
    assert refused.is_error
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [one["status"] for one in events if one["log"] == "sentgen.audit"] == [200, 400]
