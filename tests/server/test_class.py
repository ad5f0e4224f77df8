"""A class: joining by a name, and the pages of students and of the teacher."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from serving import Server, serving, until
from starlette.types import Receive, Scope, Send

from sentgen.desk.desk import Desk, desk_of
from sentgen.desk.students import check_student
from sentgen.errors import InputError, StoreError
from sentgen.output.drawing import drawn_as_svg, drawn_as_text
from sentgen.server.addresses import addresses_here
from sentgen.server.app import AccessMiddleware
from sentgen.server.classroom import Classroom, Lesson, _read_names
from sentgen.server.monitoring import Metrics
from sentgen.server.pages.site import offered_pages
from sentgen.server.settings import ServerSettings
from sentgen.server.users import User

PAGE = {"Accept": "text/html"}


@dataclass(frozen=True)
class Taught:
    """A running class, and the beginning of its teacher's addresses."""

    server: Server
    teacher: str
    said: str

    def join(self, name: str, to: str = "/") -> str:
        """The beginning of a student's addresses, who has just joined."""
        answer = self.server.client.post("/join", data={"name": name, "to": to})
        assert answer.status_code == 303, answer.text
        return "/as/" + answer.headers["location"].split("/as/")[1].split("/")[0]


@pytest.fixture(scope="module")
def taught(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taught]:
    """A class with a worker of each kind."""
    folder = tmp_path_factory.mktemp("class")
    options = ("--snapshots", published, "--class", "--host", "127.0.0.1", "--desk", folder / "1b.desk")
    with serving(folder, *options, "--workers", 1, "--no-warm-up") as server:
        assert server.process.stdout is not None
        lines = [server.process.stdout.readline() for _ in range(3)]
        assert lines[-1].startswith("only for you: ")
        begun = "/as/" + lines[-1].split("/as/")[1].split("/")[0]
        yield Taught(server, begun, "".join(lines))


@pytest.fixture
def room(tmp_path: Path) -> Classroom:
    """A class without a server."""
    return Classroom(tmp_path / "1b.desk", ["192.0.2.7"])


# ---- names


@pytest.mark.parametrize(
    "name", ["Anna", "Zoë", "O'Neil", "李 雷", "ひろ子", "佐々木", "Kaʻiulani", "कि", "Anna 2", "<b>x</b>"]
)
def test_names_of_all_scripts_are_taken(room: Classroom, name: str) -> None:
    """Also what looks like HTML, which pages escape."""
    assert room.find(room.join(f"  {name} ", "a")) == User(name)


@pytest.mark.parametrize(
    "name",
    ["", " ", "---", "a" * 41, "a\0", "a\x1b[31m", "a\u202eb", "\u200bAnna", "a\u0301\u0301\u0301", "\ud800"],
)
def test_what_is_no_name_is_refused(room: Classroom, name: str) -> None:
    """Nothing that steers a terminal, hides, or piles up; in one line that can be printed."""
    with pytest.raises(InputError, match="is no name; take one of letters, at most 40") as refused:
        room.join(name, "a")

    assert str(refused.value).isprintable()


def test_a_name_without_end_is_refused_at_once() -> None:
    """To put as many marks in order takes the square of their number, and nobody else is answered meanwhile."""
    started = time.perf_counter()
    with pytest.raises(InputError, match="is no name"):
        check_student("a" + "\u0301\u0327" * 250_000)

    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "name", ["anna", "ÁNNA", "0tto", "PauI", "lda", "Anna ", "Ann-a", "ANN\u0430", "\u0410\u041d\u041d\u0410"]
)
def test_a_name_that_looks_like_another_is_refused(room: Classroom, name: str) -> None:
    """In capitals, with accents, of Cyrillic letters among others or alone (whose H is an N in Latin)."""
    for given in ("Anna", "Ahha", "Otto", "Paul", "Ida", "Ida L"):
        room.join(given, "a")
    assert room.join("Ida I", "a")

    with pytest.raises(InputError, match=r"is here already|are of several scripts"):
        room.join(name, "a")


