"""Mutants: bytes, characters, columns and lines that are flipped, cut, repeated, exchanged or made odd."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable

#: Text that readers trip over: empty and huge values, odd Unicode, symbols of formats, control characters.
ODD = (
    *("", " ", "  ", "\t", "\t\t", "\n", "\n\n\n", "\r", "\r\n", "_", "-", "--", "0", "-1", "1", "+1", "01"),
    *("1.5", "1e9", "1e400", "-1e400", "nan", "inf", "-inf", "Infinity", "9" * 19, "9" * 400, "9" * 5000),
    *(
        "²",
        "٣",
        "१२",
        "Ⅷ",
        "½",
        "\u200b",
        "\u200d",
        "\u202e",
        "\ufeff",
        "\u0301",
        "\xa0",
        "\u2028",
        "\u2029",
        "\x85",
    ),
    *("\ud7ff", "\ue000", "\uffff", "\U0010ffff", "👩‍👩‍👧", "ß", "İ", "ǆ", "ﬁ", "﷽", "e\u0301" * 50),
    *("\x00", "\x01", "\x1a", "\x1b[31m", "\x7f", "<s>", "</s>", "<unk>", "<UNK>", "<root>", "<np>", "</np>"),
    *(
        "(",
        ")",
        "((((",
        "))))",
        "[",
        "]",
        "{",
        "}",
        "[[",
        "{}",
        "[]",
        '"',
        "'",
        "''",
        "``",
        "\\",
        "\\\\",
        "\\u0000",
    ),
    *(
        "/",
        "//",
        "a/",
        "/b",
        "|",
        "|||",
        " ||| ",
        "#",
        "# newdoc id = ",
        "# sent_id = ",
        "1-2",
        "2-1",
        "1.1",
        "0.1",
    ),
    *(
        "null",
        "true",
        "NaN",
        "1-1",
        "0p0",
        "p1",
        "({",
        "})",
        "/ / })",
        "\\data\\",
        "\\end\\",
        "\\1-grams:",
        "ngram 1=",
    ),
    *(
        "*",
        "?",
        "%",
        "word:",
        "upos:",
        ":",
        "=",
        ",",
        ";",
        "..",
        "../..",
        "~",
        "$",
        "-99",
        "a" * 3000,
        "( " * 600,
    ),
    *("[" * 3000, '{"a":' * 1500, "(S " * 1500),
)

_BYTES = (
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\x80",
    b"\x00" * 8,
)


def mutant(rng: random.Random, sample: str, others: list[str]) -> bytes:
    """Return a sample with one to four mutations; bits are flipped last, when it is bytes."""
    text = sample
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(_OF_TEXT)(rng, text, others)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.2:
        data = rng.choice(_OF_BYTES)(rng, data)
    return data


def mutant_text(rng: random.Random, sample: str, others: list[str]) -> str:
    """Return a mutated sample as a string, as it may come from a command line."""
    return mutant(rng, sample, others).decode("utf-8", "replace")


#: What compresses, by the ending of its files.
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def packed(rng: random.Random, data: bytes, name: str) -> tuple[bytes, str]:
    """Return a file compressed in some way, often damaged, with its name."""
    way = rng.choice((".gz", ".bz2", ".xz", ".zip", ".zip"))
    if way == ".zip":
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for number in range(rng.choice((1, 1, 2, 3))):
                archive.writestr(
                    rng.choice((f"{number}{name}", f"a/{number}{name}", f"README{number}")), data
                )
        found = sink.getvalue()
    else:
        found = _COMPRESS[way](data)
    found = damaged(rng, found, rng.choice((0, 0, 1, 1, 3)))
    return found, name + rng.choice((way, way, ""))


def damaged(rng: random.Random, data: bytes, times: int) -> bytes:
    """Return bytes that are flipped, cut or put in so many times."""
    for _ in range(times):
        data = rng.choice(_OF_BYTES)(rng, data)
    return data


def _place(rng: random.Random, size: int) -> int:
    return rng.randrange(size + 1)


def _insert(rng: random.Random, text: str, _: list[str]) -> str:
    at = _place(rng, len(text))
    return text[:at] + rng.choice(ODD) + text[at:]


def _replace_word(rng: random.Random, text: str, _: list[str]) -> str:
    """Put something odd in place of a field, which blanks, tabs or brackets end."""
    ends = [at for at, character in enumerate(text) if character in ' \t\n()[]{}",:/-='] or [0]
    at = rng.randrange(len(ends))
    begin, end = ends[at] + 1, ends[at + 1] if at + 1 < len(ends) else len(text)
    return text[:begin] + rng.choice(ODD) + text[end:]


def _cut(rng: random.Random, text: str, _: list[str]) -> str:
    begin = _place(rng, len(text))
    end = min(len(text), begin + rng.choice((1, 1, 2, 5, 20, 200)))
    return rng.choice((text[:begin] + text[end:], text[:begin], text[begin:]))


def _repeat(rng: random.Random, text: str, _: list[str]) -> str:
    begin = _place(rng, len(text))
    end = min(len(text), begin + rng.choice((1, 5, 40)))
    return text[:end] + text[begin:end] * rng.choice((1, 2, 50)) + text[end:]


def _lines(rng: random.Random, text: str, others: list[str]) -> str:
    """Remove, repeat, exchange, join, indent or import a line."""
    lines = text.split("\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(6)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines.insert(two, lines[one])
    elif what == 2:
        lines[one], lines[two] = lines[two], lines[one]
    elif what == 3:
        lines[one] += lines[two]
        lines[two] = ""
    elif what == 4:
        lines[one] = rng.choice((" ", "\t", "#", "\ufeff")) + lines[one]
    else:
        lines[one] = rng.choice(rng.choice(others).split("\n"))
    return "\n".join(lines)


def _columns(rng: random.Random, text: str, _: list[str]) -> str:
    """Remove, repeat, exchange, empty or put something odd into a column of some lines."""
    lines = text.split("\n")
    separator = rng.choice(("\t", "\t", " ", ",", "|||"))
    place, other, what, odd = rng.randrange(10), rng.randrange(10), rng.randrange(5), rng.choice(ODD)
    for at in range(len(lines)) if rng.random() < 0.3 else [rng.randrange(len(lines))]:
        fields = lines[at].split(separator)
        if place >= len(fields) or other >= len(fields):
            continue
        if what == 0:
            del fields[place]
        elif what == 1:
            fields.insert(other, fields[place])
        elif what == 2:
            fields[place], fields[other] = fields[other], fields[place]
        elif what == 3:
            fields[place] = ""
        else:
            fields[place] = odd
        lines[at] = separator.join(fields)
    return "\n".join(lines)


def _numbers(rng: random.Random, text: str, _: list[str]) -> str:
    """Exchange a digit for another number, which may be huge."""
    places = [at for at, character in enumerate(text) if character.isdigit()]
    if not places:
        return text
    at = rng.choice(places)
    return (
        text[:at]
        + rng.choice(("0", "7", "-1", "99", "1.5", "9" * 10, "9" * 20, "9" * 5000, "٣", "²", ""))
        + text[at + 1 :]
    )


def _splice(rng: random.Random, text: str, others: list[str]) -> str:
    """Join the beginning of one sample and the end of another."""
    other = rng.choice(others)
    return text[: _place(rng, len(text))] + other[_place(rng, len(other)) :]


def _many(rng: random.Random, text: str, _: list[str]) -> str:
    """Make it long: many copies, or one long line of it, to see how time grows."""
    if rng.random() < 0.8:
        return text
    copies = max(1, 100_000 // max(1, len(text)))
    return rng.choice((text, text.replace("\n", " "), text.replace("\n", ""))) * copies


_OF_TEXT: tuple[Callable[[random.Random, str, list[str]], str], ...] = (
    *(_insert, _insert, _replace_word, _replace_word, _replace_word, _cut, _repeat, _lines, _lines, _columns),
    *(_columns, _numbers, _splice, _many),
)


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _insert_bytes(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, len(data))
    return data[:at] + rng.choice(_BYTES) + data[at:]


def _cut_bytes(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, len(data))
    return rng.choice((data[:at], data[at:], data[:at] + data[at + rng.choice((1, 8, 100)) :]))


_OF_BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (_flip, _flip, _insert_bytes, _cut_bytes)
