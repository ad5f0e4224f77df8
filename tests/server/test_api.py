"""The API answers what the command line answers."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import MISSING
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator
from serving import CLUSTER, RELATED, Server, declaration

from sentgen.alignment.texts import json_schema
from sentgen.cli import build, main
from sentgen.options import parameters_of
from sentgen.schema.manifests import Snapshot
from sentgen.server.app import _application
from sentgen.server.operations import Kind, operations
from sentgen.server.operations.operation import Operation
from sentgen.server.pool import Health
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings

DOCUMENT = "Heavy rain flooded the camp on Monday. Trucks brought water to the people there."
ABSTRACT = "Trucks brought clean water to the flooded camp."
BAG = "[the trucks] reached [the city] ."

#: Name of an operation and parameters; of every operation, its defaults and what changes its answer.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("corpora", {}),
    ("saved", {}),
    *((name, {}) for name in ("formats", "algorithms", "aligners", "scorers")),
    ("corpus", {"name": "relief"}),
    ("corpus", {"name": "relief", "rejected": True}),
    ("line_sets", {}),
    ("lines", {"name": "camp", "labeler": "ann", "label": "?", "sort": "right", "limit": 3}),
    ("lines", {"name": "camp", "show": ["document", "lemma"], "sort": "length", "limit": 3}),
    ("lines_report", {"name": "camp"}),
    ("lines_report", {"name": "camp", "by": "document"}),
    ("subcorpora", {}),
    ("subcorpus", {"name": "short"}),
    ("vectors", {}),
    ("near", {"word": "camp", "limit": 3}),
    ("near", {"word": "heavy rain", "vectors": "company", "min_count": 3, "limit": 4}),
    ("models", {}),
    ("model", {"name": "relief@1"}),
    ("ngrams", {"pattern": "the *"}),
    ("ngrams", {"pattern": "in the *", "min_count": 2, "corpus": ["relief"], "limit": 3}),
    ("ngrams", {"pattern": "no such words"}),
    ("ngrams", {"pattern": "ADJ *", "by": "upos", "words": True, "min_documents": 2}),
    ("ngrams", {"pattern": "The *", "ignore_case": True}),
    ("dependencies", {"head": "arrived"}),
    ("dependencies", {"head": "camp", "reverse": True, "tag": "NN", "layer": "unit"}),
    ("dependencies", {"head": "arrived", "modifier": "trucks", "explain": True}),
    ("dependencies", {"head": "VBD", "modifier": "NN", "level": "tag-tag"}),
    ("arguments", {"word": "*", "tag": "VBD", "limit": 5}),
    ("kwic", {"pattern": "camp", "sort": "left", "context": 3}),
    ("kwic", {"pattern": "lemma:CAMP", "ignore_case": True}),
    ("kwic", {"pattern": "upos:VERB", "random": 7, "limit": 4}),
    ("kwic", {"cql": '[upos="ADJ"]+ [upos="NOUN"]', "strategy": "longest", "sort": "right", "limit": 4}),
    ("kwic", {"pattern": '[lemma="camp"]', "count": True}),
    ("kwic", {"pattern": "lemma:camp", "places": True, "limit": 3}),
    ("kwic", {"pattern": '[lemma="no such"]'}),
    ("kwic", {"pattern": "lemma:camp", "where": "document in (relief-003, relief-004)"}),
    ("ngrams", {"pattern": "the *", "where": "length < 15", "limit": 4}),
    ("kwic", {"pattern": "lemma:camp", "corpus": ["short"]}),
    ("frequencies", {"by": ["lemma"], "pattern": "re*", "limit": 10}),
    ("frequencies", {"query": 'a:[upos="ADJ"] []', "by": ["a.lemma"], "limit": 5}),
    (
        "frequencies",
        {"query": 'a:[upos="ADJ"] []', "by": ["a.lemma", "match.word,matchend.upos"], "limit": 5},
    ),
    ("collocations", {"cql": '"the" [lemma="camp"]', "window": "3", "limit": 5}),
    ("collocations", {"word": "water", "window": "3,2", "measure": "pmi", "min_count": 1}),
    ("kwic", {"pattern": '[xpos="JJ.*"]+ [lemma="camp"]', "strategy": "longest"}),
    ("kwic", {"cql": '"the" []{0,2} "camp" within <s/>', "sort": "right", "limit": 5}),
    ("kwic", {"cql": '"camp"', "count": True}),
    ("kwic", {"cql": '"[.]" "The"', "across": True, "context": "2s", "limit": 5}),
    ("kwic", {"pattern": 'MU(meet "camp" "the" s)', "dialect": "cqp", "context": 4, "sort": "left"}),
    ("kwic", {"pattern": "lemma:camp", "sort": "document,typical", "explain": True}),
    ("kwic", {"pattern": "lemma:camp", "sort": "-1L,2R%c,length", "show": ["length"], "dedupe": True}),
    (
        "kwic",
        {
            "pattern": "lemma:camp",
            "filter": ['[upos="NUM"]', "on"],
            "within": ["10L", "not 5"],
            "sample": 3,
            "seed": 2,
        },
    ),
    ("frequencies", {"query": "the", "by": ["document"], "compare": True, "limit": 5}),
    ("frequencies", {"query": "the", "by": ["length/5"]}),
    ("frequencies", {"query": "lemma:camp", "filter": ["the", "on"], "within": ["3"]}),
    ("collocations", {"word": "lemma:camp", "filter": ["the"], "within": ["not 3"], "min_count": 1}),
    ("match", {"request": "pattern { V -[nsubj]-> S }", "sort": "node,1R", "limit": 5}),
    ("thesaurus", {"word": "lemma:camp", "min_count": 1, "limit": 5}),
    ("frequencies", {"query": '"[.]" []', "by": ["matchend.upos"], "across": True}),
    ("collocations", {"cql": '"[.]" "the"', "dialect": "blacklab", "min_count": 1, "limit": 5}),
    ("frequencies", {"query": 'a:[xpos="JJ"] "camp"', "by": ["a.lemma"]}),
    ("collocations", {"cql": '[lemma="camp"] [xpos="IN"]', "strategy": "shortest", "limit": 5}),
    ("match", {"request": "pattern { V [xpos=/VB.*/]; V -[nsubj]-> S }", "limit": 5, "context": 3}),
    ("match", {"request": "pattern { e: V -> S }", "random": 3, "corpus": ["relief"], "marks": True}),
    ("match", {"request": "pattern { V -[nsubj]-> S }", "count": True}),
    (
        "match",
        {"request": "pattern { V -[nsubj]-> S }", "key": ["V.lemma", "S#V"], "whether": ["V -[obj]-> O"]},
    ),
    ("sketch", {"word": "lemma:arrive", "min_count": 1, "limit": 2}),
    ("collocations", {"word": "lemma:arrive", "dependency": "nsubj", "by": "lemma", "min_count": 1}),
    ("score", {"text": ["the people arrived .", "zyx the camp"], "model": "relief"}),
    ("score", {"text": ["The people arrived. They left."], "model": "relief", "tokenize": True}),
    ("score", {"text": ["The People\narrived"], "model": "relief", "lowercase": True, "totals": True}),
    ("score", {"corpus": ["relief"], "model": "relief", "by": "document", "where": "length < 14"}),
    ("compare_models", {"models": "relief,relief@1", "corpus": "relief"}),
    ("compare_models", {"models": "relief", "test": "the people arrived .\n", "format": "lines", "seed": 3}),
    ("regenerate", {"bag": [BAG, "people the"], "model": "relief", "algorithm": "lmo", "order": 3}),
    ("regenerate", {"bag": [BAG], "model": "relief", "algorithm": "ab", "tree": True, "nbest": 2}),
    ("regenerate", {"bag": [BAG], "model": "relief", "algorithm": "ab", "explain": True}),
    (
        "regenerate",
        {"bag": ["saw [people* in camps]"], "model": "relief", "algorithm": "prim", "explain": True},
    ),
    (
        "regenerate",
        {"bag": [BAG], "model": "relief", "algorithm": "prim", "verb_root": False, "units": "word"},
    ),
    ("generate", {"file": CLUSTER, "lengths": "2-4", "punct": False, "tree": True, "trace": True}),
    ("generate", {"corpus": "relief", "cluster": ["relief-001"], "lengths": "3", "lm": "relief", "beam": 8}),
    ("fuse", {"key": 1, "related": RELATED, "nbest": 2}),
    ("fuse", {"key": "1", "related": RELATED, "algorithm": "depviterbi", "weight": 0.3, "words": 3}),
    ("fuse", {"key": 1, "related": RELATED, "model": "relief", "algorithm": "lmo"}),
    ("check", {"summary": CLUSTER, "against": CLUSTER.replace("camps", "huts"), "lemmas": True}),
    ("check", {"summary": CLUSTER, "against": CLUSTER.replace("camps", "tents"), "other_words": True}),
    ("align", {"document": DOCUMENT, "abstract": ABSTRACT}),
    ("align", {"document": DOCUMENT, "abstract": ABSTRACT, "decode": "posterior", "threshold": 0.5}),
    ("align", {"document": DOCUMENT, "abstract": ABSTRACT, "system": "cut-and-paste"}),
    ("align", {"document": DOCUMENT, "abstract": ABSTRACT, "preset": "paper", "explain": True}),
    (
        "align",
        {
            "pairs": [
                {"document": DOCUMENT, "abstract": ABSTRACT},
                {"document": ABSTRACT, "abstract": "The camp."},
            ],
            "decode": "posterior",
        },
    ),
    ("sql", {"sql": "select w1, count from v_ngrams_1 order by count desc, w1 limit 3"}),
    ("sql", {"sql": "select ? as a, ? as b, ? as c, ? as d", "parameters": ["5", 5, "it's = true", None]}),
    ("sql", {"sql": "select $word as w, $on as o", "parameters": {"word": '"x"', "on": True}}),
    ("sql", {"sql": "select 1.5::decimal(3,1) as d, date '2026-01-02' as t, [1, 2] as l, null as n"}),
]


def ask(client: httpx.Client, operation: Operation, values: dict[str, Any], **more: Any) -> httpx.Response:
    """Send a request for an operation, with parameters in the path, query or body."""
    inside = {name: value for name, value in values.items() if f"{{{name}}}" in operation.path}
    route = operation.route.format(**inside)
    rest = {name: value for name, value in values.items() if name not in inside}
    if operation.method == "GET":
        return client.get(route, params={**rest, **more.pop("params", {})}, **more)
    return client.post(route, json=rest, **more)


@pytest.fixture
def sentgen(
    published: Path,
    desk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[[str], str]:
    """Run a command line over the snapshot of the demo store and return what it prints."""
    monkeypatch.setenv("SENTGEN_DB", str(Snapshot.newest(published).path))
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        capsys.readouterr()
        words = shlex.split(line)
        at = ["--desk", str(desk)] if words[1] == "lines" else []
        monkeypatch.setattr("sys.argv", [*words, *at])
        with contextlib.suppress(SystemExit):
            main()
        return capsys.readouterr().out

    return run


@pytest.mark.nightly(by_day=10)
@pytest.mark.parametrize(("name", "values"), CASES)
def test_the_command_in_an_answer_gives_its_rows(
    client: httpx.Client,
    sentgen: Callable[[str], str],
    tmp_path: Path,
    name: str,
    values: dict[str, Any],
) -> None:
    """Every answer names a command line; with --json, that prints the same rows, if as many are asked for."""
    for file in (one.option.file for one in parameters_of(operations()[name].declaration) if one.option.file):
        (tmp_path / file).write_text(str(values.get(file, "")))
    for number, pair in enumerate(values.get("pairs", ()), 1):
        for file, text in pair.items():
            (tmp_path / f"{file}-{number}").write_text(text)

    answer = ask(client, operations()[name], values)

    assert answer.status_code == 200, answer.text
    rows, command = answer.json()["rows"], answer.json()["command"]
    if name == "align":  # an object for each of its commands
        alone = [{key: row[key] for key in row if key not in ("id", "error")} for row in rows]
        assert [json.loads(sentgen(f"{line} --json")) for line in command.splitlines()] == alone
    else:
        if "--limit" not in command:
            # For programs, commands give all rows.
            limits = [one.default for one in parameters_of(operations()[name].declaration) if one.option.rows]
            command += "".join(f" --limit {limit}" for limit in limits if limit)
        assert json.loads(sentgen(f"{command} --json")) == rows


def test_lines_have_the_labels_of_everybody_whoever_runs_the_command(
    client: httpx.Client, sentgen: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command is of the labeler who runs it, unless its line says else; 6 of 15 lines have a label."""
    monkeypatch.setenv("LOGNAME", "ann")

    answer = client.get("/v1/lines/camp", params={"label": "?"}).json()

    assert len(answer["rows"]) == 9
    assert answer["command"] == "sentgen lines list camp --label '?' --labeler '*'"
    assert json.loads(sentgen(f"{answer['command']} --json")) == answer["rows"]
    assert len(json.loads(sentgen("sentgen lines list camp --label '?' --json"))) == 11


