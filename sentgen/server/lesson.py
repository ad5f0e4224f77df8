"""What a class asked, and what went wrong: the last requests, in memory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import parse_qsl

from starlette.types import Scope

from sentgen.errors import printable
from sentgen.server.problems import problems_of

#: Requests of a lesson; the oldest ones make room.
_MOST_REQUESTS = 2000
#: Characters of an address, and of what went wrong, that are kept.
_LONGEST = 2000
#: What is no question: who one is, the teacher's page, and files of pages.
_BESIDE = re.compile(r"/(join|class|static|healthz|metrics|s)(/|$)")


@dataclass(frozen=True, slots=True)
class LessonRequest:
    """A question of a student.

    Attributes:
        at: when it was answered, by the clock of the server.
        student: who asked.
        page: which page or route, as `/query`.
        asked: what was filled in, as `query: "camp" · corpus: gum`.
        link: its address for others; none where it is no page or was sent by a form.
        status: of the answer.
        seconds: that it took.
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
        if _BESIDE.match(path) or not (query or scope["method"] == "POST"):
            return
        self.askers.add(student)
        pairs = parse_qsl(query[:_LONGEST], errors="replace")
        # A path that leads nowhere may look like the address of another server.
        linked = scope["method"] == "GET" and getattr(scope.get("route"), "path", "") == path
        told = " ".join(dict.fromkeys(problems_of(scope)))
        self.requests.append(
            LessonRequest(
                datetime.now().astimezone(),
                student,
                path[:_LONGEST],
                printable(" · ".join(f"{name}: {value}" for name, value in pairs)),
                f"{path}?{query}" if linked and query and len(query) < _LONGEST else "",
                status,
                seconds,
                told[:_LONGEST] or ("" if status < 400 else str(status)),
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
