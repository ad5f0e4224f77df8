"""Tagged files of the Penn Treebank, alone or merged with the file of trees of the same name.

Tagged files (`.pos`) have `word/TAG` tokens, base noun phrases in `[ ... ]`, and rows of `=` between blocks.
They do not mark their sentences, and their blank lines fall inside sentences too. A sentence ends
after a token tagged `.` and the quotes and brackets that close after it, unless the next word begins in
lower case, and at a row of `=`. Against the trees of WSJ section 01 this finds 83 of 100 files exactly and
2,015 sentences for 1,993; lists and headlines without a full stop make the difference.
Forms lose the Penn escapes (see `mrg`).

Trees (`.mrg`, `.dp`) get the base noun phrases of their tagged file. The source is the file of trees: those
of a treebank, whose dependencies follow by head rules, or dependencies. Its partner is `../tagged/STEM.pos`
or `STEM.pos` in the same folder, or as the treebank is distributed (`combined/wsj/02/STEM.mrg` has
`tagged/wsj/02/STEM.pos`, `parsed/mrg/wsj/02/STEM.mrg` has `tagged/pos/wsj/02/STEM.pos`), with the same
compression or none, also inside the same archive. The file of trees decides what the sentences, forms and
tags are, so no sentence is lost; tokens without a partner are outside every base noun phrase.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

from sentgen.corpus.paths import source_at, sources_of
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import conll, mrg
from sentgen.corpus.readers._columns import finish_sentence
from sentgen.corpus.readers.mrg import plain, plain_tag
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import COMPRESSED
from sentgen.corpus.validation import LIMITS
from sentgen.errors import InputError, Rejection

_CLOSING_TAGS = frozenset({"''", ")", "."})


#: line, form, tag, number of the base noun phrase in the file (0 outside)
Token = tuple[int, str, str, int]
#: The end of a block, or an error in a stream of tokens: line, failed check, message.
_Event = tuple[int, str, str]


def _read_tokens(lines: Iterable[str]) -> Iterator[Token | _Event]:
    """Yield the tokens, and an event at the end of each block and at each error."""
    chunk, inside = 0, False
    for number, line in enumerate(lines, 1):
        if line.startswith("==="):
            if inside:
                yield number, "bracket", "the bracket [ is not closed in its block"
            inside = False
            yield number, "", ""
            continue
        for field in line.split():
            if field in ("[", "]"):
                # An opening bracket inside brackets, or a closing one outside.
                if inside == (field == "["):
                    yield number, "bracket", f"a bracket {field} without its partner"
                inside = field == "["
                chunk += inside
                continue
            form, slash, tag = field.rpartition("/")
            if slash and form and tag:
                yield number, plain(form), plain_tag(tag), chunk if inside else 0
            else:
                yield number, "tag", f"{field[:40]!r} is not written word/TAG"


def _read_tagged(lines: Iterable[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield the sentences; one with a broken token or bracket is rejected as a whole."""
    for words, error in _tagged_sentences(_read_tokens(lines), LIMITS.sentence_tokens):
        if error is not None:
            line, check, message = error
            yield Rejection(path, line, "", check, message)
        elif len(words) > LIMITS.sentence_tokens:
            yield LIMITS.too_long(path, words[0][0])
        else:
            lines_of, forms, tags, chunks = map(list, zip(*words, strict=True))
            sentence = Sentence(forms, xpos=tags, nps=_renumber(chunks), line=lines_of[0])
            yield finish_sentence(sentence, path)


def _tagged_sentences(
    stream: Iterable[Token | _Event], most: int
) -> Iterator[tuple[list[Token], _Event | None]]:
    """Group tokens into sentences, each with its first error; keep at most one token over ``most``."""
    words: list[Token] = []
    error: _Event | None = None
    ended = False
    for item in stream:
        if len(item) == 3:
            if item[1]:
                # Only the first error is reported; later ones may follow from it.
                error = error or item
                continue
            if words or error:
                yield words, error
            words, error, ended = [], None, False
            continue
        _, form, tag, _ = item
        if ended and tag not in _CLOSING_TAGS and tag != "-RRB-" and form != "'":
            if not form[0].islower():
                yield words, error
                words, error = [], None
            ended = False
        ended = ended or tag == "."
        if len(words) <= most:
            words.append(item)
    if words or error:
        yield words, error


