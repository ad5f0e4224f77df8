"""Tags of vertical files, which are no XML, and the escaping of names of attributes.

A tag is on a line of its own, nested or not, with attributes in any common spelling. In a name, a character
that the format does not allow is written as its code, `_xHHHH_`, as Excel and .NET write names of columns in
XML: `Speaker name` is `Speaker_x0020_name`. An underscore that would be read as the beginning of such a code
is escaped, too, so that different names remain different.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import NamedTuple

from sentgen.corpus.encodings import without_c1
from sentgen.corpus.sentence import Region

#: What XML has in names, beyond ASCII, without the combining marks that are no letters in vertical files.
_LETTERS = (
    "\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
# Both are to take it: `re` has digits, such as a raised 2, that are no letters of XML.
_BEGINS = re.compile(rf"(?=[A-Z_a-z{_LETTERS}])[^\W\d]")
_NO_PART = re.compile(rf"[^A-Z_a-z0-9.{_LETTERS}-]|[^\w.-]")
#: Characters that end a key in a comment of CoNLL-U, or a line.
_NO_PART_OF_KEY = re.compile("[\x00-\x1f=\x7f-\x9f\ud800-\udfff\ufffe\uffff]|^\\s|\\s$")
_LIKE_NUMBERS = re.compile("_(?=x[0-9A-Fa-f]{4})")
_NUMBER = re.compile("_x([0-9A-Fa-f]{4,6})_")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: How the empty name is written.
_EMPTY = "_x_"


def xml_name(name: str, *, taken: bool = False) -> str:
    """Return a name escaped for XML and vertical files; `name_written` undoes it.

    Args:
        name: the name.
        taken: whether the format reserves the name, so that it must be escaped.

    >>> xml_name("Speaker name"), xml_name("2nd"), xml_name("id", taken=True), xml_name("")
    ('Speaker_x0020_name', '_x0032_nd', '_x0069_d', '_x_')
    """
    if not name:
        return _EMPTY
    whole = taken or name in ("xmlns", _EMPTY) or _BEGINS.match(name) is None
    return _write_name(name, _NO_PART, first=whole)


def comment_key(name: str, *, taken: bool = False) -> str:
    """Return a name escaped for the key of a comment.

    >>> comment_key("a=b"), comment_key("text", taken=True), comment_key("Speaker name")
    ('a_x003D_b', '_x0074_ext', 'Speaker name')
    """
    return _write_name(name, _NO_PART_OF_KEY, first=taken or name == _EMPTY)


def name_written(written: str) -> str:
    """Return the name that was escaped.

    >>> name_written("a_x003D_b"), name_written("_x_"), name_written("_x000A_")
    ('a=b', '', '_x000A_')
    """
    if "_x" not in written:
        return written
    return "" if written == _EMPTY else _NUMBER.sub(_character_of_number, written)


def _write_name(name: str, no_part: re.Pattern[str], *, first: bool) -> str:
    begin = _number(name[0]) if first and name else ""
    rest = _LIKE_NUMBERS.sub("_x005F_", name[len(begin) > 0 :])
    return begin + no_part.sub(lambda match: _number(match[0]), rest)


def _number(character: str) -> str:
    return f"_x{ord(character):04X}_"


def _character_of_number(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    # A code of a line end is not decoded, as the name would end its line.
    return match[0] if code > 0x10FFFF or _FORBIDDEN.match(chr(code)) else chr(code)


#: Characters of a tag, at most.
LONGEST = 1 << 16
#: The mark of a missing value in attributes and columns.
UNDEFINED = frozenset(("_", "__UNDEF__"))
_NAME = r"[^\W\d][\w.:-]*"
_TAG = re.compile(rf"<(/?)({_NAME})([^\t]*)>\s*")
#: The form of most tags with attributes: `<s id="1">`.
_ONE_ATTRIBUTE = re.compile(rf'<({_NAME}) ({_NAME})="([^"&\t]*)">')
_PLAIN = re.compile(rf'\s+({_NAME})="([^"]*)"')
_ALL_PLAIN = re.compile(rf'(?:\s+{_NAME}="[^"]*")*\s*')
# A quote within a value ends it only if an attribute or the end of the tag follows.
_ATTRIBUTE = re.compile(
    rf"""\s*({_NAME})(?:\s*=\s*(?:"([^"]*)"(?=\s|\Z)|'([^']*)'(?=\s|\Z)|([^\s"']+)"""
    rf"""|"(.*?)"(?=\s+{_NAME}\s*=|\s*\Z)|'(.*?)'(?=\s+{_NAME}\s*=|\s*\Z)))?(?=\s|\Z)"""
)
_ENTITY = re.compile(r"&(?:#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6})|[A-Za-z][A-Za-z0-9]*);")


class Tag(NamedTuple):
    """A tag: one that ``opens`` and ``closes`` is empty, as `<g/>`."""

    kind: str
    opens: bool
    closes: bool
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def region(self) -> Region:
        """Return the region that a tag opens, with unescaped names."""
        return Region(
            name_written(self.kind), tuple((name_written(key), value) for key, value in self.attributes)
        )


def tag_of(line: str) -> Tag | None:
    """Return the tag on a line, or ``None`` if the line is a token.

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
    """Return names and values of attributes, or ``None`` if the text is not a list of attributes."""
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
    """Return a text with its entities decoded, except unknown ones and those of control characters.

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
