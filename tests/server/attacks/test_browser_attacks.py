"""What pages of other sites, and addresses that somebody made up, can have a browser do: to every route.

A class is attacked, which has all routes, and whose students have nothing but an address that nobody else knows.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from serving import Server, serving

from sentgen.desk.desk import Desk
from sentgen.desk.line_sets import NewLineSet
from sentgen.schema import Store
from sentgen.server import routes
from sentgen.server.app import _application
from sentgen.server.classroom import Classroom
from sentgen.server.pages import site
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings

EVIL = "evil.example"
PAGE = {"Accept": "text/html"}


@cache
def offered(folder: Path) -> list[tuple[str, str]]:
    """Method and path of all routes of a class."""
    classroom = Classroom(folder / "routes.desk", ["127.0.0.1"])
    settings = ServerSettings(folder, classroom=classroom, desk=folder / "routes.desk")

    async def health() -> dict[str, str]:
        return {}

    app = _application(Service(settings), health)  # type: ignore[arg-type]
    there = [*routes.router(settings).routes, *site.router(settings).routes]
    there += [route for route in app.router.routes if hasattr(route, "path")]
    return sorted({(method, route.path) for route in there for method in route.methods})  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Lesson:
    """A running class with a set of lines, and the beginning of the addresses of its teacher."""

    server: Server
    teacher: str
    desk: Path

    def paths(self, *methods: str, name: str = "camp") -> list[tuple[str, str]]:
        """Method and path of all routes with some methods, below the address of the teacher."""
        every = offered(self.desk.parent)
        return [
            (method, self.teacher + path.replace("{name}", name))
            for method, path in every
            if method in methods
        ]

    def send(self, method: str, path: str, **options: object) -> httpx.Response:
        """Send a request as it is, without following where the answer leads."""
        return self.server.client.request(method, path, **options)  # type: ignore[arg-type]

    def kept(self) -> list[str]:
        """All that is written on the desk: who has joined, sets, labels and short links."""
        with Desk(self.desk).reading() as connection:
            raw = connection.connection.driver_connection
            assert raw
            return list(raw.iterdump())


@pytest.fixture(scope="module")
def lesson(demo: Path, published: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lesson]:
    """A class with one worker of each kind."""
    folder = tmp_path_factory.mktemp("lesson")
    desk = Desk(folder / "1b.desk", create=True)
    with Store(demo, read_only=True) as store, store.connect() as connection:
        NewLineSet(name="camp", pattern="lemma:camp").make(desk, connection)
    options = ("--snapshots", published, "--class", "--host", "127.0.0.1", "--desk", desk.path)
    with serving(folder, *options, "--workers", 1, "--no-warm-up") as server:
        assert server.process.stdout is not None
        said = "".join(server.process.stdout.readline() for _ in range(3))
        yield Lesson(server, "/as/" + said.split("/as/")[1].split("/")[0], desk.path)


def require_guarded(answer: httpx.Response) -> None:
    """Assert that no site can frame an answer, read it, or learn its address from whoever follows a link."""
    headers = answer.headers
    where = answer.request.method, answer.url.path, answer.status_code
    assert headers["x-frame-options"] == "DENY", where
    assert "frame-ancestors 'none'" in headers["content-security-policy"], where
    assert headers["referrer-policy"] == "same-origin", where
    assert headers["x-content-type-options"] == "nosniff", where
    assert headers["cross-origin-resource-policy"] == "same-origin", where
    assert headers["cross-origin-opener-policy"] == "same-origin", where
    assert headers["cache-control"].startswith(("no-store", "private")), where
    assert not {"set-cookie", "access-control-allow-origin", "server"} & {*headers}, where
    assert "referrerpolicy" not in answer.text, where
    assert "http-equiv" not in answer.text, where
    assert answer.status_code != 500, where


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_every_answer_is_guarded(lesson: Lesson, accept: str) -> None:
    """What is there and what is not, refusals too: whatever the gate, a route or the router says."""
    for method, path in lesson.paths("GET", "HEAD", "POST"):
        require_guarded(lesson.send(method, path, headers={"Accept": accept}))
    for method, path in (
        *(("PUT", path) for _, path in lesson.paths("GET")[:3]),
        *(
            ("GET", path)
            for path in ("/join", "/", "/nowhere", "/as/aaaaaaaaaaaa/", "/healthz", "/v1/corpora")
        ),
        *(("GET", lesson.teacher + path) for path in ("", "/nowhere", "/s/zzzz", "/static/no.css")),
    ):
        require_guarded(lesson.send(method, path, headers={"Accept": accept}))
    for headers in (
        {"Host": EVIL},
        {"Origin": f"https://{EVIL}"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        require_guarded(lesson.send("GET", "/join", headers={"Accept": accept, **headers}))


#: What browsers, new and old, say of a page of another site that sends a form or a script.
FOREIGN: tuple[dict[str, str], ...] = (
    {"Origin": f"https://{EVIL}"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    {"Referer": f"https://{EVIL}/form"},
    {"Referer": "http://127.0.0.1:1/"},
    {"Referer": f"http://{EVIL}", "Sec-Fetch-Site": "same-site"},
)
#: What a form can be sent as, and what a script can send without being asked.
FORMS = (
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/json",
    "",
)
#: A form of all that any form of ours sends.
FORM = {
    "name": "Mallory", "to": "/word", "set": "camp", "labeler": "mallory", "line": "1", "give": "x",
    "new": "x", "query": "the", "labels": "x", "action": "new", "lines": "1", "label": "x",
}  # fmt: skip


def test_other_sites_change_nothing(lesson: Lesson) -> None:
    """Whatever they send where, and as what: it is refused before anybody reads it."""
    before = lesson.kept()
    posts = [*lesson.paths("POST"), ("POST", "/join")]
    assert {f"{lesson.teacher}{path}" for path in ("/join", "/class", "/lines", "/s", "/mcp")} < {
        path for _, path in posts
    }
    for number, (method, path) in enumerate(posts):
        for turn, headers in enumerate(FOREIGN):
            form = FORMS[(number + turn) % len(FORMS)]
            typed = {"Content-Type": form} if form else {}
            body = "&".join("=".join(pair) for pair in FORM.items())
            answer = lesson.send(method, path, content=body, headers={**headers, **typed})
            assert (answer.status_code, answer.json()["type"][-10:]) == (403, "cross-site"), (path, headers)

    assert lesson.kept() == before


def test_other_sites_load_nothing(lesson: Lesson) -> None:
    """Neither as a picture, nor in a frame, nor as a script; but a link to a page may lead here."""
    for method, path in lesson.paths("GET"):
        for mode, dest in (
            ("no-cors", "image"),
            ("navigate", "iframe"),
            ("no-cors", "script"),
            ("cors", "empty"),
        ):
            headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
            assert lesson.send(method, path, headers=headers).status_code == 403, path
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    answer = lesson.send("GET", "/join", headers={**linked, "Referer": f"https://{EVIL}/"})
    assert answer.status_code == 200


def test_a_link_changes_nothing(lesson: Lesson) -> None:
    """Whatever it says, of all that a form says."""
    before = lesson.kept()
    for method, path in lesson.paths("GET", "HEAD"):
        for action in ("new", "undo", "label"):
            lesson.send(method, path, params={**FORM, "action": action})

    assert lesson.kept() == before


def test_a_packed_body_is_not_unpacked(lesson: Lesson) -> None:
    """Ten megabytes in fifty kilobytes stay that, and mean nothing."""
    packed = gzip.compress(bytes(10_000_000), 1)
    for method, path in lesson.paths("POST"):
        for encoding in ("gzip", "deflate"):
            headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
            answer = lesson.send(method, path, content=packed, headers=headers)
            assert (
                400 <= answer.status_code < 500 or answer.headers.get("location") == f"{lesson.teacher}/class"
            ), path


def test_no_address_leads_elsewhere(lesson: Lesson) -> None:
    """Nor out of the addresses of whoever asks, but to the door."""
    there = lesson.server.client.base_url
    for method, path in lesson.paths("GET"):
        page = path.removeprefix(lesson.teacher)
        for odd in (
            f"{path}/",
            f"{path}//",
            f"{path}/.",
            f"{lesson.teacher}//{EVIL}{page}",
            f"{lesson.teacher}/%2f{EVIL}{page}",
            f"{lesson.teacher}/%5c{EVIL}{page}/",
            f"//{EVIL}{path}/",
            f"/{EVIL}/..//{EVIL}{page}/",
            f"{path}/%0d%0aLocation:%20http://{EVIL}",
            f"{path}?to=//{EVIL}&next=https://{EVIL}&url=https://{EVIL}",
        ):
            answer = _raw_path(lesson, method, odd)
            if "location" not in answer.headers:
                assert answer.status_code < 300 or answer.status_code >= 400
                continue
            place = urlsplit(answer.headers["location"])
            assert place.netloc in ("", f"{there.host}:{there.port}"), odd
            assert not place.path.startswith("//"), odd
            assert place.path.startswith((f"{lesson.teacher}/", "/join")), (odd, place)
            if odd.startswith(lesson.teacher):
                assert place.path.startswith(lesson.teacher), (odd, place)


def _raw_path(lesson: Lesson, method: str, target: str) -> httpx.Response:
    """Ask for a target as it is written: a client would mend it."""
    request = lesson.server.client.build_request(method, "/", headers=PAGE)
    request.extensions["target"] = target.encode()
    return lesson.server.client.send(request)


@pytest.mark.parametrize(
    "name",
    ['a"b.csv', "a%0d%0aX-Evil:%201.csv", "%e2%80%aevsc.exe", "%c3%a9.csv", "a;filename=b.exe", "%ff.csv", "a\\b.csv", "..%2fa.csv"],
)  # fmt: skip
def test_the_name_of_a_file_is_ours(lesson: Lesson, name: str) -> None:
    """Nothing that is asked for gets into a header, and a file has the name that a page gave it."""
    for method, path in lesson.paths("GET", name=name):
        answer = _raw_path(lesson, method, path)
        assert "x-evil" not in answer.headers
        assert "content-disposition" not in answer.headers
        assert all(value.isprintable() and value.isascii() for value in answer.headers.values()), path


def test_what_is_kept_has_nothing_of_who_asked_first(lesson: Lesson) -> None:
    """No header of a request, its port among them, is in the answer that the next one gets."""
    port = f"{lesson.server.client.base_url.host}:6666"
    forged = {
        "Host": port,
        "Forwarded": f"host={EVIL};proto=ftp",
        "X-Forwarded-For": "6.6.6.6",
        "X-Forwarded-Port": "6666",
        "X-HTTP-Method-Override": "DELETE",
        **{f"X-Forwarded-{name}": EVIL for name in ("Host", "Proto", "Prefix", "Server")},
        **dict.fromkeys(("X-Original-URL", "X-Rewrite-URL", "X-Host", "Via"), f"/{EVIL}"),
        **PAGE,
    }
    for method, path in lesson.paths("GET"):
        first = lesson.send(method, path, headers=forged)
        assert EVIL not in first.text + str(first.headers), path
        later = lesson.send(method, path, headers=PAGE)
        assert not re.search(rf"{EVIL}|:6666\b|6\.6\.6\.6", later.text + str(later.headers)), path
