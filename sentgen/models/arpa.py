"""Models as ARPA files: the text format that SRILM, KenLM and most decoders read; gzipped if named so.

ARPA files hold logarithms to base 10, the store natural ones; the conversion happens here and nowhere else.
Within an order the n-grams are sorted by the ids of their words.

Words are separated by spaces, so that a word that holds white space or a control character cannot be written
as it is, nor can ``<UNK>``, which KenLM takes for ``<unk>``. Such characters are written ``\\uXXXX``; a
backslash is too where it would be read as the start of such an escape. Reading undoes it.
"""

from __future__ import annotations

import codecs
import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.counts.strings import StoredStrings
from sentgen.errors import InputError, ModelError
from sentgen.models.base import sql
from sentgen.models.base.registry import DYNAMIC, STUPID_BACKOFF, ModelInfo, require_name
from sentgen.models.base.symbols import OF_WORDS, Symbols
from sentgen.models.building.recipe import CLOSING, OPENING, Recipe, drop_temporary
from sentgen.models.building.writing import OrderNgrams, Source, record
from sentgen.output.files import whole_file
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader
from sentgen.schema.store import append, next_id, raw
from sentgen.schema.tables.corpus import BOS, EOS, word
from sentgen.schema.tables.counts import MAX_ORDER
from sentgen.system.files import open_to_read

_FILE = "arpa.sql"
_BATCH = 100_000
#: Rows converted to text at once; each takes some hundred bytes of memory.
_WRITTEN = 20_000
_LN10 = math.log(10)
#: The logarithm that ARPA files write for a probability of zero.
# As SRILM writes it; -inf would make NaN of a sum with a back-off weight.
_ZERO = -99.0
_UNSAFE = re.compile(r"[\x00-\x20\x7f]|\\(?=u[0-9a-f]{4})")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
# Digits are bounded: int() refuses some thousand of them with a traceback.
_COUNT = re.compile(rb"ngram\s+(\d{1,3})\s*=\s*(\d{1,18})\s*", re.IGNORECASE)
_OVER = re.compile(rb"# over: (tags|classes|items) (\d{1,9})")
_SECTION = re.compile(rb"\\(\d{1,3})-grams:\s*", re.IGNORECASE)
#: A number as ARPA files write it; `float` would also accept `nan` and `1_000`.
_LOGARITHM = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|-inf(?:inity)?", re.IGNORECASE)
#: How many lines may precede the data; toolkits write their name and arguments there.
_PREFACE = 10_000
#: Maximal length of a line in bytes.
_MOST_LINE_BYTES = 1 << 20
#: Reserved words: the start and the end of a sentence.
_MARKS = {BOS: "<s>", EOS: "</s>"}

Progress = Callable[[str], None]


def escape(form: str) -> str:
    """Return the spelling of a word in an ARPA file.

    >>> escape("New York"), escape("a_b"), escape("<UNK>")
    ('New\\\\u0020York', 'a_b', '\\\\u003cUNK>')
    """
    if form == "<UNK>":
        return "\\u003cUNK>"
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", form)


def unescape(form: str) -> str:
    """Return the word with this spelling in an ARPA file; the inverse of `escape`."""
    if form == "<UNK>":
        return "<unk>"
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), form) if "\\u" in form else form