def test_every_operation_is_compared() -> None:
    """None is missing above; two corpora are in test_keyness_operation, labels in pages/test_line_sets_page."""
    elsewhere = {"keyness", "new_lines", "label_lines", "undo_labels"}
    compared = {name for name, _ in CASES} | elsewhere
    assert {name for name, one in operations().items() if one.api} == compared


@pytest.mark.parametrize("name", [name for name, one in operations().items() if one.api])
def test_parameters_are_options_of_the_command(name: str) -> None:
    """What the API takes, the command takes, with the same default."""
    operation = operations()[name]
    options = _defaults(operation.command.split())
    for one in parameters_of(operation.declaration):
        # The former change no rows, and a batch has a command for each of its items.
        if one.option.line in ("hidden", "each"):
            continue
        renamed = {"sql": "query", "parameters": "param"} if name == "sql" else {}
        told = options[renamed.get(one.name, one.name)]
        if one.option.rows and told is None:
            continue  # as many in tables, all for programs
        assert one.default is MISSING or (one.default or None) == (told or None), one.name


def _defaults(words: list[str]) -> dict[str, Any]:
    """The parameters of a command with their defaults."""
    import typer.main

    found: Any = typer.main.get_command(build())
    for word in words:
        found = found.load(word)
    return {parameter.name: parameter.default for parameter in found.params}