def _renumber(chunks: list[int]) -> list[int]:
    """Number the runs of equal non-zero values 1, 2, ... from left to right.

    >>> _renumber([7, 7, 0, 9, 8])
    [1, 1, 0, 2, 3]
    """
    numbers, latest, previous = [], 0, 0
    for chunk in chunks:
        if chunk and chunk != previous:
            latest += 1
        numbers.append(latest if chunk else 0)
        previous = chunk
    return numbers


def _fits_tagged(sample: list[str]) -> bool:
    rows = [line for line in sample[:20] if not line.startswith("===")]
    # In XML, a slash is part of a tag.
    return bool(rows) and not rows[0].startswith("<") and all(map(_is_tagged, rows))


def _is_tagged(line: str) -> bool:
    """Return whether a line consists of words with tags, and brackets around them.

    A regular expression could match the slashes of a word in many ways, and would try all of them in vain.
    """
    text = line.rstrip().removeprefix("[ ").removesuffix(" ]")
    words = text.split(" ")
    return words == text.split() and all("/" in word[1:-1] for word in words)


POS = Reader(
    "pos", "1", _read_tagged, "Penn Treebank words, tags and base NP brackets", (".pos",), _fits_tagged
)


#: Readers of files of trees, by the extension.
_TREES: dict[str, Callable[..., Iterator[Sentence | Rejection]]] = {".dp": conll.read_dp, ".mrg": mrg.read}
#: How many folders above a file of trees are searched for a folder of tagged files.
_LEVELS = 4
#: How many tokens of the tagged file, and of a sentence, may be skipped to find the next agreement.
_SKIP_TAGGED, _SKIP_SENTENCE = 250, 3
#: After so many tokens in a row without a partner, the two files are taken for different texts.
_LOST = 300


def partner(path: str) -> str | None:
    """Return the name of the tagged file that belongs to a file of trees, or ``None`` if there is none."""
    suffix = _compression(path)
    stem, ending = os.path.splitext(path.removesuffix(suffix))
    if ending.lower() not in _TREES:
        return None
    archive, mark, inner = stem.rpartition("!")
    tagged = ".POS" if ending.isupper() else ".pos"
    endings = dict.fromkeys([suffix, ""])
    places = _places(*os.path.split(inner), absolute=not mark)
    candidates = (f"{archive}{mark}{candidate}{tagged}{end}" for candidate in places for end in endings)
    return next((name for name in candidates if _exists(name)), None)


def _extension(path: str) -> str:
    """Return the extension of a file, before that of its compression, in lower case."""
    return os.path.splitext(path.removesuffix(_compression(path)))[1].lower()


def _compression(path: str) -> str:
    size = next((len(end) for end in COMPRESSED if path.lower().endswith(end)), 0)
    return path[len(path) - size :]


def _places(folder: str, name: str, *, absolute: bool) -> Iterator[str]:
    """Yield paths at which a tagged file may be, without extension, inside the archive if it is in one."""
    above = os.path.join(folder, "..") if absolute else os.path.dirname(folder)
    yield os.path.join(above, "tagged", name)
    yield os.path.join(folder, name)
    # In the distributed treebank: tagged/wsj/02 for combined/wsj/02, tagged/pos/wsj/02 for parsed/mrg/wsj/02.
    head, below = os.path.abspath(folder) if absolute else folder, [name]
    for _ in range(_LEVELS):
        head, last = os.path.split(head)
        if not last:
            break
        yield os.path.join(head, "tagged", *below)
        below.insert(0, "pos" if last.lower() == "mrg" else last)


def _exists(name: str) -> bool:
    archive, mark, _ = name.partition("!")
    if os.path.isfile(name):
        return True
    return bool(mark) and os.path.isfile(archive) and name in _members(archive, os.stat(archive).st_mtime_ns)


