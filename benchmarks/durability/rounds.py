"""A round: a command is disturbed some times, each time the store is looked at, and then it is completed."""

from __future__ import annotations

import random
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from durability.children import Child, Ended, files_beside, free_of_traceback
from durability.commands import Command, Course, Workshop
from durability.digests import NOTHING, Digest, differing, digest_of
from sentgen.schema import snapshots
from sentgen.schema.manifests import Snapshot

#: Where a process was: before its first commit, in one, between two, after the last; or in recovery, when an
#: earlier one had been killed.
PHASES = ("before", "in a commit", "between", "after", "recovery")
KILL, FULL_DISK, WRITE_ERROR, TWO_WRITERS, INTERRUPT = (
    "kill",
    "full disk",
    "write error",
    "two writers",
    "Ctrl-C",
)
#: How often each disturbance is chosen.
DISTURBANCES = {KILL: 86, FULL_DISK: 5, WRITE_ERROR: 3, TWO_WRITERS: 3, INTERRUPT: 3}
#: Share of kills that are aimed at a commit, of kills of the opening after a kill, and of going on disturbing.
_AIMED, _OPENING_TOO, _AGAIN = 0.5, 0.35, 0.75
_MOST = 5
#: A round in so many ends with `sentgen db check`.
_CHECKED = 10


@dataclass(slots=True)
class Event:
    """One disturbance: what, where the process was, and in which state it left the store."""

    kind: str
    phase: str
    moment: str
    code: int
    state: int | None