@pytest.mark.parametrize(
    ("accept", "query", "kind"),
    [
        ("text/csv", {}, "text/csv; charset=utf-8"),
        ("", {"format": "tsv"}, "text/tab-separated-values; charset=utf-8"),
        ("application/jsonl", {}, "application/jsonl"),
        ("text/csv", {"format": "json"}, "application/json"),
        ("text/html", {}, "application/json"),
    ],
)
def test_formats(client: httpx.Client, accept: str, query: dict[str, str], kind: str) -> None:
    """The format is what the query says, else what the Accept header prefers, else JSON."""
    answer = client.get("/v1/ngrams", params={"pattern": "the *", **query}, headers={"accept": accept})

    assert answer.headers["content-type"] == kind
    assert answer.headers["sentgen-rows"] == "20"
    assert answer.headers["sentgen-truncated"] == "true"


def test_every_format_has_the_rows_of_json(client: httpx.Client) -> None:
    """Every format has the same rows."""
    asked = {"pattern": "the *", "limit": 3}
    rows = client.get("/v1/ngrams", params=asked).json()["rows"]

    parquet = client.get("/v1/ngrams", params={**asked, "format": "parquet"}).content
    csv = client.get("/v1/ngrams", params={**asked, "format": "csv"}).text
    arrow = client.get("/v1/ngrams", params=asked, headers={"Accept": "application/vnd.apache.arrow.stream"})

    assert pq.read_table(io.BytesIO(parquet)).to_pylist() == rows
    assert pa.ipc.open_stream(arrow.content).read_all().to_pylist() == rows
    assert arrow.headers["content-type"] == "application/vnd.apache.arrow.stream"
    assert csv.splitlines()[1].split(",")[:3] == [rows[0]["w1"], rows[0]["w2"], str(rows[0]["count"])]


