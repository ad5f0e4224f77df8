"""Bags from files: one a line, JSON, or the sentences of a treebank."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from sentgen.corpus.base_np import function_heads, mark_base_nps
from sentgen.corpus.formats import READERS, UnrecognizedError, check_format, detect, reader_named
from sentgen.corpus.paths import expand
from sentgen.corpus.readers.table import refuse_table
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import Source
from sentgen.errors import InputError
from sentgen.generation.bags.bag import (
    STANDARD_TAGS,
    Unit,
    UnitKind,
    check_readable,
    check_words,
    parse_bag,
    units_of,
)
from sentgen.output.wording import near, quantity

TagKind = Literal["upos", "xpos"]

_BAGS, JSON = "bags", "json"
#: Names of formats; those of `sentgen ingest` are treebanks here, whose word order is dropped.
FORMATS = (_BAGS, JSON, *READERS)
_BLANKS = re.compile(r"\s*")
_JSON_ARRAY = re.compile(r"\[\s*(\{|\]?\s*$)")
_CORPUS_KEYS = ("tokens", "sentences", "text")
_FORMS = '{"units": ["fell", ["the", "dow"]]} or {"words": ["fell", "dow"]}'
_KEYS = ("id", "units", "words", "tags", "head")


@dataclass(frozen=True, slots=True)
class Bag:
    """The units of one sentence, with its name in the input, if any.

    ``tagged``: whether words were read as word/TAG; ``None`` for formats without such tags. ``others`` are
    the same units with the tags of the other kind, if a treebank has both.
    """

    units: tuple[Unit, ...]
    name: str = ""
    tagged: bool | None = None
    others: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class Notation:
    """How bags are written (see `parse_bag`), and the tags and heads to take from a treebank.

    ``function_heads``: whether function words are heads, as in the dependency counts.
    """

    joiner: str = ""
    tagged: bool | None = None
    tags: TagKind | None = None
    known: Container[str] = STANDARD_TAGS
    function_heads: bool = True

    def bag(self, text: str) -> Bag:
        """Read a bag in this notation.

        Raises:
            InputError: see `parse_bag`.
        """
        units = parse_bag(text, joiner=self.joiner, tagged=self.tagged, tags=self.known)
        return Bag(tuple(units), tagged=any(unit.tags for unit in units))

    def read(self, path: str, form: str | None = None) -> list[Bag]:
        """Read the bags of a file, folder or archive, or of standard input (`-`).

        A blank line between bags is an empty bag, so that line k of the input is bag k.

        Args:
            path: anything that `sentgen ingest` takes.
            form: a name of `FORMATS`; detected if ``None``.

        Raises:
            InputError: there is no such file, it has no bag, or a bag cannot be read; with file and line.
        """
        check_format(form, (_BAGS, JSON))
        bags = [bag for source in expand([path]) for bag in _read(source, self, form)]
        if not bags:
            raise InputError("is empty; there is nothing to order", path=path)
        return bags


def _read(source: Source, notation: Notation, form: str | None) -> Iterator[Bag]:
    form = form or _detected(source)
    if form == _BAGS:
        yield from _from_lines(source, notation)
    elif form == JSON:
        yield from _from_json("\n".join(source.lines()), source.name)
    else:
        yield from _from_treebank(source, form, notation)


def _detected(source: Source) -> str:
    """Return the format of a source: JSON by its first character, a treebank if nothing else is possible."""
    first = next((line.strip() for line in source.head() if line.strip()), "")
    extension = source.extension
    # Bags and sentences in JSON begin alike; the keys of the first object differ.
    if extension == ".json" or first.startswith("{") or _JSON_ARRAY.match(first):
        return "jsonl" if _is_corpus(first) else JSON
    try:
        reader = reader_named(detect(source))
    except UnrecognizedError:
        refuse_table(source)
        return _BAGS
    return reader.name if reader.distinct or extension in reader.extensions else _BAGS


def _is_corpus(line: str) -> bool:
    """Return whether a line is an object of the JSON lines that `sentgen ingest` reads."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(key in value for key in _CORPUS_KEYS)


def _from_lines(source: Source, notation: Notation) -> Iterator[Bag]:
    for number, line in enumerate(source.lines(), 1):
        try:
            yield notation.bag(line)
        except InputError as error:
            raise InputError(error.message, path=source.name, line=number) from error


def _from_treebank(source: Source, form: str, notation: Notation) -> Iterator[Bag]:
    """Yield the units of sentences; marked base noun phrases, or those found by rule, are kept whole."""
    for sentence in sentences_of([source], form=form):
        mark_base_nps(sentence)
        promoted = notation.function_heads and sentence.heads and sentence.deprels
        units_with = partial(
            tagged_units, sentence, heads=function_heads(sentence) if promoted else sentence.heads
        )
        others = tuple(units_with(other_kind(notation.tags))) if notation.tags else ()
        yield Bag(tuple(units_with(notation.tags)), sentence.sent_id, others=others)


def other_kind(kind: TagKind) -> TagKind:
    """Return the other kind of tags."""
    return "upos" if kind == "xpos" else "xpos"


def tagged_units(
    sentence: Sentence,
    kind: TagKind | None,
    units: UnitKind = "np",
    *,
    heads: Sequence[int] | None = None,
) -> list[Unit]:
    """Return the units of a sentence (see `units_of`), with tags of one kind if ``kind`` is given.

    A token without a tag of that kind takes the other tag, as in the counts; if all tokens lack it, there are
    no tags.
    """
    if kind is None:
        return units_of(sentence, units, heads=heads)
    tags, others = (sentence.xpos, sentence.upos) if kind == "xpos" else (sentence.upos, sentence.xpos)
    if not tags:
        return [replace(unit, tags=()) for unit in units_of(sentence, units, heads=heads)]
    filled = [other if tag == "_" else tag for tag, other in zip(tags, others or tags, strict=True)]
    return units_of(sentence, units, tags=filled, heads=heads)


