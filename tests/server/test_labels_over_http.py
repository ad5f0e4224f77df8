"""Labels of lines as keys over HTTP: an answer is of the labels as they are, and is not kept."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import ask, call

from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel
from sentgen.desk.lending import lend_labels
from sentgen.desk.line_sets import NewLineSet, remove
from sentgen.lookups.subcorpora import define
from sentgen.schema import Store
from sentgen.schema.store import raw
from sentgen.server.operations import Opening
from sentgen.server.worker import _open_context, answer

QUERY = '[lemma="camp"]'


@pytest.fixture
def asked(desk: Path, demo: Path) -> Iterator[Desk]:
    """The desk of the server with one more set, whose labels change."""
    of_server = Desk(desk)
    with Store(demo, read_only=True) as store, store.connect() as connection:
        NewLineSet(name="asked", pattern=QUERY).make(of_server, connection)
    GivenLabel(name="asked", lines="1-4", label="place", labeler="ann").give(of_server)
    yield of_server
    remove(of_server, "asked")


def label(desk: Desk, lines: str, text: str) -> None:
    GivenLabel(name="asked", lines=lines, label=text, labeler="ann").give(desk)


def counts(client: httpx.Client) -> dict[str, int]:
    answer = client.get("/v1/frequencies", params={"query": QUERY, "by": "lines.asked"})
    assert answer.status_code == 200, answer.text
    assert "etag" not in answer.headers
    return {row["lines.asked"]: row["count"] for row in answer.json()["rows"]}


def listed(client: httpx.Client) -> dict[str, int]:
    rows = client.get("/v1/lines/asked", params={"limit": 0}).json()["rows"]
    return Counter(row["label_ann"] or "_" for row in rows)


def test_answers_follow_the_labels(client: httpx.Client, asked: Desk) -> None:
    assert counts(client) == listed(client) == {"place": 4, "_": 11}
    label(asked, "3-6", "thing")
    assert counts(client) == listed(client) == {"place": 2, "thing": 4, "_": 9}


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/query", {"query": QUERY, "where": 'lines.asked = "place"'}),
        ("/v1/kwic", {"pattern": QUERY, "where": 'lines.asked = "place"'}),
        ("/v1/kwic", {"pattern": QUERY, "where": 'lines.asked = "place"', "format": "csv"}),
        ("/v1/kwic", {"pattern": QUERY, "show": "lines.asked"}),
        ("/collocations", {"word": "lemma:camp", "where": 'lines.asked = "place"'}),
    ],
)
def test_pages_and_files_follow_them(
    client: httpx.Client, asked: Desk, path: str, parameters: dict[str, Any]
) -> None:
    """Each is as it was again when the labels are."""
    before = client.get(path, params=parameters)
    label(asked, "1,9", "")
    between = client.get(path, params=parameters)
    label(asked, "1", "place")

    assert before.status_code == between.status_code == 200, before.text
    assert before.text != between.text
    assert client.get(path, params=parameters).text == before.text


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/query?query=%22camp%22", "where"),
        ("/word?word=camp", "where"),
        ("/sketch?word=camp", "where"),
        ("/thesaurus?word=camp", "where"),
        ("/collocations?word=camp", "where"),
        ("/keyness?corpus=relief", "against_where"),
        ("/corpus?show=concordance&pattern=camp", "where"),
    ],
)
def test_forms_offer_labels_as_check_boxes(client: httpx.Client, asked: Desk, path: str, name: str) -> None:
    """With the lines that have them, as they are now; a box that is ticked stays so."""
    label(asked, "5", "thing")
    box = f'<input type="checkbox" name="{name}" value="&#34;lines.asked&#34; = &#34;{{}}&#34;"{{}}>'
    size = " <bdi>{}</bdi></label> <span>{}</span>"
    first = client.get(path).text
    label(asked, "1-4", "")
    ticked = client.get(path, params={**dict(httpx.URL(path).params), name: '"lines.asked" = "thing"'}).text

    assert box.format("place", "") + size.format("place", "4 lines") in first
    assert box.format("thing", "") + size.format("thing", "1 line") in first
    assert box.format("thing", " checked") in ticked
    assert box.format("place", "") not in ticked


def test_a_ticked_label_restricts_the_query(client: httpx.Client, asked: Desk) -> None:
    label(asked, "5-6", "thing")
    conditions = ['"lines.asked" = "place"', '"lines.asked" = "thing"']
    page = client.get("/query", params={"query": QUERY, "where": conditions}).text
    rows = client.get("/v1/kwic", params={"pattern": QUERY, "where": "exists lines.asked"}).json()["rows"]

    assert f'id="said" class="said" role="status">{len(rows)} hits<' in page
    assert 0 < len(rows) < 15


def test_other_answers_are_kept_as_before(client: httpx.Client, asked: Desk) -> None:
    answer = client.get("/v1/frequencies", params={"query": QUERY, "by": "word"})
    label(asked, "7", "place")
    again = client.get("/v1/frequencies", params={"query": QUERY, "by": "word"})

    assert answer.headers["etag"] == again.headers["etag"]


def test_there_is_no_such_set(client: httpx.Client, asked: Desk) -> None:
    answer = client.get("/v1/frequencies", params={"by": "lines.askd"})

    assert answer.status_code == 404
    assert answer.json()["detail"] == "no line set 'askd'; there are: asked, camp"


def test_a_worker_says_what_is_left_out(opening: Opening, desk: Path, tmp_path: Path) -> None:
    """A line in other words has no label, and the answer says so."""
    copy = Path(shutil.copy(desk, tmp_path))
    with Desk(copy).writing() as writing:
        writing.exec_driver_sql("update line set forms = '[\"tent\"]' where number = 2")
    context = _open_context(replace(opening, desk=str(copy)))
    assert context.store is not None
    with context.store:
        reply = ask(context, "frequencies", query=QUERY, by=["lines.camp"])
        plain = ask(context, "frequencies", query=QUERY, by=["word"])

    told = json.loads(reply.body)
    assert (reply.of_labels, plain.of_labels) == (True, False)
    assert told["notes"] == [
        "1 line of camp is gone from the store, or changed since it was labeled, and without a label here"
    ]
    assert {row["lines.camp"]: row["count"] for row in told["rows"]} == {"_": 10, "place": 5}


def test_the_statement_gives_the_same_rows(opening: Opening, desk: Path) -> None:
    """It has the labels in it, and can be pasted."""
    context = _open_context(replace(opening, desk=str(desk)))
    with context.opened, context.opened.connect() as connection:
        reply = ask(context, "frequencies", query=QUERY, by=["lines.camp"], where="exists lines.camp")
        told = json.loads(reply.body)
        (statement,) = told["sql"]
        rows = raw(connection).execute(statement).fetchall()

    assert [row[:2] for row in rows] == [tuple(row.values())[:2] for row in told["rows"]] != []


def test_labels_are_those_of_who_asks(opening: Opening, desk: Path, tmp_path: Path) -> None:
    """Where each client has a desk of its own."""
    path = tmp_path / "class.desk"
    shutil.copy(desk, tmp_path / "class-ann.desk")
    context = _open_context(replace(opening, desk=str(path), apart=True))
    asked = call("frequencies", query=QUERY, by=["lines.camp"])
    with context.opened:
        ann, ben = (answer(context, replace(asked, client=client)) for client in ("ann", "ben"))

    assert (ann.status, ben.status) == (200, 404)
    assert json.loads(ben.body)["detail"] == "no line set 'camp'; make one with: sentgen lines new SET QUERY"


def test_a_subcorpus_of_labels_is_not_kept(opening: Opening, demo: Path, desk: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(demo, tmp_path))
    with lend_labels(Store(store), desk) as lent, lent.begin() as connection:
        define(connection, "placed", "lines.camp = place", ["relief"])
    context = _open_context(replace(opening, store=str(store), desk=str(desk)))
    with context.opened:
        replies = [ask(context, "ngrams", pattern="the *", corpus=[name]) for name in ("placed", "relief")]
        replies.append(ask(context, "subcorpora"))

    assert [(reply.status, reply.of_labels) for reply in replies] == [(200, True), (200, False), (200, False)]


def test_labels_are_offered_to_who_has_them(opening: Opening, desk: Path, tmp_path: Path) -> None:
    """Where each client has a desk of its own; the list is never kept."""
    shutil.copy(desk, tmp_path / "class-ann.desk")
    context = _open_context(replace(opening, desk=str(tmp_path / "class.desk"), apart=True))
    with context.opened:
        ann, ben = (
            answer(context, replace(call("label_facets"), client=client)) for client in ("ann", "ben")
        )

    keys = [row["key"] for row in json.loads(ann.body)["rows"]]
    assert keys == ["lines.camp", "lines.camp.ann", "lines.camp.ben"]
    assert json.loads(ben.body)["rows"] == []
    assert (ann.of_labels, ben.of_labels) == (True, True)