@pytest.mark.parametrize(
    ("method", "path", "asked", "status", "kind", "detail"),
    [
        ("GET", "/v1/corpora/nope", None, 404, "not-found", "no corpus 'nope'; there are: relief"),
        ("GET", "/v1/ngrams", {"pattern": "a b c d e f"}, 400, "input", "6 words"),
        (
            "GET",
            "/v1/match",
            {"request": "pattern { V [] }", "key": "meta.corpsu"},
            400,
            "input",
            "no metadata 'meta.corpsu'; did you mean corpus?",
        ),
        ("GET", "/v1/frequencies", {"by": "lema"}, 400, "input", "no attribute 'lema'; did you mean lemma?"),
        ("GET", "/v1/ngrams", {}, 422, "parameters", "pattern: is missing"),
        ("GET", "/v1/ngrams", {"patern": "a"}, 422, "parameters", "did you mean pattern?"),
        ("GET", "/v1/ngrams", {"pattern": "a", "fromat": "csv"}, 422, "parameters", "did you mean format?"),
        ("POST", "/v1/score", {"txt": ["a"], "model": "x"}, 422, "parameters", "did you mean text?"),
        ("GET", "/v1/ngrams", {"pattern": "a", "limit": -1}, 422, "parameters", "limit"),
        ("POST", "/v1/sql", {"sql": "drop table word"}, 400, "query-rejected", "only SELECT"),
        ("POST", "/v1/sql", {"sql": "selec 1"}, 400, "query-rejected", "syntax error"),
        ("POST", "/v1/score", {"text": ["a"], "model": "nope"}, 404, "not-found", "there are: relief@1"),
        ("POST", "/v1/regenerate", {"bag": ["a"], "model": "relief", "algorithm": "x"}, 400, "input", "x"),
        ("GET", "/nope", None, 404, "no-such-route", "there is nothing here"),
        ("DELETE", "/v1/corpora", None, 405, "method", "this method is not for this path"),
    ],
)
def test_errors_are_problems(
    client: httpx.Client, method: str, path: str, asked: Any, status: int, kind: str, detail: str
) -> None:
    """Errors are problem documents of RFC 9457, with the messages of the command line."""
    body = {"json": asked} if method == "POST" else {"params": asked}

    answer = client.request(method, path, **body)

    problem = answer.json()
    assert answer.status_code == problem["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == f"urn:sentgen:problem:{kind}"
    assert detail in problem["detail"]


@pytest.mark.parametrize(
    ("path", "asked", "line", "column", "picture"),
    [
        ("kwic", {"pattern": '[word="a" "b"'}, 1, 11, '  [word="a" "b"\n            ^'),
        ("frequencies", {"query": '[upos="X"'}, 1, 10, '  [upos="X"\n           ^'),
        ("match", {"request": "pattern {\n  V -[nsubj-> S }"}, 2, 13, "    V -[nsubj-> S }\n              ^"),
        ("match", {"request": "pattern { V [] }", "key": ["V.lemma V"]}, 1, 9, "  V.lemma V\n          ^"),
    ],
)
def test_a_query_that_cannot_be_read_says_where(
    client: httpx.Client, path: str, asked: dict[str, Any], line: int, column: int, picture: str
) -> None:
    """The problem has line and column of the character, and a picture of it."""
    problem = client.get(f"/v1/{path}", params=asked).json()

    assert (problem["status"], problem["line"], problem["column"]) == (400, line, column)
    assert problem["picture"] == picture
    assert "expected" in problem["detail"]


def test_other_problems_have_no_place(client: httpx.Client) -> None:
    """Only a query that cannot be read has one."""
    assert set(client.get("/v1/kwic", params={"pattern": ""}).json()) == {"type", "title", "status", "detail"}


@pytest.mark.parametrize("more", [{}, {"random": 3}, {"sort": "left"}, {"strategy": "longest"}])
def test_a_concordance_tells_its_tokens(client: httpx.Client, more: dict[str, Any]) -> None:
    """The forms at these positions are the node; rows, command and SQL are those without marks."""
    asked = {"cql": '[xpos="JJ"]+ [upos="NOUN"]', "limit": 8, **more}
    plain = client.get("/v1/kwic", params=asked).json()
    answer = client.get("/v1/kwic", params=asked | {"marks": True}).json()
    marks, words = answer["more"].pop("marks"), answer["more"].pop("sorted")

    assert answer == plain
    assert words == ([["1L", 1], ["2L", 2], ["3L", 3]] if "sort" in more else [])
    assert len(marks) == 8
    for one, row in zip(marks, plain["rows"], strict=True):
        # Where lines are sorted by no words, their texts are in no parts.
        assert set(one) == {"positions", *(("left", "right") if "sort" in more else ())}
        for side in ("left", "right") if "sort" in more else ():
            assert "".join(text for text, _ in one[side]) == row[side]
            nearest = [text for text, level in one[side] if level == 1]
            assert nearest == (row["left"].split()[-1:] if side == "left" else [])
        form = "select string_agg(form, ' ' order by position) as form from v_tokens where sent_id = ?"
        among = f"{form} and position in ({', '.join(map(str, one['positions']))})"
        told = client.post("/v1/sql", json={"sql": among, "parameters": [row["sent_id"]]}).json()
        assert told["rows"][0]["form"] == row["node"]


def test_a_match_tells_its_nodes_and_its_sentences(client: httpx.Client) -> None:
    """Marks cut the text of the node into its parts; CoNLL-U has the sentence of each hit once."""
    asked = {
        "request": "pattern { V -[nsubj]-> S; S -[det]-> D }",
        "limit": 20,
        "marks": True,
        "conllu": True,
    }
    answer = client.get("/v1/match", params=asked).json()
    marks, conllu = answer["more"]["marks"], answer["more"]["conllu"]

    assert len(marks) == len(answer["rows"]) == 20
    for one, row in zip(marks, answer["rows"], strict=True):
        assert "".join(text for text, _ in one["parts"]) == row["node"]
        told = {f"{name}={text}@{one['positions'][name]}" for text, name in one["parts"] if name}
        assert told == set(row["nodes"].split())
    sentences = [line for line in conllu.splitlines() if line.startswith("# sent_id = ")]
    assert sentences == list(dict.fromkeys(f"# sent_id = {row['sent_id']}" for row in answer["rows"]))


def test_pairs_are_aligned_each_by_itself(client: httpx.Client) -> None:
    """A batch gives what its pairs give alone, in their order, beside the id of each."""
    pairs = [{"document": DOCUMENT, "abstract": ABSTRACT}, {"document": ABSTRACT, "abstract": "The camp."}]

    named = [pairs[0] | {"id": "news 1"}, pairs[1] | {"id": 2}]
    batch = client.post("/v1/align", json={"pairs": named}).json()

    alone = [client.post("/v1/align", json=pair).json()["rows"][0] for pair in pairs]
    ids = [{"id": "news 1", "error": None}, {"id": 2, "error": None}]
    assert batch["rows"] == [{**one, **row} for one, row in zip(ids, alone, strict=True)]
    for row in alone:
        Draft202012Validator(json_schema()).validate(row)


@pytest.mark.parametrize(
    ("wrong", "more", "message"),
    [
        ({"document": ""}, {}, "document: is empty"),
        ({"abstract": " \n\n"}, {}, "abstract: is empty"),
        ({"document": "a " * 20_001}, {}, "document: has 20,001 words; at most 20,000 are taken"),
        ({"document": "a " * 5000, "abstract": "a " * 5000}, {}, "the texts have 5,000 x 5,000 words"),
        ({"document": "1\tTrucks\n\n"}, {"format": "conllu"}, "document:1: "),
    ],
)
def test_a_pair_that_cannot_be_aligned_fails_alone(
    client: httpx.Client, wrong: dict[str, str], more: dict[str, str], message: str
) -> None:
    """Its row has the reason and its id, and the others have answers; a single such pair is refused."""
    good = {"document": CLUSTER, "abstract": CLUSTER} if more else {"document": "a b", "abstract": "a"}
    pairs = [good | {"id": "x"}, good | wrong | {"id": "y"}, good]

    first, failed, last = client.post("/v1/align", json={"pairs": pairs, **more}).json()["rows"]
    only = client.post("/v1/align", json={"pairs": pairs[1:2], **more})

    assert [first["id"], first["error"], last["id"], last["error"]] == ["x", None, None, None]
    assert first["abstract"] == last["abstract"] == [one["word"] for one in first["words"]] != []
    assert (failed["id"], failed["phrases"], failed["words"], failed["version"]) == ("y", None, None, None)
    told = client.get("/v1/openapi.json").json()["paths"]["/v1/align"]["post"]["responses"]["200"]["content"]
    described = Draft202012Validator(told["application/json"]["schema"]["properties"]["rows"]["items"])
    for row in (first, failed, last, *only.json()["rows"]):
        described.validate(row)
    assert not described.is_valid({"words": [{"word": "a", "state": "gone"}]})
    assert failed["error"].startswith(message)
    assert only.json()["rows"] == [{"id": "y", "error": failed["error"]}]
    assert client.post("/v1/align", json=good | wrong | more).json()["detail"] == failed["error"]


def test_fusion_tells_where_each_word_is_from(client: httpx.Client) -> None:
    """Words with their sentence, 0 for the key, what was done to it, and the sentences as they were read."""
    answer = client.post("/v1/fuse", json={"key": "1", "related": RELATED}).json()
    words, sources = answer["more"]["words"], answer["more"]["sources"]

    assert answer["rows"][0]["sentence"] == "Trucks reached survivors of the earthquake in Sarkesh ."
    assert [(one["word"], one["sentence"]) for one in words if one["sentence"]] == [("in", 1), ("Sarkesh", 1)]
    for one in words:
        assert sources[one["sentence"]][one["source_place"] - 1] == one["source_word"]
    (change,) = answer["more"]["changes"]
    assert (change["kind"], change["text"], change["sentence"]) == ("added", "in Sarkesh", 1)


def test_fusion_reads_no_file(client: httpx.Client, tmp_path: Path) -> None:
    """A key that is the name of one is a text for a parser, which this server has not."""
    path = tmp_path / "key.conllu"
    path.write_text(RELATED.partition("\n\n")[0] + "\n\n")

    answer = client.post("/v1/fuse", json={"key": str(path), "related": RELATED})

    assert answer.status_code == 400
    assert "the server's parser" in answer.json()["detail"]


def test_a_key_may_be_sent_itself(client: httpx.Client) -> None:
    """As CoNLL-U, beside the others: the answer is that to its number among them."""
    key, _, related = RELATED.partition("\n\n")

    alone = client.post("/v1/fuse", json={"key": key, "related": related}).json()

    assert alone["rows"] == client.post("/v1/fuse", json={"key": "1", "related": RELATED}).json()["rows"]


def test_what_is_wrong_with_a_whole_batch_is_told_once(client: httpx.Client) -> None:
    """A format or a model that is not there is no mistake of one pair."""
    pairs = [{"document": "a", "abstract": "a"}]
    for wrong in ({"format": "papyrus"}, {"model": "none"}, {"system": "fast-align"}):
        assert client.post("/v1/align", json={"pairs": pairs, **wrong}).status_code in (400, 404)


def test_other_words_are_counted_apart(client: httpx.Client) -> None:
    """In what is told besides the rows, and only if they are asked for."""
    texts = {"summary": CLUSTER, "against": CLUSTER}
    plain, other = (
        ask(client, operations()["check"], {**texts, **more}).json()["more"]
        for more in ({}, {"other_words": True})
    )

    assert other == {**plain, "other_words": 0}
    assert plain["precision"] == 1


def test_programs_are_not_run(client: httpx.Client) -> None:
    """Aligners that are programs of others are refused, whether they are installed or not."""
    asked = {"document": DOCUMENT, "abstract": ABSTRACT, "system": "fast-align"}

    assert client.post("/v1/align", json=asked).status_code == 400


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("score", {"model": "relief", "text": ["a"] * 201}),
        ("score", {"model": "relief", "text": ["a " * 2001]}),
        ("regenerate", {"model": "relief", "bag": ["a"] * 201}),
        ("regenerate", {"model": "relief", "bag": ["a " * 2001]}),
        ("align", {"pairs": [{"document": "a", "abstract": "a"}] * 201}),
        ("align", {"document": "a " * 20_001, "abstract": "a"}),
        ("align", {"document": "a", "abstract": "a " * 20_001}),
        ("generate", {"corpus": "relief", "lengths": "1-101"}),
        ("fuse", {"key": "1", "related": "a " * 20_001}),
        ("fuse", {"key": "a " * 20_001, "related": RELATED}),
        ("fuse", {"key": "1", "related": RELATED * 101}),
    ],
)
def test_batches_have_limits(client: httpx.Client, path: str, asked: dict[str, Any]) -> None:
    """Too many items, or too long ones, are refused before any work."""
    answer = client.post(f"/v1/{path}", json=asked)

    assert answer.status_code == 400
    assert answer.json()["type"] == "urn:sentgen:problem:input"