def test_nobody_is_the_teacher(room: Classroom) -> None:
    """By name or by token."""
    with pytest.raises(InputError, match="take another name"):
        room.join("TEACHER", "a")
    assert room.find("x" * 12) is None


def test_only_names_of_a_file_are_let_in(tmp_path: Path) -> None:
    """As the file writes them; it is read again each time."""
    (tmp_path / "names.txt").write_text("Zoë Müller\n\nBen\n", "utf-8")
    room = Classroom(tmp_path / "1b.desk", [], tmp_path / "names.txt")

    assert room.find(room.join("zoe muller", "a")) == User("Zoë Müller")
    with pytest.raises(InputError, match="Eve is not among the names of this class"):
        room.join("Eve", "a")
    (tmp_path / "names.txt").write_text("Eve\n")
    assert room.find(room.join("Eve", "a")) == User("Eve")
    for wrong in (b"", b"\xff"):
        (tmp_path / "names.txt").write_bytes(wrong)
        with pytest.raises(InputError) as refused:
            room.join("Ben", "a")
        assert str(refused.value) == "the names of this class cannot be read; tell your teacher"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\n", "there are no names in it; write one a line"),
        (b"Ann\nann\n", "ann stands there twice, or looks like another name"),
        (b"\xff", "the names are no text in UTF-8"),
        (b"a\x1bb\n", "is no name"),
    ],
)
def test_a_file_of_names_that_is_wrong_is_refused(tmp_path: Path, text: bytes, problem: str) -> None:
    """Before the server starts."""
    (tmp_path / "names.txt").write_bytes(text)

    with pytest.raises(InputError, match=problem) as refused:
        _read_names(tmp_path / "names.txt")
    assert str(refused.value).startswith(str(tmp_path))


def test_who_has_joined_is_known_after_a_restart(room: Classroom) -> None:
    """By the same token; the teacher's is another one."""
    token = room.join("Anna", "a")
    again = Classroom(room.path, [])

    assert again.find(token) == User("Anna")
    assert token.encode() not in room.path.read_bytes()
    assert again.find(room.teacher_token) is None


def test_a_name_is_free_when_its_student_is_sent_off(room: Classroom) -> None:
    """Whoever takes it has another token."""
    token = room.join("Anna", "a")
    room.leave("Anna")

    assert room.find(token) is None
    assert room.find(room.join("Anna", "a")) == User("Anna")
    assert Classroom(room.path, []).find(token) is None


def test_a_name_that_was_free_is_written_as_before(room: Classroom) -> None:
    """So that its line sets are found, and are nobody else's."""
    room.join("Zoë", "a")
    made = desk_of(room.path, ["Zoë"])
    assert made
    Desk(made, create=True)
    room.leave("Zoë")

    assert room.students == Classroom(room.path, []).students == []
    assert room.find(room.join("ZOE", "a")) == User("Zoë")


@pytest.mark.parametrize("other", ["1b-a.desk", "1b-A%26b.desk"])
def test_no_name_is_that_of_a_file_of_others(room: Classroom, other: str) -> None:
    """A class has a desk of that name already, or a server one for users."""
    Classroom(room.path.with_name(other), [])
    name = unquote(other[3:-5])

    with pytest.raises(InputError, match=f"there are line sets of somebody else by the name {name}"):
        room.join(name, "a")
    assert room.find(room.join(f"{name}c", "a"))


def test_one_device_takes_no_more_names_than_a_class_has(room: Classroom) -> None:
    """Within a minute; nobody else waits for it."""
    for number in range(40):
        room.join(f"Student {number + 100:b}x{number}", "a")

    with pytest.raises(InputError, match="too many names from this device; wait a minute"):
        room.join("Eve", "a")
    assert room.join("Eve", "b")


