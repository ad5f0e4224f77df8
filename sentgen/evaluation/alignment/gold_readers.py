"""Readers of gold alignments, one for each format; all are strict.

| format | what | document, abstract |
| --- | --- | --- |
| `edinburgh` | JSON of Thadani et al. 2012: one file, or sure links beside all of them | source, target |
| `mtref` | the same JSON with possible links (Yao 2014) | source, target |
| `rte` | GIZA-like text of MSR's RTE-2 (Brockett 2007), a file an annotator | text, hypothesis |
| `multimwa` | TSV of Lan et al. 2021 | sentences 1 and 2 |
| `handalign` | texts of HandAlign (Daumé), links as in `pharaoh` | bottom, top text |
| `pharaoh` | texts and `i-j`, sure, or `ipj`, possible | both |
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated

from sentgen.alignment import Link, Pair
from sentgen.alignment.phrase_hmm.tuning import TuningExample
from sentgen.corpus.paths import expand
from sentgen.corpus.readers.lines import split_tokens
from sentgen.corpus.sources import Source
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold import GoldLinks, GoldPair, GoldStandard
from sentgen.options import Option
from sentgen.output.wording import quantity

#: A byte order mark; files of RTE-2 have them anywhere, in the middle of words, too.
# RTE-2 has byte order marks inside of its files, too.
_MARK = "\ufeff"
_HEADING = re.compile(r"# sentence pair (\d{1,9})\s*")
#: A word of RTE-2 and its links; the last one of a file may lack its parenthesis.
_ALIGNED = re.compile(r"(\S+) \(\{ ((?:p?\d{1,9} )*)/ / \}(?:\) ?|$)")
_BLANK = re.compile(r"[ \n\t]*")
#: Most digits of an offset: no text has more words, and Python reads at most 4,300 digits.
_LINK = re.compile(r"(\d{1,9})([-p])(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a file, for messages."""

    path: str
    line: int | None = None
    key: str | None = None

    def error(self, message: str) -> InputError:
        return InputError(message, path=self.path, line=self.line, sent_id=self.key)


def read_gold(path: str, form: str) -> GoldStandard:
    """Read a gold standard.

    It is a file, folder or glob, as the format has it; `FORMATS` has the names of formats.

    Raises:
        InputError: there is no such format or file, a file has another format, a link is outside of the
            texts, or annotators have texts of different lengths.
    """
    if form not in FORMATS:
        raise InputError(f"no format is called {form!r}; choose one of: {', '.join(FORMATS)}")
    gold = FORMATS[form](path)
    if not gold.pairs:
        raise InputError("has no pairs", path=path)
    return gold


def _lines(source: Source) -> list[str]:
    return [line.replace(_MARK, "") for line in source.lines()]


def _checked(links: Iterable[Link], pair: Pair, source: _Place) -> list[Link]:
    """Check that links are inside the texts and different, and return them."""
    checked = list(links)
    for i, j in checked:
        if not (0 <= i < len(pair.document) and 0 <= j < len(pair.abstract)):
            size = f"{len(pair.document)} and {quantity(len(pair.abstract), 'word')}"
            raise source.error(f"the link {i}-{j} leads out of the texts of {size}; offsets count from 0")
    if len(set(checked)) < len(checked):
        i, j = next(link for n, link in enumerate(checked) if link in checked[:n])
        raise source.error(f"the link {i}-{j} is there twice; remove one")
    return checked


def _pair(key: str, document: str, abstract: str, source: _Place) -> Pair:
    pair = Pair(key, tuple(split_tokens(document)), tuple(split_tokens(abstract)))
    for name, words in (("document", pair.document), ("abstract", pair.abstract)):
        if not words:
            raise source.error(f"the {name} has no words; remove the pair")
    return pair


