"""Encodings of text: their names, the declarations of files, and suggestions for bytes that are not UTF-8.

Names have their meaning on the web (https://encoding.spec.whatwg.org/#names-and-labels): nearly all text that
is labelled ISO 8859-1 is Windows-1252, which has quotes and dashes where ISO 8859-1 has controls.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from itertools import pairwise

from sentgen.errors import InputError

UTF_8 = "utf-8"
#: The byte order marks of UTF-16.
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

#: Codecs of Python, and the larger ones that the web calls by the same names.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
#: Names on the web that Python does not know, without the prefix `x-`.
_NAMES = {
    "cn-big5": "big5",
    "cseucpkdfmtjapanese": "euc_jp",
    "cseuckr": "cp949",
    "csgb2312": "gb2312",
    "csisolatin9": "iso8859-15",
    "csksc56011987": "cp949",
    "csmacintosh": "mac_roman",
    "gb_2312": "gb2312",
    "gb_2312-80": "gb2312",
    "iso-10646-ucs-2": "utf-16-le",
    "iso-8859-6-e": "iso8859-6",
    "iso-8859-6-i": "iso8859-6",
    "iso-8859-8-e": "iso8859-8",
    "iso-8859-8-i": "iso8859-8",
    "iso-ir-149": "cp949",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "koi8-ru": "koi8-u",
    "ks_c_5601": "cp949",
    "ks_c_5601-1989": "cp949",
    "ksc_5601": "cp949",
    "logical": "iso8859-8",
    "mac": "mac_roman",
    "mac-ukrainian": "mac_cyrillic",
    "ucs-2": "utf-16-le",
    "unicode": "utf-16-le",
    "user-defined": "cp1252",
    "visual": "iso8859-8",
    "windows-31j": "cp932",
}
_PAGE = re.compile(r"(?:windows|dos|ibm)-?(\d+)")
_ISO_8859 = re.compile(r"iso[-_]?8859[-_]?(\d+)")
_XML = re.compile(rb"\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']\s*([\w.:-]+)")
_META = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_COMMENTS = re.compile(rb"<!--.*?-->", re.DOTALL)

#: Replacements of controls that are characters of Windows-1252, as in references of HTML (`&#146;`).
_MEANT = {code: text for code in range(0x80, 0xA0) if (text := bytes([code]).decode("cp1252", "ignore"))}

#: Frequent encodings of texts that are not UTF-8.
_FREQUENT = (
    *("cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "koi8-r", "cp1255", "cp1256"),
    *("cp932", "gb18030", "cp949", "big5hkscs"),
)
#: Bytes of a word that are decoded in each, and how many readings are listed.
_LONGEST_WORD, _MOST_READINGS = 16, 6


def codec_of(name: str) -> str:
    """Return the codec of Python for the name of an encoding on the web.

    Raises:
        LookupError: there is no encoding of text of that name.

    >>> codec_of("iso-8859-1"), codec_of("X-SJIS"), codec_of("windows-31j"), codec_of("UTF8")
    ('cp1252', 'cp932', 'cp932', 'utf-8')
    """
    label = name.strip().lower()
    while label.startswith("x-"):
        label = label[2:]
    label = _NAMES.get(label, label)
    for pattern, codec in ((_PAGE, "cp{}"), (_ISO_8859, "iso8859-{}")):
        if match := pattern.fullmatch(label):
            label = codec.format(match[1])
    try:
        known = codecs.lookup(label)
    except (ValueError, UnicodeError) as error:  # not a possible name of a module
        raise LookupError(name) from error
    if not known._is_text_encoding:
        raise LookupError(name)
    return _WIDER.get(known.name, known.name)


def check_encoding(name: str) -> None:
    """Refuse an encoding that is not known.

    Raises:
        InputError: there is no such encoding of text.
    """
    try:
        codec_of(name)
    except LookupError as error:
        raise InputError(
            f"no encoding {name!r}; there are utf-8, latin-1, cp1252, utf-16 and others"
        ) from error


def decoder_of(name: str) -> codecs.IncrementalDecoder:
    """Return a decoder that reads text in pieces.

    Raises:
        LookupError: there is no such encoding.
    """
    return codecs.getincrementaldecoder(codec_of(name))()


def declared_encoding(head: bytes, *, page: bool = False) -> str:
    """Return the encoding that the beginning of an XML file or web page declares, or an empty string.

    A byte order mark has precedence, then the XML declaration, then `<meta>`; in a ``page``, `<meta>`
    precedes the XML declaration.

    >>> declared_encoding(b'<?xml version="1.0" encoding="koi8-r"?>')
    'koi8-r'
    >>> declared_encoding(b"<meta charset=sjis>")
    'sjis'
    >>> declared_encoding(b"<!-- <meta charset=koi8-r> --><meta charset=sjis>", page=True)
    'sjis'
    """
    if head.startswith(UTF_16_MARKS):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return ""
    for begins, name in ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be")):
        if head.startswith(begins):
            return name
    shown = _COMMENTS.sub(b"", head)
    matches = [match for match in (_XML.match(head), _META.search(shown)) if match]
    name = matches[-1 if page else 0][1].decode("ascii") if matches else ""
    # A file whose declaration can be read byte by byte is not UTF-16, even if it declares that.
    return "" if name.lower().startswith(("utf-16", "ucs-2")) else name


def without_c1(text: str) -> str:
    """Return text with the controls U+0080 to U+009F replaced by the characters of Windows-1252.

    HTML does so in references (https://html.spec.whatwg.org/#numeric-character-reference-end-state).

    >>> without_c1("It\\x92s")
    'It’s'
    """
    return text if text.isascii() else text.translate(_MEANT)


def readings(line: bytes, position: int) -> str:
    """Return how the word at a byte of a line that is not UTF-8 reads in other encodings, likely ones first.

    No detector is used: a few bytes are too little for one, and a user who knows the language can choose.

    >>> readings("très".encode("cp1252"), 2).split(", ")[0]
    "cp1252 'très'"
    """
    begin = max(line.rfind(white, 0, position) for white in (b" ", b"\t", b"\n")) + 1
    begin = max(begin, position - _LONGEST_WORD)
    word = line[begin : position + _LONGEST_WORD].split()[0]
    cut = position + _LONGEST_WORD < len(line)
    suggestions: dict[str, str] = {}
    for name in _FREQUENT:
        try:
            text = codecs.getincrementaldecoder(name)().decode(word, final=not cut)
        except UnicodeDecodeError:
            continue
        if text.isprintable():
            suggestions.setdefault(text, name)
    likely = sorted(suggestions, key=_oddness)[:_MOST_READINGS]
    return ", ".join(f"{suggestions[text]} {text!r}" for text in likely)


def _oddness(text: str) -> int:
    """Return how many features a reading has that words do not have."""
    letters = [character for character in text if character.isalpha()]
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in letters}
    scripts = {"CJK" if script in ("HIRAGANA", "KATAKANA") else script for script in scripts}
    foreign = [letter for letter in letters if letter > "\x7f"]
    odd = (
        len(scripts) > 1,
        "HALFWIDTH" in scripts,
        # In languages with Latin letters, few words have more letters with marks than without.
        "LATIN" in scripts and 2 * len(foreign) > len(letters),
        any(before.islower() and letter.isupper() for before, letter in pairwise(text)),
        any(character > "\x7f" and unicodedata.category(character)[0] not in "LMP" for character in text),
    )
    return sum(map(bool, odd))
