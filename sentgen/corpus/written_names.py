"""Names of attributes as formats can hold them: a character that cannot stand there is `_xHHHH_`, its number.

So do Excel and .NET write names of columns in XML: `Speaker name` is `Speaker_x0020_name`. No two names
become one, as an underscore that would be read as the beginning of such a number is written so, too.
"""

from __future__ import annotations

import re

#: What XML has in names, beyond ASCII, without the combining marks that are no letters in vertical files.
_LETTERS = (
    "\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
# Both are to take it: `re` has digits, such as a raised 2, that are no letters of XML.
_BEGINS = re.compile(rf"(?=[A-Z_a-z{_LETTERS}])[^\W\d]")
_NO_PART = re.compile(rf"[^A-Z_a-z0-9.{_LETTERS}-]|[^\w.-]")
#: What ends a key in a comment of CoNLL-U, or is no part of a line.
_NO_PART_OF_KEY = re.compile("[\x00-\x1f=\x7f-\x9f\ud800-\udfff\ufffe\uffff]|^\\s|\\s$")
_LIKE_NUMBERS = re.compile("_(?=x[0-9A-Fa-f]{4})")
_NUMBER = re.compile("_x([0-9A-Fa-f]{4,6})_")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: The name that has no characters.
_EMPTY = "_x_"


def xml_name(name: str, *, taken: bool = False) -> str:
    """Return a name as XML and vertical files have names, for `name_written` to read.

    Args:
        name: the name.
        taken: whether it means something else in that place, so that it cannot stand there as it is.

    >>> xml_name("Speaker name"), xml_name("2nd"), xml_name("id", taken=True), xml_name("")
    ('Speaker_x0020_name', '_x0032_nd', '_x0069_d', '_x_')
    """
    if not name:
        return _EMPTY
    whole = taken or name in ("xmlns", _EMPTY) or _BEGINS.match(name) is None
    return _write_name(name, _NO_PART, first=whole)


def comment_key(name: str, *, taken: bool = False) -> str:
    """Return a name as it can stand before the equals sign of a comment.

    >>> comment_key("a=b"), comment_key("text", taken=True), comment_key("Speaker name")
    ('a_x003D_b', '_x0074_ext', 'Speaker name')
    """
    return _write_name(name, _NO_PART_OF_KEY, first=taken or name == _EMPTY)


def name_written(written: str) -> str:
    """Return the name that was written so.

    >>> name_written("a_x003D_b"), name_written("_x_"), name_written("_x000A_")
    ('a=b', '', '_x000A_')
    """
    if "_x" not in written:
        return written
    return "" if written == _EMPTY else _NUMBER.sub(_character, written)


def _write_name(name: str, no_part: re.Pattern[str], *, first: bool) -> str:
    begin = _number(name[0]) if first and name else ""
    rest = _LIKE_NUMBERS.sub("_x005F_", name[len(begin) > 0 :])
    return begin + no_part.sub(lambda match: _number(match[0]), rest)


def _number(character: str) -> str:
    return f"_x{ord(character):04X}_"


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    # No line ends where one stands for a number, whoever wrote it.
    return match[0] if code > 0x10FFFF or _FORBIDDEN.match(chr(code)) else chr(code)