def export_arpa(
    store: Store, model: ModelInfo, path: Path | str, *, progress: Progress | None = None
) -> None:
    """Write a model to an ARPA file, whole or not at all: to a temporary file that is then renamed.

    Raises:
        InputError: the file cannot be written there, or the disk is full.
        ModelError: the model has no probabilities.
        StoreError: the store cannot be read.
    """
    if model.smoothing == STUPID_BACKOFF:
        raise ModelError(
            f"{model.label}: scores of {model.smoothing} are no probabilities, which ARPA files hold; "
            "export a model of kneser-ney or katz"
        )
    if model.smoothing == DYNAMIC:
        labels, weights = zip(*model.parts, strict=True)
        raise ModelError(
            f"{model.label} has no n-grams to write; store them first: sentgen models mix NAME"
            f" --of {','.join(labels)} --weights {','.join(format(weight, '.6g') for weight in weights)}"
        )
    path, report = Path(path), progress or (lambda _: None)
    with store.begin() as connection, whole_file(path) as plain, _packed(path, plain) as file:
        _escape_forms(connection, model)
        # Counted before any n-gram is written: the header has the numbers, and a pipe has no second pass.
        counts = {int(n): int(count) for n, count in sql.run(connection, _FILE, "counts", model=model.id)}
        if not model.symbols.are_words:
            # A comment before the data, which KenLM and SRILM skip.
            file.write(b"# over: %s %d\n" % (model.symbols.over.encode(), model.symbols.kept))
        file.write(b"\\data\\\n")
        file.writelines(b"ngram %d=%d\n" % item for item in counts.items())
        for n in counts:
            report(f"writing order {n}")
            file.write(b"\n\\%d-grams:\n" % n)
            for lines in _lines(connection, model, n):
                file.write("\n".join(lines).encode() + b"\n")
        file.write(b"\n\\end\\\n")
        drop_temporary(connection)


def _packed(path: Path, plain: IO[bytes]) -> AbstractContextManager[IO[bytes] | gzip.GzipFile]:
    """Return a stream that compresses into ``plain`` if the name of the file ends in .gz, else ``plain``."""
    if path.suffix != ".gz":
        return nullcontext(plain)
    # No name and no time in the gzip header, so that the same model gives the same bytes.
    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=plain, mtime=0)


def _escape_forms(connection: Connection, model: ModelInfo) -> None:
    """Make the temporary table ``arpa_form``: the words of the model with their escaped spellings."""
    unsafe = sql.run(connection, _FILE, "unsafe", model=model.id)
    if any(form == "" for _, form in unsafe):
        raise InputError("the model has an empty word, which an ARPA file cannot hold")
    ids, forms = [number for number, _ in unsafe], [escape(form) for _, form in unsafe]
    sql.rows(connection, "create or replace temp table arpa_escaped (id integer, form varchar)")
    columns = {"id": pa.array(ids, pa.int32()), "form": pa.array(forms, pa.string())}
    append(connection, "arpa_escaped", pa.table(columns))
    sql.run(connection, _FILE, "forms", model=model.id)


def _lines(connection: Connection, model: ModelInfo, n: int) -> Iterator[list[str]]:
    """Yield the lines of one order, a batch at a time."""
    # Nine digits distinguish all floats of 32 bits, which KenLM keeps. N-grams of the highest order are
    # never contexts, and have no back-off weight.
    weight = "chr(9) || format('{:.9g}', g.backoff / ln(10))" if n < model.order else "''"
    query = sql.statements(_FILE)["lines"].format(
        model=model.id,
        n=n,
        words=sql.words(n, prefix="g."),
        forms=" || ' ' || ".join(f"f{i}.form" for i in range(1, n + 1)),
        joins="\n".join(f"join arpa_form f{i} on f{i}.id = g.w{i}" for i in range(1, n + 1)),
        weight=weight,
    )
    for batch in arrow_reader(raw(connection), query, rows=_WRITTEN):
        yield batch.column(0).to_pylist()


def import_arpa(store: Store, name: str, path: Path | str, *, progress: Progress | None = None) -> ModelInfo:
    """Store an ARPA file as the next version of a model, with smoothing ``arpa``.

    Every n-gram must have its prefix and the unigrams of its words in the file, once, and there must be
    ``<s>`` and ``</s>``, as KenLM demands. Text before the data is passed over.
    A probability of -inf becomes 10^-99. A model with the words ``<np>`` and ``</np>`` is recorded as one
    that counts the brackets of base noun phrases; a comment before the data names its other symbols.

    Raises:
        InputError: the file cannot be read or is no valid ARPA file; the message names the line.
    """
    path, report = Path(path), progress or (lambda _: None)
    require_name(name)
    with store.begin() as connection:
        with _open(path) as file:
            strings = StoredStrings(connection, word, "form", partial(append, connection))
            reader = _Reader(path, file, strings, connection)
            order = reader.read(report)
        report("checking the n-grams")
        _check(connection, path, order)
        unknown = "word" if sql.rows(connection, "select 1 from arpa_gram_1 where w1 = 0") else "none"
        brackets = len(sql.run(connection, _FILE, "brackets", opening=OPENING, closing=CLOSING)) == 2
        settings = Recipe(order, "arpa", (), unknown, brackets, reader.symbols)
        ngrams = _anchors(connection, order), _sorted(connection, order)
        model = record(store, connection, name, settings, [], [], ngrams)
        drop_temporary(connection)
        return model


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    try:
        with open_to_read(path) as plain:
            # gzip is recognized by its first bytes, since the extension may be wrong.
            packed = plain.peek(2)[:2] == b"\x1f\x8b"
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=plain)) if packed else plain
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"the gzip file is damaged ({error})", path=str(path)) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=str(path)) from error


