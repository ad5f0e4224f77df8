"""A class: its students with their tokens, and a log in memory of their requests and errors.

The beginning of an address identifies the student: ``/as/TOKEN/query?...``. There are no cookies, which a
browser would also send with requests from pages of other sites, and no passwords, which somebody would have
to hand out.
"""

from __future__ import annotations

import logging
import math
import re
import secrets
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qsl, quote

from starlette.types import Scope

from sentgen.desk.desk import Desk
from sentgen.desk.students import add_student, check_student, looks_of, remove_students, students_of
from sentgen.errors import InputError, printable
from sentgen.server.addresses import addresses_here
from sentgen.server.problems import PROBLEMS, Refused
from sentgen.server.users import USER, User, digest_of
from sentgen.system.files import read_text

#: Most requests of a lesson that are kept; older ones are dropped.
_MOST_REQUESTS = 2000
#: Most characters of an address, and of an error, that are kept.
_MOST_CHARACTERS = 2000
#: Paths that are not logged: joining, the teacher's page, files, monitoring, and short links.
BESIDE = re.compile(r"/(join|class|static|healthz|metrics|s)(/|$)")


@dataclass(frozen=True, slots=True)
class LessonRequest:
    """A question of a student.

    Attributes:
        at: time of the answer, by the clock of the server.
        student: name of the student.
        page: path of the page or route, as `/query`.
        asked: the parameters, as `query: "camp" · corpus: gum`.
        link: address of the answer for others; empty if it is no page or was sent by a form.
        status: HTTP status of the answer.
        seconds: duration of the request.
        problem: text of the error; empty without one.
    """

    at: datetime
    student: str
    page: str
    asked: str
    link: str
    status: int
    seconds: float
    problem: str = ""


@dataclass(slots=True)
class Lesson:
    """The last questions of a class, and the names of all who have ever asked one."""

    requests: deque[LessonRequest] = field(default_factory=lambda: deque(maxlen=_MOST_REQUESTS))
    askers: set[str] = field(default_factory=set)

    def record(self, scope: Scope, student: str, status: int, seconds: float) -> None:
        """Log an answered request, if it is a question."""
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        if BESIDE.match(path) or not (query or scope["method"] == "POST"):
            return
        self.askers.add(student)
        pairs = parse_qsl(query[:_MOST_CHARACTERS], errors="replace")
        # Only of known routes: another path may look like the address of another server.
        linked = scope["method"] == "GET" and getattr(scope.get("route"), "path", "") == path
        problems = " ".join(dict.fromkeys(scope.get(PROBLEMS, ())))
        self.requests.append(
            LessonRequest(
                datetime.now().astimezone(),
                student,
                path[:_MOST_CHARACTERS],
                printable(" · ".join(f"{name}: {value}" for name, value in pairs)),
                f"{path}?{query}" if linked and query and len(query) < _MOST_CHARACTERS else "",
                status,
                seconds,
                problems[:_MOST_CHARACTERS] or ("" if status < 400 else str(status)),
            )
        )

    def newest(self, student: str = "", *, wrong: bool = False) -> Sequence[LessonRequest]:
        """Return the questions of a student, or of all, the newest first.

        Without a name they are of all students; with ``wrong`` only those with an error.
        """
        return [
            each
            for each in reversed(self.requests)
            if (not student or each.student == student) and (each.problem or not wrong)
        ]


logger = logging.getLogger(__name__)

#: Path of the page on which students join.
JOIN = "/join"
#: The user of the teacher's addresses; no student can take this name.
TEACHER = User("teacher")
#: Beginning of the paths of a student, with the token.
_AS = re.compile(r"/as/([a-z0-9]+)(?=/|$)")
#: Beginnings of paths that can be read without having joined, for the style of that page.
_OPEN = ("/static/",)
#: Letters and digits of tokens, without those that look alike; twelve of them have 59 bits.
_LETTERS, _LENGTH = "abcdefghjkmnpqrstuvwxyz23456789", 12
#: Most names that one address may take in so many seconds; a whole class may share an address.
_MOST_NAMES, _SECONDS = 40, 60.0
#: Seconds after which the addresses of this machine are looked up again.
_SECONDS_KNOWN = 3.0
#: Most characters of the address to which a student returns after joining.
_LONGEST_ADDRESS = 4000


