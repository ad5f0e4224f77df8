"""Tags of vertical files, which are no XML: one a line, nested or not, with attributes as people write."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.entities import html5
from typing import NamedTuple

from sentgen.corpus.encodings import without_c1

#: Characters of a tag, at most.
LONGEST = 1 << 16
#: What stands for no value, in attributes and in columns.
UNDEFINED = frozenset(("_", "__UNDEF__"))
_NAME = r"[^\W\d][\w.:-]*"
_TAG = re.compile(rf"<(/?)({_NAME})([^\t]*)>\s*")
#: What most tags with attributes are: `<s id="1">`.
_ONE_ATTRIBUTE = re.compile(rf'<({_NAME}) ({_NAME})="([^"&\t]*)">')
_PLAIN = re.compile(rf'\s+({_NAME})="([^"]*)"')
_ALL_PLAIN = re.compile(rf'(?:\s+{_NAME}="[^"]*")*\s*')
# A quote within a value is none of its ends if no attribute and no end of the tag follows.
_ATTRIBUTE = re.compile(
    rf"""\s*({_NAME})(?:\s*=\s*(?:"([^"]*)"(?=\s|\Z)|'([^']*)'(?=\s|\Z)|([^\s"']+)"""
    rf"""|"(.*?)"(?=\s+{_NAME}\s*=|\s*\Z)|'(.*?)'(?=\s+{_NAME}\s*=|\s*\Z)))?(?=\s|\Z)"""
)
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
_LINE_ENDS = str.maketrans("\t\n\r", "   ")
_ENTITY = re.compile(r"&(?:#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6})|[A-Za-z][A-Za-z0-9]*);")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Tag(NamedTuple):
    """A tag: one that ``opens`` and ``closes`` is empty, as `<g/>`."""

    kind: str
    opens: bool
    closes: bool
    attributes: tuple[tuple[str, str], ...] = ()


def tag_of(line: str) -> Tag | None:
    """Return the tag that a line is, or ``None`` if it is a token.

    >>> tag_of('<doc id="a &amp; b" n=1 new>').attributes
    (('id', 'a & b'), ('n', '1'), ('new', ''))
    >>> tag_of("<"), tag_of("<3"), tag_of("<unk>\\tNN\\t<unk>")
    (None, None, None)
    """
    if match := _ONE_ATTRIBUTE.fullmatch(line):
        kind, name, value = match.groups()
        return Tag(kind, True, False, ((name, value),) if value not in UNDEFINED else ())
    match = _TAG.fullmatch(line)
    if match is None:
        return None
    end, kind, inner = match.groups()
    inner = inner.rstrip()
    empty = inner.endswith("/")
    inner = inner[:-1] if empty else inner
    pairs = _PLAIN.findall(inner) if _ALL_PLAIN.fullmatch(inner) else _pairs(inner)
    if pairs is None or (inner and not inner[0].isspace()):
        return None
    attributes: dict[str, str] = {}
    for name, value in pairs:
        if value not in UNDEFINED:
            attributes.setdefault(name, decode_entities(value))
    return Tag(kind, not end, bool(end or empty), tuple(attributes.items()))


def _pairs(text: str) -> list[tuple[str, str]] | None:
    """Return names and values of attributes, or ``None`` if it is something else."""
    pairs = []
    at, size = 0, len(text.rstrip())
    while at < size:
        match = _ATTRIBUTE.match(text, at)
        if match is None:
            return None
        pairs.append((match[1], next((group for group in match.groups()[1:] if group is not None), "")))
        at = match.end()
    return pairs


def decode_entities(text: str) -> str:
    """Return a text with its entities decoded; what is none stays, and so do those of control characters.

    >>> decode_entities("R&amp;D &lt;b&#62; AT&T &nosuch; &#10;")
    'R&D <b> AT&T &nosuch; &#10;'
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    name = match[0][1:]
    if name[0] != "#":
        return html5.get(name, match[0])
    code = int(name[2:-1], 16) if name[1] in "xX" else int(name[1:-1])
    text = without_c1(chr(code)) if code < 0x110000 else match[0]
    return match[0] if _FORBIDDEN.match(text) else text


def escape_entities(text: str) -> str:
    """Return a text as it stands in a column.

    >>> escape_entities("<R&D>")
    '&lt;R&amp;D&gt;'
    """
    for character, entity in _ESCAPES:
        text = text.replace(character, entity)
    return text


def opening_tag(kind: str, attributes: Iterable[tuple[str, str]]) -> str:
    """Return the tag that opens a region, its names as they are (see `written_names`).

    >>> opening_tag("doc", [("id", 'a "b"'), ("author", "_")])
    '<doc id="a &quot;b&quot;" author="&#95;">'
    """
    pairs = "".join(f' {key}="{_quote(value)}"' for key, value in attributes)
    return f"<{kind}{pairs}>"


def _quote(value: str) -> str:
    if value in UNDEFINED:
        return f"&#{ord(value[0])};{value[1:]}"
    return escape_entities(value.translate(_LINE_ENDS)).replace('"', "&quot;")