@dataclass(slots=True)
class _Reader:
    """Reads the lines of an ARPA file into ``arpa_gram_1`` and up."""

    path: Path
    file: IO[bytes]
    strings: StoredStrings
    connection: Connection
    line: int = 0
    symbols: Symbols = OF_WORDS

    def read(self, report: Progress) -> int:
        """Read the whole file and return its order."""
        counts = self._header()
        for n, expected in enumerate(counts, start=1):
            report(f"reading order {n}")
            columns = ", ".join(f"w{i} integer" for i in range(1, n + 1))
            sql.run(self.connection, _FILE, "table", n=n, columns=columns)
            following = self._section(n, expected)
            section = _SECTION.fullmatch(following)
            # A file that was cut off between two sections would be read as a smaller model.
            if n == len(counts):
                if following.strip().lower() != b"\\end\\":
                    raise self.error(f"expected \\end\\ after the {n}-grams, found {_shown(following)}")
            elif section is None or int(section[1]) != n + 1:
                raise self.error(f"expected \\{n + 1}-grams: after the {n}-grams, found {_shown(following)}")
        return len(counts)

    def error(self, message: str, line: int | None = None) -> InputError:
        return InputError(message, path=str(self.path), line=line or self.line)

    def _next(self) -> bytes:
        """Return the next line that is not blank, empty bytes at the end of the file."""
        while line := self.file.readline(_MOST_LINE_BYTES):
            self.line += 1
            if len(line) == _MOST_LINE_BYTES:
                raise self.error(f"a line of more than {_MOST_LINE_BYTES:,} bytes")
            if not line.isspace():
                return line
        return b""

    def _header(self) -> list[int]:
        """Read up to the first section and return the number of n-grams of each order."""
        line = self._next().removeprefix(codecs.BOM_UTF8)
        begin = _shown(line)
        while line.strip().lower() != b"\\data\\":
            if not line or self.line > _PREFACE:
                raise self.error(f"not an ARPA file: no line is \\data\\; it begins with {begin}", 1)
            if match := _OVER.fullmatch(line.strip()):
                self.symbols = Symbols(match[1].decode(), int(match[2]))
            line = self._next()
        counts: list[int] = []
        while match := _COUNT.fullmatch(line := self._next()):
            if int(match[1]) != len(counts) + 1:
                raise self.error(f"expected the number of {len(counts) + 1}-grams, found {_shown(line)}")
            counts.append(int(match[2]))
        section = _SECTION.fullmatch(line)
        if not counts or section is None or int(section[1]) != 1:
            raise self.error(f"expected ngram 1=NUMBER and \\1-grams:, found {_shown(line)}")
        if len(counts) > MAX_ORDER:
            raise self.error(f"order {len(counts)}; the highest that a model may have is {MAX_ORDER}")
        return counts

    def _section(self, n: int, expected: int) -> bytes:
        """Read the n-grams of one order and return the line after them."""
        read = 0
        batch: list[tuple[list[bytes], int]] = []
        while (line := self._next()) and not line.startswith(b"\\"):
            batch.append((line.split(), self.line))
            if len(batch) == _BATCH:
                self._store(n, batch)
                read, batch = read + len(batch), []
        self._store(n, batch)
        read += len(batch)
        if read != expected:
            raise self.error(f"{read} {n}-grams, but the header says {expected}")
        if not line:
            raise self.error(f"the file ends in the {n}-grams; it was cut off")
        return line

    def _store(self, n: int, batch: list[tuple[list[bytes], int]]) -> None:
        if not batch:
            return
        for fields, line in batch:
            # The back-off weight may be omitted where it is 0.
            if len(fields) not in (n + 1, n + 2):
                raise self.error(f"expected a number, {quantity(n, 'word')} and a back-off weight", line)
        logps = [self._number(fields[0], line) for fields, line in batch]
        backoffs = [self._number(f[n + 1], line) if len(f) > n + 1 else 0.0 for f, line in batch]
        for value, (_, line) in zip(logps, batch, strict=True):
            if value > 0:
                raise self.error(f"log-probability {value} is above 0", line)
        forms = [self._form(fields[i], line) for fields, line in batch for i in range(1, n + 1)]
        ids = np.asarray(self.strings.encode(forms), np.int32).reshape(len(batch), n)
        columns = {f"w{i + 1}": pa.array(ids[:, i]) for i in range(n)}
        # The store has natural logarithms, the file logarithms to base 10.
        columns["logp"] = pa.array(np.maximum(logps, _ZERO) * _LN10)
        columns["backoff"] = pa.array(np.maximum(backoffs, _ZERO) * _LN10)
        # The line numbers are kept until `_check`, whose messages name them.
        columns["line"] = pa.array([line for _, line in batch], pa.int64())
        append(self.connection, f"arpa_gram_{n}", pa.table(columns))

    def _number(self, field: bytes, line: int) -> float:
        # -inf is accepted: `_store` replaces it by the logarithm of a probability of zero.
        value = float(field) if _LOGARITHM.fullmatch(field) else math.inf
        if value == math.inf:
            raise self.error(f"{_shown(field)} is not a logarithm", line)
        return value

    def _form(self, field: bytes, line: int) -> str:
        try:
            form = unescape(field.decode())
        except UnicodeDecodeError as error:
            raise self.error("not valid UTF-8; convert the file first", line) from error
        if "\n" in form:
            raise self.error("a word with a line feed", line)
        return form


