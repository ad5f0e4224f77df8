r"""Regular expressions of queries: RE2, which DuckDB has, with the letters and digits of all scripts.

In RE2, ``\w``, ``\d``, ``\s`` and the classes of POSIX are ASCII; here they are classes of Unicode.
"""

from __future__ import annotations

import re

import duckdb
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.schema.engine import raw

#: Error messages of RE2, and the words for them in messages.
_FAULTS = {
    "missing )": "missing )",
    "missing ]": "missing ]",
    "unexpected )": "unexpected )",
    "trailing \\": "a backslash at the end; write two for one",
    "invalid escape sequence": "no such escape; write two backslashes for one",
    "invalid character class": "no such class of characters",
    "invalid character class range": "no such range or class of characters",
    "no argument for repetition operator": "nothing stands before this to be repeated; any characters are .*",
    "invalid repetition size": "this is repeated more than 1000 times",
    "bad repetition operator": "what is repeated cannot be repeated again; write parentheses",
    "invalid perl operator": "no such group; there are (...), (?:...) and (?i)",
    "invalid named capture group": "no such group; there are (...), (?:...) and (?i)",
}
_OTHER = "it cannot be read, or is too large; write it in another way"
_MATCHES = "select regexp_full_match('', $pattern)"


_WORD, _SPACE = r"\p{L}\p{M}\p{N}_", r"\s\v\x{85}\p{Z}"
#: The Unicode classes, as written between brackets, for escapes and classes of POSIX.
_CLASSES = {
    "w": _WORD,
    "d": r"\p{Nd}",
    "s": _SPACE,
    "alpha": r"\p{L}\p{M}",
    "alnum": r"\p{L}\p{M}\p{N}",
    "blank": r"\t\p{Zs}",
    "cntrl": r"\p{Cc}",
    "digit": r"\p{Nd}",
    "graph": r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}",
    "lower": r"\p{Ll}",
    "print": r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Zs}",
    "punct": r"\p{P}\p{S}",
    "space": _SPACE,
    "upper": r"\p{Lu}",
    "word": _WORD,
}
#: A piece of an expression: quoted text, a class in brackets, an escape, any other character.
_PIECE = re.compile(r"\\Q.*?(?:\\E|$)|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\\.|.", re.DOTALL)
#: An item in brackets: a class of POSIX, a property, an escape, any other character.
_ITEM = re.compile(r"\[:\^?\w+:\]|\\[pPx]\{[^}]*\}|\\.|.", re.DOTALL)
#: The characters of words without some of them.
_REST = {
    frozenset(): _WORD,
    frozenset({"_"}): r"\p{L}\p{M}\p{N}",
    frozenset({r"\d"}): r"\p{L}\p{M}\p{Nl}\p{No}_",
    frozenset({r"\d", "_"}): r"\p{L}\p{M}\p{Nl}\p{No}",
}


#: Private characters that mark the word bounds that RE2 can express; no query has them.
_BEGIN, _END = "\ue000", "\ue001"
#: Pieces that surely match characters of words, at the beginning of an expression, and at its end.
_GROUP = r"\((?:\?:)?\w+(?:\|\w+)*\)"
_WORD_STARTS = re.compile(rf"(?:\w|\\[wd]|{_GROUP})(?![?*{{])")
_WORD_ENDS = re.compile(rf"(?:(?<!\\)\w\+?|\\[wd]\+?|(?<!\\)\w\w[?*]|{_GROUP})$")


def to_re2(text: str) -> str:
    r"""Return a regular expression in which the classes that are ASCII in RE2 are written out for Unicode.

    >>> to_re2(r"\w+"), to_re2(r"[\d.]"), to_re2(r"[[:upper:]]\D")
    ('[\\p{L}\\p{M}\\p{N}_]+', '[\\p{Nd}.]', '[\\p{Lu}][^\\p{Nd}]')

    Raises:
        InputError: the expression has a class or a word bound that RE2 cannot express for all scripts.
    """
    given = _PIECE.findall(text)
    pieces = (
        _bound("".join(given[:at]), "".join(given[at + 1 :])) if piece == r"\b" else piece
        for at, piece in enumerate(given)
    )
    whole = "".join(map(_piece_to_re2, filter(None, pieces)))
    # Text before or behind a word must end, or begin, with a character that belongs to no word.
    return whole.replace(f".*{_BEGIN}", f"(?:.*[^{_WORD}])?").replace(f"{_END}.*", f"(?:[^{_WORD}].*)?")