def _parse_links(text: str, pair: Pair, source: _Place) -> GoldLinks:
    """Read links such as ``0-0 1p2``, document and abstract, `p` for possible ones."""
    drawn: dict[str, list[Link]] = {"-": [], "p": []}
    for part in text.split():
        match = _LINK.fullmatch(part)
        if not match:
            raise source.error(f"{part[:40]!r} is no link; write links as 3-0, or 3p0 for a possible one")
        drawn[match[2]].append((int(match[1]), int(match[3])))
    _checked(drawn["-"] + drawn["p"], pair, source)
    return GoldLinks.of(drawn["-"], drawn["p"])


def _read_edinburgh(path: str) -> GoldStandard:
    """Read a single file, or two files of a gold standard: `*.sure.json` and `*.sure+poss.json`."""
    sure, both = _edinburgh_files(path)
    if both is None:
        return _read_json(sure)
    certain, drawn = _read_json(sure), _read_json(both)
    if [one.pair for one in certain.pairs] != [item.pair for item in drawn.pairs]:
        raise InputError(f"has other pairs than {sure}; both must come from the same release", path=both)
    pairs = []
    for mine, other in zip(certain.pairs, drawn.pairs, strict=True):
        links, more = mine.annotations[0].sure, other.annotations[0].sure
        # Else sure links would be lost in the file of sure and possible links.
        if not links <= more:
            message = f"has not all sure links of {sure}; both must come from the same release"
            raise _Place(both, key=mine.pair.key).error(message)
        pairs.append(GoldPair(mine.pair, (GoldLinks.of(links, more),)))
    return GoldStandard(("gold",), tuple(pairs))


def _edinburgh_files(path: str) -> tuple[str, str | None]:
    if os.path.isdir(path):
        paths = [source.path for source in expand([path]) if source.path.endswith(".sure.json")]
        if len(paths) != 1:
            message = f"{len(paths)} files are called *.sure.json; name the one to read"
            raise InputError(message, path=path)
        path = paths[0]
    stem = path.removesuffix(".sure+poss.json").removesuffix(".sure.json")
    sure, both = f"{stem}.sure.json", f"{stem}.sure+poss.json"
    return (sure, both) if os.path.isfile(sure) and os.path.isfile(both) else (path, None)


def _read_json(path: str) -> GoldStandard:
    """Read an array of objects with `id`, `source`, `target`, `sureAlign` and `possibleAlign`."""
    pairs, seen = list[GoldPair](), set[str]()
    for number, (line, entry) in enumerate(_json_objects(path), 1):
        place = _Place(path, line, f"number {number}")
        values = {name: entry.get(name) for name in ("id", "source", "target", "sureAlign", "possibleAlign")}
        for name, value in values.items():
            if not isinstance(value, str):
                raise place.error(f"{name!r} is no text; this format has one in each object")
        key = str(values["id"])
        if key in seen:
            raise place.error(f"the id {key!r} is there twice")
        seen.add(key)
        place = _Place(path, line, key)
        pair = _pair(key, str(values["source"]), str(values["target"]), place)
        sure = _parse_links(str(values["sureAlign"]), pair, place)
        possible = _parse_links(str(values["possibleAlign"]), pair, place)
        pairs.append(GoldPair(pair, (GoldLinks.of(sure.sure, possible.possible),)))
    return GoldStandard(("gold",), tuple(pairs))