def _check(connection: Connection, path: Path, order: int) -> None:
    """Refuse n-grams that occur twice or lack their prefix or a unigram, and a model without </s>."""
    rows = sql.rows(connection, f"select w1 from arpa_gram_1 where w1 in ({BOS}, {EOS})")
    missing = [mark for word_id, mark in _MARKS.items() if (word_id,) not in {*map(tuple, rows)}]
    if missing:
        raise InputError(
            f"no 1-gram is {' or '.join(missing)}, without which no sentence has a probability; "
            "train the model on sentences between <s> and </s>",
            path=str(path),
        )
    for n in range(1, order + 1):
        problems = {"duplicate": f"this {n}-gram occurs twice"}
        if n > 1:
            problems["without_prefix"] = f"this {n}-gram without its last word is no {n - 1}-gram of the file"
            problems["without_unigram"] = f"the last word of this {n}-gram is no unigram of the file"
        for statement, message in problems.items():
            values = {"n": n, "shorter": n - 1, "words": sql.words(n), "same": sql.matching("g", "p", n - 1)}
            line = sql.run(connection, _FILE, statement, **values)[0][0]
            if line is not None:
                raise InputError(message, path=str(path), line=line)


def _anchors(connection: Connection, order: int) -> Longs:
    """Return how many n-grams of the file have each anchor, an array over word ids."""
    counts = np.zeros(next_id(connection, word), np.int64)
    for n in range(1, order + 1):
        for anchor, ngrams in sql.run(connection, _FILE, "anchors", n=n, words=sql.words(n)):
            counts[anchor] += ngrams
    return counts


def _sorted(connection: Connection, order: int) -> Source:
    """Return a source that reads the n-grams of the file, sorted."""

    def between(least: int, end: int) -> Iterator[OrderNgrams]:
        for n in range(1, order + 1):
            values = {"n": n, "words": sql.words(n), "least": least, "end": end}
            query = sql.statements(_FILE)["sorted"].format(**values)
            for batch in arrow_reader(raw(connection), query, rows=_BATCH):
                *words, logp, backoff = (column.to_numpy() for column in batch.columns)
                yield OrderNgrams(np.stack(words), logp, backoff)

    return between


def _shown(line: bytes) -> str:
    text = line.strip()[:40].decode("utf-8", "replace")
    return repr(text) if text else "the end of the file"