def _bound(before: str, after: str) -> str:
    r"""Return the mark for a word bound at an end of the expression, beside ``.*`` or nothing.

    RE2 can express no other bounds.
    """
    begin = before.removeprefix("(?i)")
    if begin in ("", ".*") and _WORD_STARTS.match(after):
        return _BEGIN if begin else ""
    if after in ("", ".*") and _WORD_ENDS.search(before):
        return _END if after else ""
    return r"\b"


def _piece_to_re2(piece: str) -> str:
    if piece in (r"\b", r"\B"):
        raise InputError(
            rf"{piece} knows the letters of ASCII alone; write (.*\P{{L}})?word(\P{{L}}.*)? for .*\bword\b.*"
        )
    if len(piece) == 2 and piece[0] == "\\" and piece[1].lower() in _CLASSES:
        return f"[{'^' if piece[1].isupper() else ''}{_CLASSES[piece[1].lower()]}]"
    return _class_to_re2(piece) if piece[0] == "[" and len(piece) > 1 else piece


def _class_to_re2(piece: str) -> str:
    """Return a class in brackets; one with negated items becomes several classes joined by ``|``."""
    negated, items = piece.startswith("[^"), piece[1:-1].removeprefix("^")
    positive, included, excluded = list[str](), list[str](), list[str]()
    for item in _ITEM.findall(items):
        name, is_negated = _class_named(item)
        (excluded if is_negated else included).append(_CLASSES[name] if name else item)
        positive += [] if is_negated else [item]
    if not excluded:
        return f"[{'^' if negated else ''}{''.join(included)}]"
    complements = [f"[^{unicode_class}]" for unicode_class in excluded]
    if not negated:
        parts = [f"[{''.join(included)}]", *complements] if included else complements
        return f"(?:{'|'.join(parts)})"
    if set(excluded) == {_WORD} and (difference := _REST.get(frozenset(positive))):
        return f"[{difference}]"
    raise InputError(
        f"{piece} leaves out the opposite of a class; write what it matches, such as [\\p{{L}}\\p{{N}}]"
    )


def _class_named(item: str) -> tuple[str, bool]:
    """Return the name of a class between brackets (empty for another item), and whether it is negated."""
    if item.startswith("[:"):
        name = item[2:-2].removeprefix("^")
        return (name, item[2] == "^") if name in _CLASSES else ("", False)
    name = item[1:].lower() if len(item) == 2 and item[0] == "\\" else ""
    return (name, item[1].isupper()) if name in _CLASSES else ("", False)


#: Expressions of characters and dots: ``like`` matches them faster, and folds case as for single words.
_PLAIN = re.compile(r"(?:[^\\.*+?()\[\]{}|^$]|\\[^\w\s]|\.\*?)+")
_ANYTHING = {".*": "%", ".": "_"}


def like_pattern(text: str) -> str | None:
    r"""Return the pattern of ``like`` (escape: backslash) for an expression of characters and dots, or None.

    >>> like_pattern("un.*"), like_pattern("5%.ly"), like_pattern("a+"), like_pattern(r"e\.g.*")
    ('un%', '5\\%_ly', None, 'e.g%')
    """
    if _PLAIN.fullmatch(text) is None:
        return None
    return "".join(map(_like_piece, re.findall(r"\\.|\.\*|.", text, re.DOTALL)))


def _like_piece(piece: str) -> str:
    if piece in _ANYTHING:
        return _ANYTHING[piece]
    return f"\\{piece[-1]}" if piece[-1] in r"%_\\" else piece[-1]


def fault(connection: Connection, text: str) -> str | None:
    """Return what is wrong with a regular expression; None if DuckDB accepts it."""
    try:
        raw(connection).execute(_MATCHES, {"pattern": to_re2(text)}).fetchall()
    except duckdb.InvalidInputException as error:
        return explain_fault(error)[0]
    except InputError as error:
        return str(error)
    return None


def explain_fault(error: duckdb.InvalidInputException) -> tuple[str, str]:
    """Return what is wrong with a regular expression that DuckDB refuses, and the wrong piece of it."""
    reason = str(error).split("\n")[0].split("Error: ", 1)[-1]
    name, _, piece = reason.partition(": ")
    if name not in _FAULTS:
        return _OTHER, ""
    return f"{_FAULTS[name]}: {piece}" if piece else _FAULTS[name], piece