def _json_objects(path: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the objects of an array with the lines on which they begin."""
    text = "\n".join(_lines(_one_source(path))).rstrip()
    decoder, at, line = json.JSONDecoder(), _next(text, 0), 1
    if text[at : at + 1] != "[":
        raise InputError("is no JSON array of pairs", path=path, line=1)
    end = 0
    # One object at a time, so that errors have the line of the object.
    while text[at] != "]":
        begin = _next(text, at + 1)  # behind the bracket or a comma
        line, end = line + text.count("\n", end, begin), begin
        if text[begin:] == "]":
            return
        try:
            entry, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON: {str(error)[:80]}", path=path, line=line) from error
        if not isinstance(entry, dict):
            raise InputError("a member of the array is no object", path=path, line=line)
        yield line, entry
        at = _next(text, at)
        if text[at : at + 1] not in (",", "]"):
            raise InputError("not JSON: no comma or ] follows this object", path=path, line=line)


def _next(text: str, at: int) -> int:
    """Return the index of the next character that is not white space."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _one_source(path: str) -> Source:
    sources = list(expand([path]))
    if len(sources) != 1:
        raise InputError(f"{len(sources)} files, and this format is one file; name it", path=path)
    return sources[0]


def _read_rte(path: str) -> GoldStandard:
    """Read the file of each annotator; the words are those of the first one.

    Annotators are named by the part in which their file names differ. Their texts may have different forms of
    a word (`.` and `..`), but must have the same number of words.
    """
    sources = list(expand([path]))
    each = [list(_rte_pairs(source)) for source in sources]
    first = each[0]
    for source, pairs in zip(sources, each, strict=True):
        if len(pairs) != len(first):
            raise InputError(
                f"has {quantity(len(pairs), 'pair')}, and {sources[0].name} {len(first)}", path=source.name
            )
        for (line, one, _), (_, other, _) in zip(pairs, first, strict=True):
            if (len(one.document), len(one.abstract)) != (len(other.document), len(other.abstract)):
                place = _Place(source.name, line, one.key)
                raise place.error(f"has not as many words as in {sources[0].name}")
    together = (
        GoldPair(versions[0][1], tuple(links for _, _, links in versions))
        for versions in zip(*each, strict=True)
    )
    return GoldStandard(_distinct([source.name for source in sources]), tuple(together))


def _rte_pairs(source: Source) -> Iterator[tuple[int, Pair, GoldLinks]]:
    """Yield the pairs with the lines on which they begin: three lines each."""
    lines = _lines(source)
    while lines and not lines[-1].strip():
        lines.pop()
    for begin in range(0, len(lines), 3):
        number = begin // 3 + 1
        heading = _HEADING.fullmatch(lines[begin])
        if not heading or int(heading[1]) != number:
            raise _Place(source.name, begin + 1).error(f"expected `# sentence pair {number}`")
        place = _Place(source.name, begin + 3, str(number))
        if begin + 2 >= len(lines):
            raise place.error("the file ends inside a pair")
        words, drawn = _rte_words(lines[begin + 2], place)
        pair = _pair(str(number), lines[begin + 1], " ".join(words), place)
        sure = _checked((link for link, certain in drawn if certain), pair, place)
        possible = _checked((link for link, certain in drawn if not certain), pair, place)
        yield begin + 1, pair, GoldLinks.of(sure, possible)


def _rte_words(line: str, source: _Place) -> tuple[list[str], list[tuple[Link, bool]]]:
    """Return the words of the hypothesis after NULL, and their links, each with a flag for sure links."""
    words, drawn, at = list[str](), list[tuple[Link, bool]](), 0
    while at < len(line):
        match = _ALIGNED.match(line, at)
        if not match:
            raise source.error(f"expected `word ({{ 1 p2 / / }})` at {line[at : at + 40]!r}")
        for number in match[2].split():
            # Words count from 1 there, and NULL is the first one.
            drawn.append(((int(number.lstrip("p")) - 1, len(words) - 1), number[0] != "p"))
        words.append(match[1])
        at = match.end()
    if not words or words[0] != "NULL" or any(j < 0 for (_, j), _ in drawn):
        raise source.error("expected NULL without links before the words")
    return words[1:], drawn


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the parts in which file names differ.

    >>> _distinct(["dev_A.txt", "dev_B.txt"])
    ('A', 'B')
    """
    if len(names) == 1:
        return (os.path.basename(names[0]).split(".")[0],)
    prefix = os.path.commonprefix(list(names))  # noqa: RUF071 - parts of names, not folders
    # Behind the prefix, or prefix and suffix could overlap in a short name.
    suffix = os.path.commonprefix([name[len(prefix) :][::-1] for name in names])[::-1]  # noqa: RUF071
    return tuple(name[len(prefix) : len(name) - len(suffix)] or name for name in names)


def _read_multimwa(path: str) -> GoldStandard:
    """Read lines of id, sentence 1, -, sentence 2, -, -, -, sure links, possible links, and more."""
    source, pairs = _one_source(path), []
    for number, line in enumerate(_lines(source), 1):
        fields = line.split("\t")
        if len(fields) < 9:
            message = f"{len(fields)} columns; this format has 9 and more, separated by tabs"
            raise _Place(source.name, number).error(message)
        place = _Place(source.name, number, fields[0])
        pair = _pair(fields[0], fields[1], fields[3], place)
        sure = _parse_links(fields[7], pair, place)
        pairs.append(
            GoldPair(pair, (GoldLinks.of(sure.sure, _parse_links(fields[8], pair, place).possible),))
        )
    return GoldStandard(("gold",), tuple(pairs))


def _read_pharaoh(path: str) -> GoldStandard:
    """Read one file of `document ||| abstract ||| links`, or a folder.

    The folder has `document.txt` and `abstract.txt`, a pair a line, and a file of links for each annotator:
    `links.txt`, or `links.NAME.txt`. A file may have several fields of links, too, one an annotator.
    """
    return _pharaoh_folder(path) if os.path.isdir(path) else _pharaoh_file(_one_source(path))


def _pharaoh_file(source: Source) -> GoldStandard:
    pairs, width = list[GoldPair](), 0
    for number, line in enumerate(_lines(source), 1):
        place = _Place(source.name, number)
        # Blanks around, so that an empty last field is split off as well.
        document, *rest = (f" {line} ").split(" ||| ")
        if len(rest) < 2 or len(rest) - 1 != (width or len(rest) - 1):
            raise place.error("expected `document ||| abstract ||| links`, as many fields in every line")
        width = len(rest) - 1
        pair = _pair(str(number), document, rest[0], place)
        pairs.append(GoldPair(pair, tuple(_parse_links(links, pair, place) for links in rest[1:])))
    return GoldStandard(tuple(str(n) for n in range(1, width + 1)) if width > 1 else ("gold",), tuple(pairs))


def _pharaoh_folder(path: str) -> GoldStandard:
    sources = {os.path.basename(source.name): source for source in expand([path])}
    links = [source for name, source in sources.items() if re.fullmatch(r"links(\..+)?\.txt", name)]
    for name in ("document.txt", "abstract.txt"):
        if name not in sources or not links:
            raise InputError("needs document.txt, abstract.txt and links.txt or links.NAME.txt", path=path)
    columns = [_lines(source) for source in (sources["document.txt"], sources["abstract.txt"], *links)]
    for source, column in zip((sources["abstract.txt"], *links), columns[1:], strict=True):
        if len(column) != len(columns[0]):
            message = f"has {quantity(len(column), 'line')}, and document.txt {len(columns[0])}"
            raise InputError(message, path=source.name)
    pairs = []
    for number, (document, abstract, *drawn) in enumerate(zip(*columns, strict=True), 1):
        pair = _pair(str(number), document, abstract, _Place(sources["document.txt"].name, number))
        places = (_Place(source.name, number) for source in links)
        pairs.append(GoldPair(pair, tuple(map(_parse_links, drawn, [pair] * len(drawn), places))))
    names = _distinct([source.name for source in links]) if len(links) > 1 else ("gold",)
    return GoldStandard(names, tuple(pairs))


def _read_handalign(path: str) -> GoldStandard:
    """Read a folder with `abstracts/NAME`, `documents/NAME` and `NAME.alignment`.

    These are the files that HandAlign is started with (its documentation, "Launching HandAlign"): the top
    text is the abstract, the bottom text the document, a line is a sentence, words stand between white
    space. Where several people aligned, each has `NAME.WHO.alignment` for the same texts. The markup that
    HandAlign itself writes into these files is documented nowhere that we could find, so that links are
    read as `i-j`, document and abstract, and everything else is refused.
    """
    sources = {os.path.relpath(source.path, path): source for source in expand([path])}
    drawn: dict[str, dict[str, Source]] = {}
    for name, source in sources.items():
        if name.endswith(".alignment"):
            key, who = os.path.basename(name).removesuffix(".alignment"), "gold"
            if os.path.join("documents", key) not in sources and "." in key:
                key, who = key.rsplit(".", 1)
            drawn.setdefault(key, {})[who] = source
    annotators = sorted({who for by_annotator in drawn.values() for who in by_annotator})
    pairs = []
    for key, by_annotator in drawn.items():
        if missing := [who for who in annotators if who not in by_annotator]:
            raise InputError(f"{key} was not aligned by {missing[0]}; all align all texts", path=path)
        pair = _handalign_pair(key, sources, by_annotator[annotators[0]])
        pairs.append(GoldPair(pair, tuple(_handalign_links(pair, by_annotator[who]) for who in annotators)))
    return GoldStandard(tuple(annotators) or ("gold",), tuple(pairs))


def _handalign_pair(key: str, sources: Mapping[str, Source], beside: Source) -> Pair:
    texts = []
    for folder in ("documents", "abstracts"):
        if (where := os.path.join(folder, key)) not in sources:
            raise InputError(f"has no text {where} beside it", path=beside.name)
        texts.append([words for line in _lines(sources[where]) if (words := split_tokens(line))])
    # Offsets run through the lines.
    document, abstract = (" ".join(map(" ".join, lines)) for lines in texts)
    pair = _pair(key, document, abstract, _Place(beside.name, key=key))
    starts = [tuple(accumulate(map(len, lines[:-1]), initial=0)) for lines in texts]
    return replace(pair, document_starts=starts[0], abstract_starts=starts[1])


def _handalign_links(pair: Pair, source: Source) -> GoldLinks:
    links = [
        _parse_links(_plain(line, n, source), pair, _Place(source.name, n, pair.key))
        for n, line in enumerate(_lines(source), 1)
    ]
    sure = _checked((link for drawn in links for link in sorted(drawn.sure)), pair, _Place(source.name))
    return GoldLinks.of(sure, (link for drawn in links for link in drawn.possible))


def _plain(line: str, number: int, source: Source) -> str:
    if "<" in line:
        message = "HandAlign's own markup is not understood; write its links as 3-0, document and abstract"
        raise InputError(message, path=source.name, line=number)
    return line


#: Readers by name of the format.
FORMATS: dict[str, Callable[[str], GoldStandard]] = {
    "edinburgh": _read_edinburgh,
    "rte": _read_rte,
    "mtref": _read_json,
    "multimwa": _read_multimwa,
    "handalign": _read_handalign,
    "pharaoh": _read_pharaoh,
}


GoldOption = Annotated[str, Option("Alignments that people made.", metavar="PATH")]
GoldFormatOption = Annotated[
    str,
    Option(
        "Their format: edinburgh, rte, mtref, multimwa, handalign or pharaoh.",
        short="-f",
        metavar="FORMAT",
    ),
]
CombineOption = Annotated[
    str,
    Option(
        "Links of several annotators: drawn by half of them, by any, by all, or by one.",
        metavar="half|union|intersection|NAME",
    ),
]
LimitOption = Annotated[int | None, Option("Only the first N pairs.", short="-n", metavar="N", least=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPairs:
    """The gold links of a model's tuning."""

    gold: GoldOption
    format: GoldFormatOption = "pharaoh"
    combine: CombineOption = "half"
    limit: LimitOption = None

    def examples(self) -> list[TuningExample]:
        """Read the pairs with their links.

        Raises:
            InputError: the files cannot be read, or there is no such combination or annotator.
        """
        gold = read_gold(self.gold, self.format).first(self.limit)
        return [
            TuningExample.of_links(pair.pair, links.sure, links.possible)
            for pair, links in zip(gold.pairs, gold.combined(self.combine), strict=True)
        ]
