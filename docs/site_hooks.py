"""What the pages of the documentation need beside the files of this folder.

mkdocs.yml names this file, and `mkdocs build` runs it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
#: Files above the folder of the pages that are pages, too.
ABOVE = ("CONTRIBUTING.md", "CHANGELOG.md")
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
ICON = ROOT / "sentgen" / "server" / "pages" / "static" / "icon.svg"

_CELL = re.compile(r"<(t[dh])\b.*?</\1>", re.DOTALL)
_CODE = re.compile(r'<div class="highlight"><pre>.*?</pre></div>', re.DOTALL)
#: A line behind a prompt of the shell or of Python.
_TYPED = re.compile(r'^(?:.*<code>)?<span class="gp">.*?</span>(.*)$', re.MULTILINE)
_TAG = re.compile(r"<[^>]*>")


@cache
def _installed() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with the packages as they are installed: two of them lie beside sentgen/ here."""
    folder = tempfile.TemporaryDirectory(prefix="sentgen-docs-")
    package = Path(folder.name, "sentgen")
    package.mkdir()
    for path in (*(ROOT / "sentgen").iterdir(), ROOT / "schema", ROOT / "migrations"):
        (package / path.name).symlink_to(path)
    return folder


@event_priority(100)  # before mkdocstrings reads it
def on_config(config: Any) -> Any:
    """Lead the reader of docstrings to the packages."""
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_installed().name]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the files that are elsewhere, and those that are made of the code, as it is now."""
    sys.path.insert(0, str(DOCS))
    from generate_reference import pages

    for path, text in pages().items():
        name = path.relative_to(DOCS).as_posix()
        if old := files.get_file_from_path(name):
            files.remove(old)
        if path.suffix in (".md", ".json"):
            files.append(File.generated(config, name, content=text()))
    for name in ABOVE:
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    for path in NOTEBOOKS:  # to be taken along
        files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    files.append(File.generated(config, "img/icon.svg", abs_src_path=str(ICON)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Show files that a page links to, and lead links to files above this folder to their pages."""
    from generate_reference import with_files

    markdown = with_files(markdown)
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    for name in ABOVE:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    return re.sub(r"\]\(\.\./(examples/[\w-]+\.ipynb\))", r"](\1", markdown)


def on_page_content(html: str, **_: Any) -> str:
    r"""Show ``\|`` in a cell as the bar that it stands for, as other readers of Markdown do in code, too.

    >>> on_page_content(r"<td><code>a\|b</code></td> <code>\|</code>")
    '<td><code>a|b</code></td> <code>\\|</code>'
    """
    return _CELL.sub(lambda cell: cell[0].replace("\\|", "|"), _CODE.sub(_with_commands, html))


def _with_commands(block: re.Match[str]) -> str:
    """Tell the button of a block with prompts to copy what is typed there, neither prompts nor outputs."""
    typed = "\n".join(unescape(_TAG.sub("", line)) for line in _TYPED.findall(block[0]))
    return block[0].replace("<div", f'<div data-copy="{escape(typed)}"', 1) if typed else block[0]


def on_shutdown() -> None:
    """Leave nothing behind."""
    _installed().cleanup()