@lru_cache(maxsize=1)
def _members(archive: str, changed: int) -> frozenset[str]:
    """Return the names of the members of an archive; ``changed``, when it was written, is for the cache."""
    try:
        return frozenset(source.name for source in sources_of(archive))
    except InputError:
        return frozenset()


def read(lines: Iterable[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a file of trees with the base noun phrases of its tagged file.

    Raises:
        InputError: There is no tagged file, or it is another text.
    """
    tagged = partner(path)
    if tagged is None:
        ending = _extension(path)
        form = ending.removeprefix(".") if ending in _TREES else "dp or mrg"
        message = f"no tagged file beside it (../tagged/NAME.pos or NAME.pos); read it with the format {form}"
        raise InputError(message, path=path, check="merge")
    merge = _Merge(tagged)
    upcoming: list[Sentence | Rejection] = []
    for item in chain(_TREES[_extension(path)](lines, path=path), [None]):
        # One sentence late, as matching the last word looks at the beginning of the next sentence.
        if upcoming:
            current = upcoming.pop()
            if isinstance(current, Sentence):
                following = item.forms if isinstance(item, Sentence) else []
                merge.mark(current, following)
            yield current
        if item is not None:
            upcoming.append(item)


class _Merge:
    """A position in the tagged file that advances with the sentences of the file of trees."""

    def __init__(self, tagged: str) -> None:
        self.tagged = tagged
        stream = _read_tokens(source_at(tagged).lines())
        self.stream = ((_normal(item[1]), item[3]) for item in stream if len(item) == 4)
        self.window: deque[tuple[str, int]] = deque()
        self.lost = 0

    def mark(self, sentence: Sentence, following: list[str]) -> None:
        """Set the base noun phrases of the next sentence."""
        size = len(sentence.forms)
        forms = [_normal(form) for form in chain(sentence.forms, following[: _SKIP_SENTENCE + 1])]
        chunks = [0] * size
        position = 0
        while position < size:
            skip_own, skip_tagged = self._agreement(forms, position)
            position += skip_own
            for _ in range(skip_tagged):
                self.window.popleft()
            if position < size and self._matches(forms, position, 0):
                chunks[position] = self.window.popleft()[1]
                position += 1
                self.lost = 0
        sentence.nps = _renumber(chunks)

    def _agreement(self, forms: list[str], position: int) -> tuple[int, int]:
        """Return how many tokens to skip in the sentence and in the tagged file, as few as possible."""
        if len(self.window) < 2:
            self.window.extend(islice(self.stream, _SKIP_TAGGED))
        if self._matches(forms, position, 0):
            return 0, 0
        self.lost += 1
        if self.lost > _LOST:
            message = "not the same text as the file of trees; read that alone with the format mrg or dp"
            raise InputError(message, path=self.tagged, check="merge")
        # Fewest skipped first; among equals, fewest in the sentence, whose tokens must not be lost.
        for total in range(1, len(self.window) + _SKIP_SENTENCE):
            for own in range(min(total, _SKIP_SENTENCE) + 1):
                if self._matches_twice(forms, position + own, total - own):
                    return own, total - own
        return 1, 0

    def _matches(self, forms: list[str], position: int, ahead: int) -> bool:
        return position < len(forms) and ahead < len(self.window) and forms[position] == self.window[ahead][0]

    def _matches_twice(self, forms: list[str], position: int, ahead: int) -> bool:
        return self._matches(forms, position, ahead) and (
            # Two words in a row, as a single one, such as a comma, may agree by chance.
            position + 1 == len(forms)
            or ahead + 1 == len(self.window)
            or self._matches(forms, position + 1, ahead + 1)
        )


def _normal(form: str) -> str:
    """Return the form by which tokens are compared: `U.S` and `U.S.` are the same word."""
    return form.rstrip(".") or form


WSJ = Reader(
    "wsj", "1", read, "a .mrg or .dp file with the brackets of its .pos file", trees=True, distinct=True
)
