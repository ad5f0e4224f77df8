"""The store served: ``sentgen publish`` copies it for ``serve`` (HTTP, a browser) and ``mcp`` (programs)."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from sentgen import temporary
from sentgen.cli.console.interrupts import end_on_signal
from sentgen.cli.console.options import Arrange, DbOptions, StoreOptions, parse_size
from sentgen.default_store import unnamed_path
from sentgen.errors import InputError, spell
from sentgen.extras import needs
from sentgen.options import Option
from sentgen.schema import snapshots
from sentgen.schema import snapshots as published
from sentgen.server.addresses import ANY, ANY_OF_FOUR, addresses_here, in_url
from sentgen.server.operations import Limits
from sentgen.server.settings import LOOPBACK, ServerSettings, Serving
from sentgen.server.users import UserFile, new_token
from sentgen.system.files import others_may_read, read_text
from sentgen.system.processes import importing

if TYPE_CHECKING:
    from sentgen.server.classroom import Classroom


def publish(
    *,
    to: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="Folder of the snapshots; made if need be.")
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus",
            metavar="CORPUS",
            help="Publish this corpus only, and what is made of it alone; may be repeated.",
        ),
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=1, help="Remove all but the N newest snapshots.")
    ] = None,
    options: StoreOptions,
) -> None:
    """Publish the store: copy it, as it is now, into a read-only file that `sentgen serve` opens.

    The file is named by the hash of its content, so that a store that did not change is published once. The
    manifest beside it (JSON) lists corpora, licences, models and versions. Files that corpora were read from
    are named without the folders in which they lie. With --corpus the file has nothing of other corpora: no
    words, no models that know them, no evaluations. Prints the path of the file.

    Example: `sentgen publish --to snapshots --keep 3`
    """
    done = snapshots.publish(
        options.path, to, corpora=corpus or (), keep=keep, memory_limit=options.database_memory()
    )
    # The only line on standard output, for scripts.
    typer.echo(done.snapshot.path)
    typer.echo("published" if done.new else "published already; nothing was copied", err=True)
    for name in done.removed:
        typer.echo(f"removed {name}", err=True)


_WHO = "Who may ask"
_AFTER = Arrange(after="workers")
_limit = partial(Option, panel="Limits")
_proxied = partial(Option, panel="Behind a proxy")


SnapshotsOption = Annotated[
    Path | None,
    typer.Option(
        "--snapshots", metavar="DIR", help="Serve the newest snapshot of `sentgen publish --to DIR`."
    ),
]


SqlOption = Annotated[
    bool, typer.Option("--read-only-sql/--no-sql", help="Offer SQL, or not.", rich_help_panel=_WHO)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """What a request may cost, in the units of the command line."""

    timeout: Annotated[float, _limit("Time limit for computation.", metavar="SECONDS", least=0.1)] = 30.0
    sql_timeout: Annotated[
        float, _limit("Time limit for SQL and look-ups.", metavar="SECONDS", least=0.1)
    ] = 10.0
    max_rows: Annotated[int, _limit("Rows of an answer.", metavar="N", least=1)] = 10_000
    max_body: Annotated[str, _limit("Bytes of a request.", metavar="SIZE")] = "1MB"
    max_queue: Annotated[int, _limit("Requests that wait for a kind of work.", metavar="N", least=0)] = 64
    user_requests: Annotated[
        int, _limit("Requests of one user (--users) that are answered at a time.", metavar="N", least=1)
    ] = 8
    desk_sets: Annotated[
        int, _limit("Line sets that one address may have made on the desk.", metavar="N", least=1)
    ] = 200
    desk_bytes: Annotated[
        str, _limit("Bytes on the desk of line sets and labels of one address.", metavar="SIZE")
    ] = "128MB"
    cache: Annotated[
        str, _limit("Memory for answers that are asked for again; 0 for none.", metavar="SIZE")
    ] = "64MB"
    worker_memory: Annotated[str, _limit("Memory of a worker.", metavar="SIZE")] = "2GB"

    @property
    def limits(self) -> Limits:
        """Return them as the server takes them."""
        return Limits(
            body=parse_size(self.max_body) or 0,
            rows=self.max_rows,
            seconds={
                "lookup": self.sql_timeout,
                "compute": self.timeout,
                "sql": self.sql_timeout,
                "desk": self.sql_timeout,
            },
            queue=self.max_queue,
            user_requests=self.user_requests,
            desk_sets=self.desk_sets,
            desk_bytes=parse_size(self.desk_bytes) or 0,
            kept=parse_size(self.cache) or 0,
            memory=parse_size(self.worker_memory) or 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProxyOptions:
    """Where a server is offered, and whom it believes."""

    base_path: Annotated[
        str, _proxied("Path below which a proxy offers the server, such as /corpora.", metavar="PATH")
    ] = ""
    proxy: Annotated[
        list[str],
        _proxied("Address of a proxy whose X-Forwarded-For is believed; may be repeated.", metavar="ADDRESS"),
    ] = field(default_factory=list)
    allow_origin: Annotated[
        list[str],
        _proxied(
            "Another site whose pages may ask, such as https://example.org; may be repeated.", metavar="URL"
        ),
    ] = field(default_factory=list)


def token() -> None:
    """Make a token for a user of `sentgen serve --users`: print it, and the line for the file of users.

    The file has a hash of it only: give the token to the user, as it is not written anywhere.

    Example: `sentgen token`
    """
    made, digest = new_token()
    typer.echo(made)
    typer.echo(f'token = "{digest}"')


def serve(
    *,
    snapshots: SnapshotsOption = None,
    options: DbOptions,
    serving: Serving,
    token_file: Annotated[
        Path | None,
        typer.Option(
            # In a file, as anybody can read arguments in the list of processes.
            "--token-file",
            metavar="FILE",
            help="File of access tokens, one a line.",
            rich_help_panel=_WHO,
        ),
        _AFTER,
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            "--users",
            metavar="FILE",
            help="File of users, and of the corpora that each may see (TOML).",
            rich_help_panel=_WHO,
        ),
        _AFTER,
    ] = None,
    class_: Annotated[
        bool,
        typer.Option(
            "--class",
            help="Let a class in, in this network: whoever gives a name at /join.",
            rich_help_panel=_WHO,
        ),
        _AFTER,
    ] = False,
    names: Annotated[
        Path | None,
        typer.Option(
            "--names",
            metavar="FILE",
            help="Let only these into the class: a file with a name a line.",
            rich_help_panel=_WHO,
        ),
        _AFTER,
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Host name to allow; may be repeated.",
            rich_help_panel=_WHO,
        ),
        _AFTER,
    ] = None,
    behind: Annotated[_ProxyOptions, _AFTER],
    sql: Annotated[SqlOption, _AFTER] = True,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="PAGES",
            help="Offer only these pages, such as `query,word`, and what they need.",
            rich_help_panel=_WHO,
        ),
        _AFTER,
    ] = None,
    request: LimitOptions,
) -> None:
    """Serve a published store over HTTP: the API under /v1, and pages for a browser.

    With --snapshots, a newer snapshot is served as soon as it is published. With --db, or neither, a private
    snapshot of the store is made first, and later changes are not seen. Logs go to standard error.

    Example: `sentgen serve --snapshots snapshots --port 8000`
    """
    with importing(), needs("server", "FastAPI or uvicorn, which the server is made of,"):
        import fastapi  # noqa: F401  `running` imports it when workers start already

        from sentgen.server import running  # here, as the help of all commands does not need it

    ways = {"--class": class_, "--users": users is not None, "--token-file": token_file is not None}
    if len(given := [name for name, each in ways.items() if each]) > 1:
        raise typer.BadParameter(f"{given[0]} and {given[1]} exclude each other; choose one")
    if names is not None and not class_:
        raise typer.BadParameter("--names is who may join a class; give --class, too")
    if class_:
        with needs("server", "segno or ifaddr, with which a class finds the server,"):
            import ifaddr  # noqa: F401  needed when the server has started already
            import segno  # noqa: F401
        serving = replace(
            serving, host=serving.host or _all_of_class(), desk=serving.desk or _desk_of_class()
        )
    classroom = _classroom(serving, allow_host or (), names) if class_ else None
    limits, pages = request.limits, _pages(only, sql=sql, desk=serving.desk is not None)
    with _served_folder(snapshots, options) as folder:
        settings = ServerSettings(
            folder,
            tokens=_tokens(token_file),
            users=UserFile(users) if users else None,  # which others may read, as its tokens are hashed
            classroom=classroom,
            hosts=tuple(allow_host or ()),
            base_path=_base_path(behind.base_path),
            proxies=_addresses(behind.proxy),
            origins=_origins(behind.allow_origin),
            sql=sql and (not pages or "sql" in pages),
            only=pages,
            limits=limits,
            **{**asdict(serving), "host": serving.host or LOOPBACK},
        )
        running.serve(settings, ready=partial(_say, settings))


def _say(settings: ServerSettings, address: str) -> None:
    """Print the address of the server, and how a class reaches it."""
    classroom = settings.classroom
    if classroom is None:
        typer.echo(f"serving at {address}")
        return
    from sentgen.output.drawing import drawn_as_text
    from sentgen.server.classroom import JOIN, address_as

    port = urlsplit(address).port
    for listened, here in ((ANY_OF_FOUR, LOOPBACK), (in_url(ANY), in_url("::1"))):
        address = address.replace(f"//{listened}:", f"//{here}:")
    base = f"{settings.base_path}{address_as(classroom.teacher_token)}/class"
    typer.echo(f"serving at {address}")
    for host in classroom.hosts:
        typer.echo(f"students type: {in_url(host)}:{port}{settings.base_path}")
    typer.echo(f"kept in: {settings.desk}")
    if not classroom.hosts:
        typer.echo("students cannot reach this machine: it is in no network", err=True)
    elif sys.stdout.isatty() and sys.stdout.encoding.lower().startswith("utf"):
        typer.echo(
            drawn_as_text(f"http://{in_url(classroom.hosts[0])}:{port}{settings.base_path}{JOIN}"), nl=False
        )
    typer.echo(f"only for you: {address}{base}")


@contextmanager
def _served_folder(snapshots: Path | None, options: StoreOptions) -> Iterator[Path]:
    """Yield the folder of the snapshots: the named one, or a temporary one with a snapshot of the store."""
    if snapshots is not None and options.db is not None:
        raise typer.BadParameter("--snapshots and --db exclude each other; choose one")
    temporary.sweep()
    if snapshots is not None:
        yield snapshots
        return
    ordinary = signal.signal(signal.SIGTERM, end_on_signal)  # so that the folder is removed
    try:
        # With mode 0700, as the copy of the store is for this user only.
        with temporary.folder("sentgen-serve-") as folder:
            published.publish(options.path, folder)
            yield folder
    finally:
        signal.signal(signal.SIGTERM, ordinary)


def _pages(only: str | None, *, sql: bool, desk: bool) -> tuple[str, ...]:
    """Return the names of the offered pages; empty for all."""
    if only is None:
        return ()
    from sentgen.server.pages.site import read_offered  # which imports FastAPI

    names = read_offered(only)
    if "sql" in names and not sql:
        raise InputError("--only has the page of SQL, and --no-sql leaves it out; choose one of the two")
    if "lines" in names and not desk:
        raise InputError("--only has the page of line sets; give it a file for them: --desk FILE")
    return names


def _all_of_class() -> str:
    """Return the address to listen on for a class: IPv4, which is easy to type, or else IPv6."""
    return ANY if addresses_here((6,)) and not addresses_here() else ANY_OF_FOUR


def _desk_of_class() -> Path:
    """Return the default path of the desk of a class: next to the default store."""
    path = unnamed_path().with_name("class.desk")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _classroom(serving: Serving, names: Sequence[str], file: Path | None) -> Classroom:
    from sentgen.server.classroom import Classroom

    assert serving.desk
    host = str(serving.host).strip("[]")
    versions = {ANY_OF_FOUR: (4,), ANY: (4, 6)}.get(host, ())
    return Classroom(serving.desk, (*names, *(() if versions else (host,))), file, versions)


def _base_path(given: str) -> str:
    """Return a path without a slash at the end; empty for the root."""
    path = given.rstrip("/")
    if path and not re.fullmatch(r"(/[\w.~-]+)+", path, re.ASCII):
        raise InputError(f"{spell('base_path')} is a path such as /corpora; {given!r} is none")
    return path


def _addresses(given: Sequence[str]) -> tuple[str, ...]:
    """Return addresses and networks of proxies in normal form."""
    for each in given:
        try:
            ip_network(each)
        except ValueError:
            raise InputError(
                f"{spell('proxy')} is an address such as 10.0.0.1, or a network such as 10.0.0.0/8;"
                f" {each!r} is none"
            ) from None
    return tuple(given)


def _origins(given: Sequence[str]) -> tuple[str, ...]:
    """Return other sites as browsers write them in the header Origin."""
    for each in given:
        parts = urlsplit(each)
        if (
            parts.scheme not in ("http", "https")
            or not parts.netloc
            or each != f"{parts.scheme}://{parts.netloc}"
        ):
            raise InputError(
                f"{spell('allow_origin')} is a site such as https://example.org, without a path;"
                f" {each!r} is none"
            )
    return tuple(each.lower() for each in given)


def _tokens(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the tokens cannot be read: {error}", path=str(path)) from error
    # In a container, there are no other users.
    if others_may_read(path) and path.parent != Path("/run/secrets"):
        raise InputError(f"others may read these tokens; run: chmod 600 {quote(str(path))}", path=str(path))
    tokens = tuple(line.strip() for line in lines if line.strip())
    # Shorter ones can be guessed, as nothing limits the number of requests.
    if not tokens or any(len(secret) < 16 for secret in tokens):
        raise InputError("needs tokens of 16 characters or more, one a line", path=str(path))
    return tokens


def mcp(
    *,
    snapshots: SnapshotsOption = None,
    options: DbOptions,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="URL",
            help="A `sentgen serve` of the same snapshots: answers link to its pages.",
        ),
    ] = None,
    sql: SqlOption = True,
    request: Annotated[
        LimitOptions, Arrange(only=("timeout", "sql_timeout", "max_rows", "max_body", "worker_memory"))
    ],
) -> None:
    """Let a program ask the store by MCP (Model Context Protocol), on standard input and output.

    The program starts this command itself, and has eight tools: corpora, kwic, match, frequencies,
    collocations, ngrams, score and sql. They only read, with the limits of `sentgen serve`, which has the
    same tools at /mcp. With --db, or neither, a private snapshot of the store is made first.

    Example: `sentgen mcp --snapshots snapshots`
    """
    with needs("mcp", "The SDK of MCP"):
        from sentgen.server import tools  # here, as the help of all commands does not need it

    if address is not None and urlsplit(address).scheme not in ("http", "https"):
        raise InputError(f"--address {address!r} is no address; give one such as http://127.0.0.1:8000")
    with _served_folder(snapshots, options) as folder:
        settings = ServerSettings(folder, sql=sql, limits=request.limits, warm_up=False)
        tools.speak(settings, address=(address or "").rstrip("/"))
