"""Show docstrings as they are meant: the reader of docstrings calls this."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^( *)>>> .*(?:\n\1\S.*|\n\1 +\S.*)*", re.MULTILINE)
_CODE = re.compile(r"(```.*?```|``.*?``|`.*?`)", re.DOTALL)


def as_markdown(docstring: str) -> str:
    r"""Put examples into blocks of code, and let words such as </s> be no markup.

    >>> as_markdown("Add up to </s>.\n\n>>> 1 + 1\n2\n")
    'Add up to &lt;/s>.\n\n```pycon\n>>> 1 + 1\n2\n```\n'
    """
    fenced = _EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", docstring)
    # Every other piece is code.
    pieces = _CODE.split(fenced)
    return "".join(piece if i % 2 else piece.replace("<", "&lt;") for i, piece in enumerate(pieces))


class Markdown(Extension):
    """Change a docstring before its sections are read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of anything that is documented."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
