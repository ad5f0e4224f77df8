"""Tokens in a real browser, which knows a challenge or does not, whatever the standards say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn
from serving import until
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from sentgen.server.app import AccessMiddleware
from sentgen.server.monitoring import Metrics
from sentgen.server.settings import ServerSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, HttpCredentials

TOKEN = "0123456789-token"


async def _inside(scope: Scope, receive: Receive, send: Send) -> None:
    await HTMLResponse("<h1>Inside</h1>")(scope, receive, send)


@contextmanager
def guarded() -> Iterator[str]:
    """Serve a page behind the gate, in a thread of this process."""
    gate = AccessMiddleware(_inside, settings=ServerSettings(Path(), tokens=(TOKEN,)), metrics=Metrics())
    server = uvicorn.Server(uvicorn.Config(gate, port=0, lifespan="off", log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/word"
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(
    ("given", "status", "heading"),
    [
        ({"username": "anybody", "password": TOKEN}, 200, "Inside"),
        ({"username": "anybody", "password": "wrong"}, 401, "Unauthorized"),
    ],
)
def test_a_browser_gives_the_token_as_a_password(
    browser: Browser, given: HttpCredentials, status: int, heading: str
) -> None:
    """With a wrong one, its page says what to do, and fits on a telephone."""
    with guarded() as address, browser.new_context(http_credentials=given) as context:
        page = context.new_page()
        page.set_viewport_size({"width": 375, "height": 700})
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text))
        answer = page.goto(address)

        assert answer is not None
        assert (answer.status, page.locator("h1").inner_text()) == (status, heading)
        if status == 401:
            assert "as the password, with any user name" in page.get_by_role("alert").inner_text()
            assert page.evaluate("document.documentElement.scrollWidth") <= 375
            assert not [one for one in complaints if "Content Security Policy" in one]
