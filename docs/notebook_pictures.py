"""Draw the pictures of docs/python.md: the notebooks of examples/ as Jupyter shows them.

Needs Chromium and, beside the extra `test`, nbconvert; run it after `examples/execute.py`::

    python docs/notebook_pictures.py
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "examples"))

import execute  # noqa: E402

_CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
_WIDTH, _COLORS = 900, 128
#: Where a picture says what it was taken of.
_KEY = "Source"


def picture(notebook: Path) -> Path:
    """Return where the picture of a notebook is."""
    return DOCS / "img" / f"notebook-{notebook.stem}.png"


def state(notebook: Path) -> str:
    """Return a hash of what a notebook shows, but for the bytes of its plots."""
    return hashlib.sha256(repr(execute.shown(execute.stored(notebook))).encode()).hexdigest()


def taken_of(notebook: Path) -> str:
    """Return the hash of what the picture of a notebook shows."""
    with Image.open(picture(notebook)) as image:
        return str(image.info[_KEY])


def main() -> None:
    """Draw all of them."""
    from nbconvert import HTMLExporter
    from playwright.sync_api import sync_playwright

    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"]) as browser,
    ):
        page = browser.new_page(viewport={"width": _WIDTH, "height": 400})
        for notebook in execute.NOTEBOOKS:
            html = Path(folder, "notebook.html")
            html.write_text(exporter.from_filename(str(notebook))[0], "utf-8")
            # Formulas and the like come from elsewhere, and are not needed.
            page.route("http*://**", lambda route: route.abort())
            page.goto(html.as_uri(), wait_until="load")
            _write(page.locator("main").screenshot(), notebook)


def _write(png: bytes, notebook: Path) -> None:
    told = PngInfo()
    told.add_text(_KEY, state(notebook))
    with Image.open(io.BytesIO(png)) as image:
        few = image.convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE)
        few.save(picture(notebook), optimize=True, pnginfo=told)


if __name__ == "__main__":
    main()