def _from_json(text: str, path: str) -> Iterator[Bag]:
    """Yield the bags of a sequence of JSON objects, or of arrays of objects."""
    for line, value in _values(text, path):
        for number, item in enumerate(value if isinstance(value, list) else [value], 1):
            try:
                yield _bag(item)
            except InputError as error:
                where = f"item {number}: " if isinstance(value, list) else ""
                raise InputError(f"{where}{error.message}", path=path, line=line) from error


def _values(text: str, path: str) -> Iterator[tuple[int, object]]:
    """Yield every JSON value of a text with its first line."""
    decoder = json.JSONDecoder()
    end, line = 0, 1
    while (start := _after_blanks(text, end)) < len(text):
        line += text.count("\n", end, start)
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise InputError(f"not JSON: {error.msg}", path=path, line=error.lineno) from error
        except RecursionError as error:
            raise InputError("not JSON that can be read: nested too deeply", path=path, line=line) from error
        except ValueError as error:  # a number of more than 4,300 digits
            message = "not JSON that can be read: a number is too long"
            raise InputError(message, path=path, line=line) from error
        yield line, value
        line += text.count("\n", start, end)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _bag(value: object) -> Bag:
    """Return the bag of a JSON object.

    >>> bag = _bag({"units": ["had", ["people", "left"]], "tags": ["VBD", ["NNS", "VBN"]], "head": [None, 1]})
    >>> bag.units[1]
    Unit(words=('people', 'left'), tags=('NNS', 'VBN'), head_place=-2)
    """
    if not isinstance(value, dict) or ("units" in value) == ("words" in value):
        raise InputError(f"not a bag; write it as {_FORMS}")
    for unknown in value:
        # Refused: a misspelled key such as `heads` would be ignored silently.
        if unknown not in _KEYS:
            hint = "".join(f"; did you mean `{key}`?" for key in near(unknown, _KEYS, 1))
            keys = ", ".join(f"`{key}`" for key in _KEYS)
            raise InputError(f"a bag has no key {json.dumps(unknown)[:40]}, its keys are {keys}{hint}")
    key = "units" if "units" in value else "words"
    units = _list(value[key], key)
    tags, heads = (_beside(value, name, units, key) for name in ("tags", "head"))
    if key == "words" and any(isinstance(unit, list) for unit in units):
        raise InputError("a list in `words`; phrases belong in `units`")
    name = value.get("id")
    parsed = map(_headed, map(_unit, units, tags), heads)
    return Bag(tuple(parsed), "" if name is None else _name(name))


def _beside(value: Mapping[str, object], name: str, units: Sequence[object], key: str) -> list[object]:
    """Return the value for each unit of a list parallel to the units; None for all if it is missing."""
    if value.get(name) is None:
        return [None] * len(units)
    values = _list(value[name], name)
    if len(values) != len(units):
        raise InputError(f"{len(values)} `{name}` for {len(units)} `{key}`; give one for each, or null")
    return values


def _headed(unit: Unit, head: object) -> Unit:
    """Return a unit with its head, given as a word of the unit or as its number, from 1."""
    if head is None:
        return unit
    size = len(unit.words)
    if isinstance(head, str):
        places = [number for number, word in enumerate(unit.words, 1) if word == head]
    else:
        places = [head] if type(head) is int and 1 <= head <= size else []
    if len(places) != 1:
        named = "several words" if places else "no word"
        raise InputError(
            f"`head` {json.dumps(head, ensure_ascii=False)[:40]} is {named} of {' '.join(unit.words)!r};"
            f" give one of its words, or its number from 1 to {size}"
        )
    return replace(unit, head_place=places[0] - 1 - size) if size > 1 else unit


def _list(value: object, key: str) -> list[object]:
    if not isinstance(value, list):
        raise InputError(f"`{key}` is not a list; write {_FORMS}")
    return value


def _unit(words: object, tags: object) -> Unit:
    """Return a unit from a word or a list of words, and its tags in the same form, or none."""
    if (words == []) or (tags is not None and isinstance(tags, list) != isinstance(words, list)):
        raise InputError(f"a unit {words!r} with the tags {tags!r}; give a word with a tag, or two lists")
    forms = tuple(_token(word, "word") for word in (words if isinstance(words, list) else [words]))
    check_words(forms)
    if tags is None:
        return Unit(forms)
    labels = tuple(_token(tag, "tag") for tag in (tags if isinstance(tags, list) else [tags]))
    if len(labels) != len(forms):
        raise InputError(
            f"{quantity(len(labels), 'tag')} for the {quantity(len(forms), 'word')} of {' '.join(forms)!r}"
        )
    return Unit(forms, labels)


def _token(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{json.dumps(value)[:40]} where a {what} belongs; write {_FORMS}")
    check_readable(value)
    if not value.strip():
        raise InputError(f"an empty {what}; leave it out")
    if any(blank in value for blank in " \t\n\r"):
        raise InputError(f'a blank in the {what} {value!r}; write a phrase as a list, such as ["the", "dow"]')
    return value


def _name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError("`id` is neither a string nor a number")
    check_readable(str(value))
    return " ".join(str(value).split())
