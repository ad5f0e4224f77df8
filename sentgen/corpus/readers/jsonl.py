"""JSON Lines: one object a line, with one of

* `tokens`: a list of words, and optionally the lists `lemmas`, `upos`, `xpos`, `heads`, `deprels`, `nps`;
* `sentences`: a list whose members are lists of words, or strings: raw sentences, still to be tokenised;
* `text`: raw text, to be split into sentences and tokenised as the format `text` does (a line a paragraph).

`id` names the document that begins with the object; objects without one continue the document before.
`--text` and `--id` name other keys than `text` and `id`; with `--text`, the object is that text.
`sent_id` names the sentence of a `tokens` object. Other keys with a string, a number, true or false are
metadata of the document that begins, or of the first sentence of an object without `id`; the rest is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from sentgen.corpus.comments import BREAKS, comment_of, document_comment
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._columns import Carried, FormatError, finish_sentence
from sentgen.corpus.readers.text import blank_separators
from sentgen.corpus.readers.text import read_raw as read_paragraphs
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import Rejection, spell

#: Names of the keys that `--text` and `--id` replace.
TEXT, ID = "text", "id"
_STRING_COLUMNS = ("lemmas", "upos", "xpos", "deprels")
_NUMBER_COLUMNS = ("heads", "nps")
_KNOWN = {ID, "sent_id", "tokens", "sentences", TEXT, *_STRING_COLUMNS, *_NUMBER_COLUMNS}
#: Control characters and surrogates, which escapes of JSON can encode.
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
FORBIDDEN_IN_TEXT = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")


def read(lines: Iterable[str], *, path: str, text: str = TEXT, id: str = ID) -> Iterator[Item]:
    """Yield the sentences, raw sentences or text of each object; a broken object is one rejection."""
    carried = Carried()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = parse_object(line)
            named = name_of(value, id)
            comments = _metadata(value, text, id)
            # The whole object before the first sentence is yielded: a broken object is one rejection.
            results = list(_sentences(value, path, number, text))
        except FormatError as error:
            yield Rejection(path, number, "", error.check_id, error.message)
            continue
        yield from carried.give_document(named, comments, results)


def parse_object(line: str) -> dict[str, object]:
    """Return the JSON object on a line, or raise `FormatError`."""
    try:
        value = json.loads(line)
    # RecursionError is raised on thousands of open brackets.
    except (ValueError, RecursionError) as error:
        raise FormatError("json", f"not JSON: {str(error)[:100]}") from error
    if not isinstance(value, dict):
        raise FormatError("json", "not a JSON object")
    return value


def _sentences(value: dict[str, object], path: str, line: int, text: str) -> Iterator[Item]:
    if text == TEXT and "tokens" in value:
        yield finish_sentence(_columns(value, line), path)
    elif text == TEXT and "sentences" in value:
        sentences = value["sentences"]
        if not isinstance(sentences, list):
            raise FormatError("json", "`sentences` is not a list")
        for sentence in sentences:
            if isinstance(sentence, str):
                yield RawText(check_raw(sentence).strip(), line, whole=True)
            else:
                yield finish_sentence(Sentence(check_strings(sentence, "sentences"), line=line), path)
    elif isinstance(whole := value.get(text), str):
        for raw in read_paragraphs(check_raw(whole).splitlines(), path=path):
            yield RawText(raw.text, line)
    elif text != TEXT:
        raise FormatError("json", f"`{text}` is no string here, which {spell('text')} says")
    else:
        raise FormatError("json", "none of `tokens`, `sentences` and `text` (a string) is there")


def _columns(value: dict[str, object], line: int) -> Sentence:
    sentence = Sentence(
        check_strings(value["tokens"], "tokens"), sent_id=name_of(value, "sent_id") or "", line=line
    )
    for key in _STRING_COLUMNS:
        if value.get(key) is not None:
            setattr(sentence, key, check_strings(value[key], key))
    for key in _NUMBER_COLUMNS:
        if value.get(key) is not None:
            setattr(sentence, key, _numbers(value[key], key))
    return sentence


def _metadata(value: dict[str, object], text: str, id: str) -> list[str]:
    """Return the metadata of an object as comments of CoNLL-U."""
    write = document_comment if name_of(value, id) else comment_of
    known = {text, id} if text != TEXT else {*_KNOWN, id} - ({ID} if id != ID else set())
    return [
        write(key, BREAKS.sub(" ", str(item).lower() if isinstance(item, bool) else str(item)))
        for key, item in value.items()
        if key not in known and isinstance(item, (str, int, float))
    ]


def check_strings(value: object, key: str) -> list[str]:
    """Return the value of a key as a list of words, or raise `FormatError`."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FormatError("json", f"`{key}` is not a list of strings")
    for item in value:
        if FORBIDDEN.search(item):
            raise FormatError("control-character", f"a control character or lone surrogate in `{key}`")
    return value


def _numbers(value: object, key: str) -> list[int]:
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise FormatError("json", f"`{key}` is not a list of whole numbers")
    return value


def name_of(value: dict[str, object], key: str) -> str | None:
    """Return the name under a key, which may be a string or a number; ``None`` without one."""
    name = value.get(key)
    if name is None:
        return None
    # Not `isinstance`: true and false are ints in Python.
    if type(name) is int:
        # Larger numbers are no ids, and `str` refuses more than 4,300 digits.
        return str(name) if abs(name) < 2**63 else None
    if not isinstance(name, str):
        raise FormatError("json", f"`{key}` is neither a string nor a whole number")
    return check_strings([name], key)[0]


def check_raw(value: str) -> str:
    """Return raw text with separators as spaces, or raise `FormatError` for control characters."""
    if FORBIDDEN_IN_TEXT.search(value):
        raise FormatError("control-character", "a control character or lone surrogate in the text")
    return blank_separators(value)


READER = Reader(
    "jsonl",
    "3",
    read,
    "JSON Lines: tokens, sentences or text",
    (".jsonl", ".ndjson"),
    lambda sample: sample[0].lstrip().startswith("{"),
    read,
    settings=("text", "id"),
)
