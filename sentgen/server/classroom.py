"""A class: who joined by which name, whose an address is, and what was asked and went wrong, in memory.

The beginning of an address says who asks: ``/as/TOKEN/query?...``. There are no cookies, which a browser
would send along with what the page of another site asks; and no passwords, which pupils have to be given.
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
from sentgen.server.problems import Refused, problems_of
from sentgen.server.users import USER, User, digest_of
from sentgen.system.files import read_text

#: Requests of a lesson; the oldest ones make room.
_MOST_REQUESTS = 2000
#: Characters of an address, and of what went wrong, that are kept.
_MOST_CHARACTERS = 2000
#: What is no question, nor a page for others: who one is, the teacher's page, what leads on, and files.
BESIDE = re.compile(r"/(join|class|static|healthz|metrics|s)(/|$)")


@dataclass(frozen=True, slots=True)
class LessonRequest:
    """A question of a student.

    Attributes:
        at: when it was answered, by the clock of the server.
        student: who asked.
        page: which page or route, as `/query`.
        asked: what was filled in, as `query: "camp" · corpus: gum`.
        link: address of the page for others; empty if it is no page or was sent by a form.
        status: status of the answer.
        seconds: seconds that it took.
        problem: what went wrong; nothing if nothing did.
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
    """The last questions of a class, and who has ever asked one."""

    requests: deque[LessonRequest] = field(default_factory=lambda: deque(maxlen=_MOST_REQUESTS))
    askers: set[str] = field(default_factory=set)

    def record(self, scope: Scope, student: str, status: int, seconds: float) -> None:
        """Write down a request that was answered, if it is a question."""
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        if BESIDE.match(path) or not (query or scope["method"] == "POST"):
            return
        self.askers.add(student)
        pairs = parse_qsl(query[:_MOST_CHARACTERS], errors="replace")
        # A path that leads nowhere may look like the address of another server.
        linked = scope["method"] == "GET" and getattr(scope.get("route"), "path", "") == path
        problems = " ".join(dict.fromkeys(problems_of(scope)))
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

        Args:
            student: the name; anybody's if there is none.
            wrong: only those with which something went wrong.
        """
        return [
            each
            for each in reversed(self.requests)
            if (not student or each.student == student) and (each.problem or not wrong)
        ]


logger = logging.getLogger(__name__)

#: Where a class is joined.
JOIN = "/join"
#: Whose name no student can have.
TEACHER = User("teacher")
#: Below which the addresses of a student lie.
_AS = re.compile(r"/as/([a-z0-9]+)(?=/|$)")
#: What can be read before one has joined: the page for that, and its style.
_OPEN = ("/static/",)
#: Letters and digits that are not taken for each other; twelve have 59 bits.
_LETTERS, _LENGTH = "abcdefghjkmnpqrstuvwxyz23456789", 12
#: A device may take as many names in so many seconds: a whole class may have one address.
_MOST_NAMES, _SECONDS = 40, 60.0
#: For so long the addresses of this machine are not looked up again.
_SECONDS_KNOWN = 3.0
#: A longer address is forgotten on the way through the page where one joins.
_LONGEST_ADDRESS = 4000


@dataclass(slots=True)
class Classroom:
    """The students of a class, whose names are stored on a desk.

    Attributes:
        path: the desk.
        given: addresses and names of this machine that students can type.
        versions: versions of IP; the server listens on all addresses of each, which change with its network.
        names: a file of the names that may join, a name a line; ``None`` if anybody may.
        teacher_token: the end of the teacher's addresses, new each time the server starts.
        lesson: the questions of the students.
        closed: whether nobody else may join now.
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
        """Read who has joined before, and who may.

        Raises:
            SentgenError: the desk is none, or the file of names cannot be read.
        """
        self._names = students_of(Desk.begin(self.path))
        if self.names:
            _read_names(self.names)

    @property
    def hosts(self) -> Sequence[str]:
        """Addresses and names of this machine that students can type, as they are now."""
        looked, addresses = self._found
        if self.versions and (now := time.monotonic()) - looked > _SECONDS_KNOWN:
            addresses = addresses_here(self.versions)
            self._found = now, addresses
        return tuple(dict.fromkeys([*self.given, *addresses]))

    @property
    def idle(self) -> list[str]:
        """The names by which nobody has asked anything since the server started, the oldest first."""
        return [name for name in self._names.values() if name not in self.lesson.askers]

    @property
    def students(self) -> list[str]:
        """The names of those who have joined, in the order of the alphabet."""
        return sorted(self._names.values(), key=str.casefold)

    def find(self, token: str) -> User | None:
        """Return whose token it is."""
        if secrets.compare_digest(token, self.teacher_token):
            return TEACHER
        name = self._names.get(digest_of(token.encode()))
        return User(name) if name else None

    def enter(self, scope: Scope) -> Scope:
        """Return a request as it would be without the beginning of its address, and with its user.

        Raises:
            Refused: nobody has this address, and the page is not open to all.
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
        """Let somebody in by a name; return the token.

        Raises:
            InputError: the name is no name, taken, or not one of the class; or this device takes too many.
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
            # In the order in which they came; one that was idle may have made room.
            present = {key: each for key, each in self._names.items() if key in known}
            self._names = {**present, digest_of(token.encode()): name}
        return token

    def leave(self, *names: str) -> None:
        """Let nobody in by the tokens of some names any more; these are free."""
        with self._lock:
            remove_students(Desk(self.path), names)
            self._names = {token: each for token, each in self._names.items() if each not in names}
            self.lesson.askers.difference_update(names)

    def _known(self, name: str) -> str:
        """Return a name as the file of names has it, if there is one."""
        if self.names is None:
            return name
        try:
            known = _read_names(self.names)
        except InputError as error:
            # Strangers must not learn the path of the file, nor its content.
            logger.error("names cannot be read", extra={"error": str(error)})
            raise InputError("the names of this class cannot be read; tell your teacher") from None
        for each in known:
            if looks_of(name) & looks_of(each):
                return each
        raise InputError(f"{name} is not among the names of this class; write yours as your teacher does")


def address_as(token: str) -> str:
    """Return the beginning of the addresses for the holder of a token."""
    return f"/as/{token}"


def _new_token_to_type() -> str:
    """Return a token that can be typed."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def _read_names(path: Path) -> list[str]:
    """Read a file of names, one a line.

    Raises:
        InputError: the file cannot be read, has no names, or one twice.
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
    """Return what leads to the page where one joins, and from there to what was asked for."""
    to = quote(path, safe="/") + (f"?{query.decode('latin-1')}" if query else "")
    target = f"?to={quote(to, safe='')}" if to != "/" and len(to) < _LONGEST_ADDRESS else ""
    gone = f"{'&' if target else '?'}gone=1" if stale else ""
    return Refused(
        401, "class", f"join the class first, at {base}{JOIN}", {"Location": f"{base}{JOIN}{target}{gone}"}
    )