def test_an_empty_answer_says_so(client: httpx.Client) -> None:
    """Nothing found is an answer, with the note of the command."""
    answer = client.get("/v1/ngrams", params={"pattern": "zyx", "min_count": 2})

    assert answer.status_code == 200
    assert answer.json()["rows"] == []
    assert answer.json()["notes"] == ["no n-gram 'zyx' that occurs at least 2 times"]


def test_values_of_sql_are_bound(client: httpx.Client) -> None:
    """Parameters are values, whatever they look like."""
    sql = {"sql": "select ? as a, ? as b", "parameters": ["'; drop table word; --", None]}

    assert client.post("/v1/sql", json=sql).json()["rows"] == [{"a": "'; drop table word; --", "b": None}]


def test_the_sql_of_an_answer_runs(client: httpx.Client) -> None:
    """The statement that an answer shows gives its rows, and no others."""
    answer = client.get("/v1/ngrams", params={"pattern": "the *", "limit": 3}).json()

    again = client.post("/v1/sql", json={"sql": answer["sql"][0]}).json()

    assert answer["truncated"]
    assert again["rows"] == answer["rows"]


def test_what_a_query_lacks_is_told_in_the_words_of_the_api(client: httpx.Client) -> None:
    """The message of DuckDB ends with what to do."""
    problem = client.post("/v1/sql", json={"sql": "select $x"}).json()

    assert problem["detail"].endswith("parameters: x; give them with `parameters`")


