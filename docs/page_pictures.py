"""Draw the pictures of docs/pages.md: pages of a server over the demo's store.

Needs Chromium and the extra `test`::

    python docs/page_pictures.py
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image

DOCS = Path(__file__).resolve().parent
_SENTGEN = (sys.executable, DOCS.parent / "cli.py")
_CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
_WIDTH, _COLORS = 1280, 128
_DOCUMENT = (
    "The flood reached the camp on Monday night. Two trucks brought water and tents before the road was"
    " closed. Nobody was hurt, and the families stayed with friends in the city."
)
_ABSTRACT = "Trucks brought water and tents to the camp. Nobody was injured."


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, and how much of it is shown."""

    name: str
    path: str
    height: int
    dark: bool = False
    #: Words that are clicked first.
    click: str = ""

    @property
    def file(self) -> Path:
        """Where the picture is."""
        return DOCS / "img" / f"pages-{self.name}.png"


def _at(path: str, **query: object) -> str:
    return f"{path}?{urlencode(query, doseq=True)}"


PICTURES = (
    Picture("word", _at("/word", word="camp"), 760),
    Picture(
        "sentence",
        _at("/sentence", corpus="relief", document="relief-003", sentence="relief-003-2"),
        760,
        dark=True,
    ),
    Picture(
        "query",
        _at(
            "/query",
            language="grew",
            query="pattern { V [lemma=lose|leave|receive]; V -[nsubj]-> S; V -[obj]-> O }",
            by="V.lemma",
            limit=6,
            open="0",
        ),
        1250,
    ),
    Picture(
        "regenerate",
        _at(
            "/regenerate",
            words="destroyed [the floods] . [The bridge] by was",
            algorithm=["joint", "beam", "ab"],
        ),
        1100,
    ),
    Picture("align", _at("/align", document=_DOCUMENT, abstract=_ABSTRACT), 1300, click="Nobody was injured"),
)


@contextmanager
def server() -> Iterator[str]:
    """Serve the store of the demo, and give the address."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "demo.duckdb")
        subprocess.run([*_SENTGEN, "demo", "--db", store], check=True, capture_output=True)
        serving = subprocess.Popen(
            [*_SENTGEN, "serve", "--db", store, "--port", "0", "--workers", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert serving.stdout
            said = iter(serving.stdout)
            yield next(found[0] for line in said if (found := re.search(r"http://[\w.]+:\d+", line)))
        finally:
            serving.terminate()
            serving.communicate()


def main() -> None:
    """Draw all of them."""
    from playwright.sync_api import sync_playwright

    with (
        server() as address,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"]) as browser,
    ):
        for picture in PICTURES:
            page = browser.new_page(
                viewport={"width": _WIDTH, "height": picture.height},
                color_scheme="dark" if picture.dark else "light",
            )
            page.goto(address + picture.path, wait_until="load")
            if picture.click:
                page.locator(".alignment").get_by_text(picture.click).first.click()
            with Image.open(io.BytesIO(page.screenshot())) as image:
                few = image.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE)
                few.save(picture.file, optimize=True)
            page.close()


if __name__ == "__main__":
    main()