def test_names_that_asked_nothing_make_room_first(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest of them; where all have asked, the list is full."""
    monkeypatch.setattr("sentgen.desk.students.MOST_STUDENTS", 3)
    tokens = {name: room.join(name, "a") for name in ("Anna", "Ben", "Cem")}
    room.lesson.askers.add("Anna")
    room.lesson.askers.add("Dora")
    tokens["Dora"] = room.join("Dora", "b")

    assert (room.students, room.idle) == (["Anna", "Cem", "Dora"], ["Cem"])
    assert [room.find(token) is None for token in tokens.values()] == [False, True, False, False]
    with pytest.raises(InputError, match="is here already"):  # and nobody makes room for who is refused
        room.join("anna", "b")
    room.lesson.askers.add("Cem")
    with pytest.raises(InputError, match="3 names are in use, which is the most; ask your teacher"):
        room.join("Emma", "b")
    assert Classroom(room.path, []).students == room.students == ["Anna", "Cem", "Dora"]


def test_nobody_joins_while_the_door_is_closed(room: Classroom) -> None:
    """Who is here stays."""
    token = room.join("Anna", "a")
    room.closed = True
    with pytest.raises(InputError, match="the door of this class is closed; ask your teacher to open it"):
        room.join("Ben", "a")
    assert room.find(token) == User("Anna")
    room.closed = False
    assert room.find(room.join("Ben", "a")) == User("Ben")


def test_the_addresses_are_those_of_the_network_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A laptop that goes to another one is found there, and is asked for by that address."""
    here = ["192.0.2.7"]
    monkeypatch.setattr("sentgen.server.classroom.addresses_here", lambda versions: here)
    monkeypatch.setattr("sentgen.server.classroom._SECONDS_KNOWN", 0.0)
    room = Classroom(tmp_path / "1b.desk", ["kim.local"], versions=(4,))
    gate = AccessMiddleware(_never, settings=ServerSettings(tmp_path, classroom=room), metrics=Metrics())
    asked = httpx.ASGITransport(gate)

    def status(host: str) -> int:
        async def ask() -> int:
            async with httpx.AsyncClient(transport=asked, base_url=f"http://{host}:8000") as client:
                return (await client.get("/word")).status_code

        return asyncio.run(ask())

    assert [status(host) for host in ("192.0.2.7", "kim.local", "198.51.100.9")] == [401, 401, 421]
    here[0] = "198.51.100.9"
    assert [status(host) for host in ("192.0.2.7", "kim.local", "198.51.100.9")] == [421, 401, 401]
    assert room.hosts == ("kim.local", "198.51.100.9")


async def _never(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what nobody asks: all are refused before."""
    raise AssertionError


def test_a_desk_that_is_none_is_left_as_it_is(tmp_path: Path) -> None:
    """Also where a class would write names on it."""
    (tmp_path / "1b.desk").write_text("homework")

    with pytest.raises(StoreError, match="no desk of sentgen"):
        Classroom(tmp_path / "1b.desk", [])


# ---- the door


def test_the_start_says_what_to_type(taught: Taught) -> None:
    """The address of each network, the desk, and what only the teacher knows."""
    port = httpx.URL(taught.server.address).port
    assert f"students type: 127.0.0.1:{port}\n" in taught.said
    assert "kept in: " in taught.said
    assert all(address.count(".") == 3 and address != "127.0.0.1" for address in addresses_here())


def test_the_code_is_the_same_on_a_page_and_in_a_terminal() -> None:
    """Square by square, with white around it; by the number of squares it fits 80 by 24."""
    svg = drawn_as_svg("http://192.168.1.20:8000/join")
    lines = [line[8:-4] for line in drawn_as_text("http://192.168.1.20:8000/join").splitlines()]
    drawn = [[row[x] in light for x in range(29)] for row in lines for light in ("█▀", "█▄")][:29]

    assert (len(lines), {len(line) for line in lines}) == (15, {29})
    path = re.search(r'stroke="#000" d="M([^"]+)"', svg)
    assert path
    want, x, y = [[True] * 29 for _ in range(29)], 0, 0
    # Moves to the beginning of a row or a run, and runs of dark squares.
    for kind, first, second in re.findall(r"(^|m|h)(-?\d+)(?: (-?[\d.]+))?", path[1]):
        if kind == "h":
            want[y][x : x + int(first)] = [False] * int(first)
            x += int(first)
        elif kind == "m":
            x, y = x + int(first), y + int(second)
        else:
            x, y = int(first), int(float(second))
    assert drawn == want


def test_who_has_not_joined_is_led_to_the_door(taught: Taught) -> None:
    """And from there to what was asked for; a program is told."""
    client = taught.server.client
    page = client.get("/word?word=a+b&corpus=relief", headers=PAGE)
    assert (page.status_code, page.headers["location"]) == (
        303,
        "/join?to=%2Fword%3Fword%3Da%2Bb%26corpus%3Drelief",
    )
    door = client.get(page.headers["location"], headers=PAGE)
    assert door.status_code == 200
    assert 'value="/word?word=a+b&amp;corpus=relief"' in door.text
    for path in ("/v1/corpora", "/metrics", "/v1/openapi.json", "/as/aaaaaaaaaaaa/v1/corpora", "/joined"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["detail"]) == (401, "join the class first, at /join")
        assert "WWW-Authenticate" not in answer.headers
    assert client.get("/healthz").status_code == 200
    assert client.get("/as/aaaaaaaaaaaa/word?word=a", headers=PAGE).headers["location"] == (
        "/join?to=%2Fword%3Fword%3Da&gone=1"
    )


def test_a_student_has_pages_below_an_address_of_their_own(taught: Taught) -> None:
    """All links of a page keep to it, but for what is cited, which is for others."""
    begun = taught.join("Ben")
    page = taught.server.client.get(f"{begun}/word?word=camp", headers=PAGE)

    assert page.status_code == 200
    assert "In this class you are <bdi>Ben</bdi>" in page.text
    links = page.text.split('href="/')[1:]
    assert links
    assert [link for link in links if not f"/{link}".startswith(f"{begun}/")] == []
    assert begun not in page.text.split('rel="bookmark"')[1].split("</a>")[0].split(">")[1]
    answer = taught.server.client.get(f"{begun}/v1/corpora")
    assert answer.status_code == 200
    assert begun not in answer.headers["Link"]


@pytest.mark.parametrize(
    "to", ["//evil.example/", "https://evil.example", "/\\evil.example", "x", "/a\nb", "//[", "/a/%2E./b"]
)
def test_the_door_leads_nowhere_else(taught: Taught, to: str) -> None:
    """Addresses other than paths of this server are dropped."""
    answer = taught.server.client.post("/join", data={"name": f"Dora {abs(hash(to))}", "to": to})
    place = httpx.URL(answer.headers["location"])

    assert (place.host, place.path.count("/"), place.query) == ("127.0.0.1", 3, b"")


def test_a_name_is_shown_and_never_run(taught: Taught) -> None:
    """On the page of whoever has it, and where it is refused."""
    name = "<script>alert(1)</script>"
    begun = taught.join(name)
    for answer in (
        taught.server.client.get(f"{begun}/", headers=PAGE),
        taught.server.client.post("/join", data={"name": name}),
        taught.server.client.post("/join", data={"name": f'{name}"{"x" * 50}', "to": '/"><b>'}),
    ):
        assert "<script>alert" not in answer.text
        assert "<b>" not in answer.text
        assert "&lt;script&gt;" in answer.text
    assert answer.status_code == 422


def test_only_addresses_that_are_told_are_answered(taught: Taught, published: Path) -> None:
    """Not that of all addresses, nor a name that points here."""
    for host, status in (("127.0.0.1", 200), ("0.0.0.0", 421), ("evil.example", 421), ("192.0.2.99", 421)):
        assert taught.server.client.get("/join", headers={"Host": host}).status_code == status


def test_line_sets_are_of_the_student_who_made_them(taught: Taught) -> None:
    """Nobody else has one of that name, reads it or labels it; after a redirect one is where one was."""
    one, other = taught.join("Ida"), taught.join("Jon")
    client = taught.server.client
    made = client.post(f"{one}/v1/lines", json={"name": "camps", "pattern": "lemma:camp"})
    assert made.status_code == 200, made.text
    form = {"set": "camps", "labeler": "Ida", "line": "1", "give": "place"}
    labeled = client.post(f"{one}/lines", data=form, headers=PAGE)
    assert labeled.headers["location"].startswith(f"{one}/lines?set=camps")

    assert [row["name"] for row in client.get(f"{one}/v1/lines").json()["rows"]] == ["camps"]
    for begun in (other, taught.teacher):
        assert client.get(f"{begun}/v1/lines").json()["rows"] == []
        assert client.get(f"{begun}/v1/lines/camps").status_code == 404
        body = {"lines": "1", "label": "x", "labeler": "Ida"}
        assert client.post(f"{begun}/v1/lines/camps/labels", json=body).status_code == 404
    folder = taught.server.log.parent
    assert Desk(folder / "1b-Ida.desk").path == desk_of(folder / "1b.desk", ["Ida"])


def test_the_log_has_the_name_and_not_the_token(taught: Taught) -> None:
    """Readers of the log cannot use it to join."""
    begun = taught.join("Kim")
    taught.server.client.get(f"{begun}/v1/models")

    until(lambda: any(event.get("user") == "Kim" for event in taught.server.events("sentgen.access")))
    assert begun not in taught.server.log.read_text()
    assert taught.teacher not in taught.server.log.read_text()


def test_the_log_has_no_token_of_what_is_refused(taught: Taught) -> None:
    """By the wrong name of the server, from another site, at a path that is none, or in capitals."""
    client, begun = taught.server.client, taught.join("Lou")
    for number, (path, headers) in enumerate(
        [
            (f"{begun}/lines", {"Host": "evil.example"}),
            (f"{taught.teacher}/class", {"Host": "evil.example"}),
            (f"{taught.teacher}/class", {"Sec-Fetch-Site": "cross-site"}),
            (f"/corpora{begun}/lines", {}),
            (f"{begun.upper()}/lines", {}),
        ]
    ):
        assert client.get(f"{path}/{number}refused", headers=headers).status_code in (401, 403, 421)

    until(lambda: "4refused" in taught.server.log.read_text())
    log = taught.server.log.read_text().lower()
    assert "0refused" in log
    assert not [token for token in (begun, taught.teacher) if token.removeprefix("/as/") in log]


def test_a_program_cites_no_address_of_a_student(taught: Taught) -> None:
    """What it reports is read by others; the link leads them to the door."""
    pytest.importorskip("mcp")
    begun = taught.join("Tess")
    call = {"name": "corpora", "arguments": {}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"Accept": "application/json, text/event-stream"}
    answer = taught.server.client.post(f"{begun}/mcp", json=asked, headers=accept)

    assert answer.status_code == 200, answer.text
    link = answer.json()["result"]["structuredContent"]["link"]
    assert link.startswith(f"{taught.server.address}/answer?ask=corpora")
    assert begun not in answer.text


# ---- the teacher


def test_the_teacher_sees_who_asked_what_and_what_went_wrong(taught: Taught) -> None:
    """On pages and over the API; answers that are kept, too; and nothing that is no question."""
    client, begun = taught.server.client, taught.join("Lea")
    client.get(f"{begun}/word?word=camp&corpus=relief", headers=PAGE)
    client.get(f"{begun}/word?word=camp&corpus=relief", headers=PAGE)
    client.get(f"{begun}/sql?query=selec", headers=PAGE)
    client.get(f"{begun}/v1/kwic?pattern=camp&corpus=nowhere")
    client.get(f"{begun}/v1/kwic?patern=camp")
    client.get(f"{begun}/", headers=PAGE)
    client.get(f"{begun}//evil.example/x?a=1", headers=PAGE)
    rows = client.get(f"{taught.teacher}/class/questions.json?who=Lea").json()["rows"][::-1]

    assert [row["page"] for row in rows] == [
        "/word",
        "/word",
        "/sql",
        "/v1/kwic",
        "/v1/kwic",
        "//evil.example/x",
    ]
    assert rows[0]["asked"] == "word: camp · corpus: relief"
    assert [bool(row["problem"]) for row in rows] == [False, False, True, True, True, True]
    assert "no corpus 'nowhere'" in rows[3]["problem"]
    page = client.get(f"{taught.teacher}/class?who=Lea", headers=PAGE).text
    assert f'href="{taught.teacher}/word?word=camp&amp;corpus=relief"' in page
    assert 'href="//evil' not in page
    assert page.count('<td data-label="what went wrong"') == 6
    wrong = client.get(f"{taught.teacher}/class/questions.csv?who=Lea&wrong=on").text
    assert len(wrong.splitlines()) == 5


def test_what_students_write_is_harmless_to_the_teacher(taught: Taught) -> None:
    """Neither markup on the page nor a formula in the file."""
    client, begun = taught.server.client, taught.join("=cmd()")
    client.get(f"{begun}/word", params={"word": "<img src=x>", "corpus": "\u202e\x1b"}, headers=PAGE)
    page = client.get(f"{taught.teacher}/class", headers=PAGE)

    assert "<img" not in page.text
    assert "\u202e" not in page.text.split("<h2>Questions")[1]
    assert "\n=cmd" not in client.get(f"{taught.teacher}/class/questions.csv").text
    assert ",'=cmd()," in client.get(f"{taught.teacher}/class/questions.csv").text


@pytest.mark.parametrize("path", ["/class", "/class/questions.csv", "/class/questions.json?who=Lea"])
def test_no_student_sees_the_page_of_the_teacher(taught: Taught, path: str) -> None:
    """Nor sends anybody off; nor does who has not joined."""
    client = taught.server.client
    begun = taught.join(f"Max {path.count('.')}{path.count('=')}")
    assert client.get(f"{begun}{path}").status_code == 403
    assert client.post(f"{begun}/class", data={"name": "Lea"}).status_code == 403
    assert client.get(path).status_code == 401
    assert '/class"' not in client.get(f"{begun}/", headers=PAGE).text
    assert f'href="{taught.teacher}/class"' in client.get(f"{taught.teacher}/", headers=PAGE).text


def test_only_the_teacher_sees_what_the_server_counts(taught: Taught) -> None:
    """Students would read there what others ask, and when."""
    client, begun = taught.server.client, taught.join("Mina")

    assert client.get(f"{begun}/metrics").status_code == 403
    assert "sentgen_requests_total" in client.get(f"{taught.teacher}/metrics").text


def test_a_program_finds_its_own_address_in_the_document(taught: Taught) -> None:
    """What it makes of that asks as the student."""
    begun = taught.join("Noor")
    document = taught.server.client.get(f"{begun}/v1/openapi.json").json()

    assert document["servers"] == [{"url": begun}]
    assert "/v1/corpora" in document["paths"]


def test_the_teacher_closes_the_door_and_frees_who_asked_nothing(taught: Taught) -> None:
    """With a button each; who has asked something stays."""
    client, page = taught.server.client, f"{taught.teacher}/class"
    asked, idle = taught.join("Olaf"), taught.join("Pia")
    client.get(f"{asked}/word?word=camp", headers=PAGE)
    assert client.post(page, data={"door": "close"}).status_code == 303
    refused = client.post("/join", data={"name": "Quin"})
    assert (refused.status_code, "the door of this class is closed" in refused.text) == (422, True)
    assert "Open the door" in client.get(page, headers=PAGE).text
    client.post(page, data={"door": "open"})
    client.post(page, data={"idle": "on"})

    assert [client.get(f"{begun}/v1/corpora").status_code for begun in (asked, idle)] == [200, 401]
    assert "Close the door" in client.get(page, headers=PAGE).text


def test_a_student_who_is_sent_off_is_led_to_the_door(taught: Taught) -> None:
    """At once; a file of another name is none."""
    client, begun = taught.server.client, taught.join("Ned")
    sent = client.post(f"{taught.teacher}/class", data={"name": "Ned"})

    assert (sent.status_code, sent.headers["location"]) == (303, f"{taught.teacher}/class")
    assert client.get(f"{begun}/v1/corpora").status_code == 401
    assert client.get(f"{taught.teacher}/class/x.csv").status_code == 404


def test_a_lesson_is_bounded() -> None:
    """The last questions are kept, and of each so much."""
    lesson = Lesson()
    scope = {"path": "/word", "method": "GET", "query_string": b"word=" + b"x" * 100_000}
    for _ in range(2100):
        lesson.record(scope, "Ann", 200, 0.1)

    assert len(lesson.newest()) == 2000
    assert len(lesson.newest()[0].asked) < 2100
    assert lesson.newest()[0].link == ""


@pytest.mark.parametrize("name", ["to", "gone", "who", "wrong", "limit", "offset", "sort", "name"])
def test_pages_of_a_class_escape_their_parameters(taught: Taught, name: str) -> None:
    """No script gets in, wherever it is written."""
    script = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"
    client = taught.server.client
    for answer in (
        client.get("/join", params={name: script}),
        client.get(f"{taught.teacher}/class", params={name: script}),
        client.get(f"{taught.teacher}/class/questions.csv", params={name: script}),
        client.post("/join", data={"name": "", name: script}),
        client.post(f"{taught.teacher}/class", data={name: script}),
    ):
        assert answer.status_code < 500
        page = answer.headers.get("content-type", "").startswith("text/html")
        assert not page or ("<script>alert" not in answer.text and "<img" not in answer.text)


# ---- short links


def shortened(client: httpx.Client, begun: str, to: str) -> httpx.Response:
    """What comes of the button below a page."""
    return client.post(f"{begun}/s", data={"to": to}, headers=PAGE)


def test_a_short_link_leads_each_to_the_page_by_their_own_name(taught: Taught) -> None:
    """Whoever has not joined by the way of the door; it is shown as it is typed, also with a capital."""
    client, one, other = taught.server.client, taught.join("Ute"), taught.join("Val")
    to = "/query?query=%5Blemma%3D%22camp%22%5D&corpus=relief"
    page = client.get(f"{one}{to}&snapshot=", headers=PAGE)
    assert f'name="to" value="{to.replace("&", "&amp;")}"' in page.text
    made = shortened(client, one, to)
    assert made.headers["location"].startswith(f"{one}/s?name=")
    name = made.headers["location"].partition("name=")[2]
    port = httpx.URL(taught.server.address).port
    shown = client.get(made.headers["location"], headers=PAGE).text
    assert f'<p class="address">127.0.0.1:{port}/s/{name}</p>' in shown
    assert "<svg" in shown

    for typed in (name, name.capitalize()):
        assert client.get(f"{other}/s/{typed}").headers["location"] == f"{other}{to}"
    assert client.get(f"/s/{name}", headers=PAGE).headers["location"] == f"/join?to=%2Fs%2F{name}"
    assert shortened(client, other, to).headers["location"] == f"{other}/s?name={name}"
    assert one not in client.get(f"{other}/s?name={name}", headers=PAGE).text


@pytest.mark.parametrize(
    "to",
    [
        *("", "//evil.example", "https://evil.example/", "/\\evil.example", "/a\tb", "/nowhere?x=1"),
        *(
            "/s/abc",
            "/s",
            "/join?to=/",
            "/class",
            "/as/aaaaaaaaaaaa/word",
            "/static/style.css",
            "/metrics",
            "javascript:alert(1)",
            "/" + "x" * 3000,
        ),
        "/word?word=" + "x" * 3000,
    ],
)
def test_short_links_lead_nowhere_else(taught: Taught, to: str) -> None:
    """Neither to another server, nor to another short link, nor by the name of another."""
    answer = shortened(taught.server.client, taught.teacher, to)

    assert answer.status_code in (400, 422)
    assert "location" not in answer.headers


def test_a_short_link_that_there_is_not(taught: Taught) -> None:
    """Is told in words, on its page and where it is followed."""
    for path in ("/s/zzzz", "/s?name=zzzz", "/s/%3Cb%3E", "/s"):
        answer = taught.server.client.get(f"{taught.teacher}{path}", headers=PAGE)
        assert answer.status_code in (404, 422)
        assert "no short link" in answer.text
        assert "<b>" not in answer.text


def test_a_server_with_a_desk_has_short_links_without_a_class(server: Server) -> None:
    """And one without a desk has neither the button nor the page."""
    made = server.client.post("/s", data={"to": "/word?word=camp"})
    name = made.headers["location"].partition("name=")[2]

    assert server.client.get(f"/s/{name}").headers["location"] == "/word?word=camp"
    offered = [page.path for page in offered_pages(ServerSettings(Path("none")))]
    assert not {"/s", "/join", "/class"} & {*offered}