@dataclass(slots=True)
class Classroom:
    """The students of a class, who are stored on a desk.

    Attributes:
        path: file of the desk.
        given: addresses and names of this machine that students can type.
        versions: versions of IP on all of whose addresses the server listens; the addresses may change.
        names: file with the names of those who may join, one per line; without it, everybody may.
        teacher_token: token of the teacher's addresses, new each time the server starts.
        lesson: log of the requests.
        closed: whether joining is closed now.
    """

    path: Path
    given: Sequence[str]
    names: Path | None = None
    versions: Sequence[int] = ()
    teacher_token: str = field(default_factory=lambda: _new_token_to_type())
    lesson: Lesson = field(default_factory=Lesson)
    closed: bool = False
    _found: tuple[float, Sequence[str]] = (-math.inf, ())
    _names: Mapping[str, str] = field(default_factory=dict)
    _tried: defaultdict[str, deque[float]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=_MOST_NAMES))
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Read the students who have joined before, and check the file of names.

        Raises:
            SentgenError: the file is no desk, or the file of names cannot be read.
        """
        self._names = students_of(Desk.begin(self.path))
        if self.names:
            _read_names(self.names)

    @property
    def hosts(self) -> Sequence[str]:
        """Current addresses and names of this machine that students can type."""
        looked, addresses = self._found
        if self.versions and (now := time.monotonic()) - looked > _SECONDS_KNOWN:
            addresses = addresses_here(self.versions)
            self._found = now, addresses
        return tuple(dict.fromkeys([*self.given, *addresses]))

    @property
    def idle(self) -> list[str]:
        """Names of students without a question since the server started, the oldest first."""
        return [name for name in self._names.values() if name not in self.lesson.askers]

    @property
    def students(self) -> list[str]:
        """Names of those who have joined, in alphabetical order."""
        return sorted(self._names.values(), key=str.casefold)

    def find(self, token: str) -> User | None:
        """Return the user of a token, ``None`` if nobody has it."""
        if secrets.compare_digest(token, self.teacher_token):
            return TEACHER
        name = self._names.get(digest_of(token.encode()))
        return User(name) if name else None

    def enter(self, scope: Scope) -> Scope:
        """Return a request with its user, and without the token in its path.

        Raises:
            Refused: nobody has this token, and the page is not open to all.
        """
        path, base = scope["path"], scope.get("app_root_path", "")
        begun = _AS.match(path)
        user = self.find(begun[1]) if begun else None
        if begun:
            path = path[begun.end() :] or "/"
        if user is None and path != JOIN and not path.startswith(_OPEN):
            raise _unknown(base, path, scope["query_string"], stale=begun is not None)
        if user is None or begun is None:
            return {**scope, "path": path, USER: user or User()}
        return {**scope, "path": path, "app_root_path": f"{base}{begun[0]}", USER: user}

    def join(self, name: str, client: str) -> str:
        """Add a student by name; return the new token.

        Raises:
            InputError: the name is invalid, taken, or not in the file of names; or too many were taken here.
        """
        with self._lock:
            tried, now = self._tried[client], time.monotonic()
            if len(tried) == _MOST_NAMES and now - tried[0] < _SECONDS:
                raise InputError("too many names from this device; wait a minute")
            tried.append(now)
            if self.closed:
                raise InputError("the door of this class is closed; ask your teacher to open it")
            name = self._known(check_student(name))
            if looks_of(name) & looks_of(TEACHER.name):
                raise InputError("this is what the teacher is called here; take another name")
            token = _new_token_to_type()
            desk = Desk(self.path)
            name = add_student(desk, name, digest_of(token.encode()), idle=self.idle)
            known = students_of(desk)
            # In the order of joining, without an idle student who may have been removed to make room.
            present = {key: each for key, each in self._names.items() if key in known}
            self._names = {**present, digest_of(token.encode()): name}
        return token

    def leave(self, *names: str) -> None:
        """Remove students by name: their tokens are no longer valid, and their names are free."""
        with self._lock:
            remove_students(Desk(self.path), names)
            self._names = {token: each for token, each in self._names.items() if each not in names}
            self.lesson.askers.difference_update(names)

    def _known(self, name: str) -> str:
        """Return a name as spelled in the file of names, if there is such a file."""
        if self.names is None:
            return name
        try:
            known = _read_names(self.names)
        except InputError as error:
            # The student is told neither the path nor the content of the file.
            logger.error("names cannot be read", extra={"error": str(error)})
            raise InputError("the names of this class cannot be read; tell your teacher") from None
        for each in known:
            if looks_of(name) & looks_of(each):
                return each
        raise InputError(f"{name} is not among the names of this class; write yours as your teacher does")


def address_as(token: str) -> str:
    """Return the beginning of the paths of a student, by the token."""
    return f"/as/{token}"


def _new_token_to_type() -> str:
    """Return a new token that is easy to type."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def _read_names(path: Path) -> list[str]:
    """Read a file of names, one per line.

    Raises:
        InputError: the file cannot be read, has no names, or has a name twice.
    """
    try:
        lines = enumerate(read_text(path).splitlines(), 1)
        names = {number: check_student(line) for number, line in lines if line.strip()}
    except OSError as error:
        raise InputError(f"the names cannot be read: {error.strerror}", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("the names are no text in UTF-8; save them as that", path=str(path)) from error
    except InputError as error:
        raise InputError(str(error), path=str(path)) from error
    if not names:
        raise InputError("there are no names in it; write one a line", path=str(path))
    for twice in _alike(names):
        raise InputError(f"{twice} stands there twice, or looks like another name", path=str(path))
    return [*names.values()]


def _alike(names: dict[int, str]) -> Iterator[str]:
    seen = set[str]()
    for name in names.values():
        if looks_of(name) & seen:
            yield name
        seen |= looks_of(name)


def _unknown(base: str, path: str, query: bytes, *, stale: bool) -> Refused:
    """Return the refusal that redirects to the page for joining, and from there to the requested page."""
    to = quote(path, safe="/") + (f"?{query.decode('latin-1')}" if query else "")
    target = f"?to={quote(to, safe='')}" if to != "/" and len(to) < _LONGEST_ADDRESS else ""
    gone = f"{'&' if target else '?'}gone=1" if stale else ""
    return Refused(
        401, "class", f"join the class first, at {base}{JOIN}", {"Location": f"{base}{JOIN}{target}{gone}"}
    )