def test_sql_is_audited(server: Server) -> None:
    """Every query leaves one line, whatever came of it."""
    query = "select 'audited\\n{}' as x -- \x1b[31m"
    server.client.post("/v1/sql", json={"sql": query})
    server.client.post("/v1/sql", json={"sql": "attach 'audited'"})

    events = [event for event in server.events("sentgen.audit") if "audited" in event["asked"]["sql"]]

    assert [(event["asked"]["sql"], event["status"]) for event in events] == [
        (query, 200),
        ("attach 'audited'", 400),
    ]
    assert events[0]["rows"] == 1
    assert events[0]["client"] == "127.0.0.1"


def test_openapi_names_every_operation(client: httpx.Client) -> None:
    """The document has a route for each operation, with its parameters and what can go wrong."""
    document = client.get("/v1/openapi.json").json()

    for operation in operations().values():
        if operation.api:
            route = document["paths"][operation.route][operation.method.lower()]
            assert route["operationId"] == operation.name
            assert {"200", "400", "422", "429", "503", "504"} <= set(route["responses"])


def test_a_page_shows_the_interface(client: httpx.Client) -> None:
    """Each route of the document with its parameters, and an example that runs; nothing is from elsewhere."""
    page = client.get("/v1/docs").text
    document = client.get("/v1/openapi.json").json()

    for path, methods in document["paths"].items():
        for method, told in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in page
            assert all(f"<code>{one['name']}</code>" in page for one in told.get("parameters", ()))
    assert "list of text" in page
    assert re.findall(r'(?:src|href)="(?!/)[^"#]', page) == []
    commands = [unescape(line) for line in re.findall(r'<code class="command">(curl .*)</code>', page)]
    assert len(commands) == sum(map(len, document["paths"].values()))
    assert f"curl -G {client.base_url}/v1/ngrams --data-urlencode 'pattern=the *'" in commands


def test_the_document_says_who_may_ask() -> None:
    """Where tokens are needed, it says how they are sent, and what needs none."""

    async def no_health() -> dict[Kind, Health]:
        return {}

    told = [
        _application(Service(ServerSettings(Path("none"), tokens=tokens)), no_health).openapi()
        for tokens in ((), ("a-token-of-some-length",))
    ]

    open_to_all, closed = told
    assert "security" not in open_to_all
    assert "securitySchemes" not in open_to_all["components"]
    schemes = closed["components"]["securitySchemes"]
    assert {name: (one["type"], one["scheme"]) for name, one in schemes.items()} == {
        "bearer": ("http", "bearer"),
        "basic": ("http", "basic"),
    }
    assert closed["security"] == [{"bearer": []}, {"basic": []}]
    assert closed["paths"]["/healthz"]["get"]["security"] == []
    assert "security" not in closed["paths"]["/v1/corpora"]["get"]


def test_command_lines_are_quoted() -> None:
    """What a user typed cannot become an option or another command."""
    operation = operations()["ngrams"]
    asked = declaration(operation.name, pattern="a; rm *", corpus=["x y"])

    assert operation.command_line(asked) == "sentgen ngrams 'a; rm *' --corpus 'x y'"