@dataclass(slots=True)
class Record:
    """What a round did."""

    number: int
    command: str
    events: list[Event] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    checked: bool = False
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON takes it."""
        return asdict(self)


class Fault(Exception):
    """Something that must not happen."""


class Round:
    """One round."""

    def __init__(self, shop: Workshop, number: int, command: Command, course: Course, kind: str) -> None:
        self.shop, self.command, self.course = shop, command, course
        self.random = random.Random(f"{shop.seed} round {number}")
        kinds = list(DISTURBANCES)
        drawn = self.random.choices(kinds, weights=list(DISTURBANCES.values()))[0]
        self.kind = kind or drawn
        self.record = Record(number, command.name)
        self.state = 0

    def run(self) -> Record:
        """Run it; faults are in the record, and what they left is kept beside."""
        began = time.monotonic()
        self.shop.fresh(self.command.base)
        self.record.checked = self.record.number % _CHECKED == 0
        try:
            for attempt in range(_MOST):
                arguments = self.command.to_complete(self.state, len(self.course.states))
                if arguments is None or not self._disturb(self.shop.with_store(arguments), attempt):
                    break
                if self.random.random() > _AGAIN:
                    break
            self._complete()
        except Fault as fault:
            self.record.faults.append(str(fault))
            self._keep()
        self.record.seconds = round(time.monotonic() - began, 2)
        return self.record

    def _disturb(self, arguments: list[str], attempt: int) -> bool:
        """Disturb the command once and look at the store; say whether it was disturbed at all."""
        kind = self.kind
        size = None
        if kind == FULL_DISK:
            before, after = self.course.sizes
            size = self.random.randrange(before // 2, max(after, before) + 1)
        child = Child(arguments, marks=self.shop.marks, file_size=size)
        moment, reached = (f"at byte {size}", True) if size is not None else self._wait(child, attempt)
        other = None
        if kind == KILL:
            child.send(signal.SIGKILL)
        elif kind == INTERRUPT:
            child.send(signal.SIGINT)
        elif kind == WRITE_ERROR:
            child.fail_writes()
        elif kind == TWO_WRITERS and reached:
            other = Child(self._other(arguments)).end()
        ended = child.end()
        event = Event(kind, self._phase(ended, attempt), moment, ended.code, None)
        self.record.events.append(event)
        self._check_end(kind, ended, other)
        if kind == KILL and ended.code == -signal.SIGKILL and self.random.random() < _OPENING_TOO:
            self._kill_opening()
        event.state = self._look(ended if not attempt else None)
        return ended.code != 0

    def _wait(self, child: Child, attempt: int) -> tuple[str, bool]:
        """Wait for a random moment: anywhere, or in a commit."""
        course = self.course
        if course.spans and self.random.random() < _AIMED and not attempt:
            lengths = [end - begin for begin, end in course.spans]
            place = self.random.choices(range(len(lengths)), weights=[one + 0.002 for one in lengths])[0]
            delay = self.random.uniform(0, 1.3 * lengths[place] + 0.001)
            begun = child.sleep_until(lambda: sum(m > 0 for m in child.marks.all()) > place)
            until = time.monotonic() + delay
            reached = begun and child.sleep_until(lambda: time.monotonic() >= until)
            return f"{delay:.4f} s after the beginning of commit {place + 1}", reached
        until = child.began + self.random.uniform(0, 1.05 * course.seconds)
        reached = child.sleep_until(lambda: time.monotonic() >= until)
        return f"{until - child.began:.4f} s after the start", reached

    def _other(self, arguments: list[str]) -> list[str]:
        """Return the second command: the same, or one that reads where the same would do it twice."""
        if self.command.again == "same":
            return arguments
        return self.shop.with_store(("corpora", "list"))

    def _phase(self, ended: Ended, attempt: int) -> str:
        begun, done = ended.commits
        if attempt:
            return "recovery"
        if begun > done:
            return "in a commit"
        if not done:
            return "before"
        return "after" if done >= len(self.course.spans) else "between"

    def _check_end(self, kind: str, ended: Ended, other: Ended | None) -> None:
        """Raise a fault unless the command ended as such a disturbance should end it."""
        if kind == KILL:
            if ended.code not in (0, -signal.SIGKILL):
                raise Fault(f"exit code {ended.code} of a command that was killed: {ended.said}")
            return
        for one in (ended, *([other] if other else ())):
            if not free_of_traceback(one):
                raise Fault(f"{kind}: exit code {one.code}: {one.said}")
        if kind == INTERRUPT and ended.code == 1:
            raise Fault(f"{kind}: exit code 1: {ended.said}")
        last = ended.said.strip().splitlines()[-1:] or [""]
        expected = {
            FULL_DISK: "the disk is full",
            WRITE_ERROR: "the disk is full",
            TWO_WRITERS: "in use by another process",
            INTERRUPT: "interrupted",
        }[kind]
        for one in (ended, *([other] if other else ())):
            last = one.said.strip().splitlines()[-1:] or [""]
            if one.code and expected not in last[0]:
                raise Fault(f"{kind}: {one.said}")

    def _kill_opening(self) -> None:
        """Open the store, as the next command would, and kill that too."""
        if not self.shop.store.exists():
            return
        child = Child(lambda: digest_of(self.shop.store, read_only=False))
        until = child.began + self.random.uniform(0.002, 0.15)
        child.sleep_until(lambda: time.monotonic() >= until)
        child.send(signal.SIGKILL)
        ended = child.end()
        moment = f"{until - child.began:.4f} s after opening"
        self.record.events.append(Event(KILL, "recovery", moment, ended.code, None))

    def _look(self, first: Ended | None) -> int:
        """Return the state of the store; raise a fault if it is in none, or in one that it cannot be in."""
        found = self._digest(read_only=self.random.random() < 0.3)
        states = self.course.states
        state = self.course.state_of(found)
        if state is None:
            tables = [differing(found, expected) for expected in states]
            raise Fault(f"the store is in none of its {len(states)} states: {min(tables, key=len)}")
        if state < self.state:
            raise Fault(f"the store went back from state {self.state} to state {state}")
        if first is not None and (wrong := self._impossible(state, first)):
            raise Fault(wrong)
        self.state = state
        return state

    def _impossible(self, state: int, ended: Ended) -> str:
        """Say what is wrong with a state after the commits that the process began and ended."""
        begun, done = ended.commits
        after = [0, *self.course.after]
        least = after[min(done, len(after) - 1)]
        most = after[min(begun, len(after) - 1)]
        if least <= state <= max(most, least):
            return ""
        return f"state {state} after {done} commits, and {begun - done} begun: not {least} to {most}"

    def _digest(self, *, read_only: bool) -> Digest:
        store = self.shop.store
        ended = Child(lambda: digest_of(store, read_only=read_only and store.stat().st_size > 0)).end()
        if ended.code or not ended.recorded or ended.recorded[0] is None:
            raise Fault(f"the store cannot be opened: {ended.said}")
        return ended.recorded[0]

    def _complete(self) -> None:
        """Run the command to its end, and compare the store with one that was never disturbed."""
        arguments = self.command.to_complete(self.state, len(self.course.states))
        if arguments is not None:
            ended = Child(self.shop.with_store(arguments)).end()
            if ended.code:
                raise Fault(f"does not complete: exit code {ended.code}: {ended.said}")
        if wrong := differing(self._digest(read_only=True), self.course.states[-1]):
            raise Fault(f"completed, but differs: {wrong}")
        if left := files_beside(self.shop.store):
            raise Fault(f"completed, but there is left: {', '.join(left)}")
        if self.command.name == "publish":
            self._check_snapshot()
        for backup in self.shop.store.parent.glob("*.backup-*"):
            self._check_copy(backup, self.course.states[0])
        if self.record.checked:
            ended = Child(self.shop.with_store(("db", "check"))).end()
            if ended.code:
                raise Fault(f"db check: {ended.said}")

    def _check_snapshot(self) -> None:
        """Raise a fault unless there is one snapshot, whole, as it is without disturbance."""
        found = Snapshot.all_in(self.shop.snapshots)
        if len(found) != 1:
            raise Fault(f"{len(found)} snapshots of one store")
        snapshots.verify(found[0])
        self._check_copy(found[0].path, self.course.published or NOTHING)

    def _check_copy(self, copy: Path, expected: Digest) -> None:
        """Raise a fault if a backup or a snapshot is not what was copied."""
        ended = Child(lambda: digest_of(copy, read_only=True)).end()
        if ended.code or differing(ended.recorded[0] or {}, expected):
            raise Fault(f"{copy.name} is not what was copied: {ended.said}")

    def _keep(self) -> None:
        """Keep what a fault left, for whoever looks for its cause."""
        target: Path = self.shop.folder / "faults" / str(self.record.number)
        shutil.rmtree(target, ignore_errors=True)
        with suppress(shutil.Error):  # what a process that still runs has removed meanwhile
            shutil.copytree(self.shop.store.parent, target)
