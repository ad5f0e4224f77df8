"""Dependencies (`.dp`) merged with the base noun phrases of the tagged file (`.pos`) of the same name.

The source is the `.dp` file; its partner is `../tagged/STEM.pos` or `STEM.pos` in the same folder, with the
same compression or none, also inside the same archive. The `.dp` file decides what the sentences, forms and
tags are, so no sentence is lost; tokens without a partner stand outside every base noun phrase.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from sentgen.corpus.paths import source_at
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers import dp, pos
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sources import COMPRESSED
from sentgen.corpus.validation import LIMITS, InputLimits
from sentgen.errors import InputError, Rejection

#: How many tokens of the tagged file, and of a sentence, may be passed over to find the next agreement.
_SKIP_TAGGED, _SKIP_SENTENCE = 250, 3
#: After so many tokens in a row without a partner the two files are not the same text.
_LOST = 300


def partner(path: str) -> str | None:
    """Return the name of the tagged file that belongs to a `.dp` file, or ``None`` if there is none."""
    stem = path
    suffix = next((end for end in COMPRESSED if path.endswith(end)), "")
    stem = stem.removesuffix(suffix)
    if not stem.endswith(".dp"):
        return None
    folder, name = os.path.split(stem.removesuffix(".dp"))
    archive, mark, member_folder = folder.rpartition("!")
    parent = os.path.dirname(member_folder) if mark else os.path.join(folder, "..")
    tagged = archive + mark + os.path.join(parent, "tagged", name)
    same = os.path.join(folder, name) if not (mark and not member_folder) else folder + name
    endings = dict.fromkeys([suffix, ""])
    for candidate in (f"{place}.pos{end}" for place in (tagged, same) for end in endings):
        if _exists(candidate):
            return candidate
    return None


def _exists(name: str) -> bool:
    if os.path.isfile(name):
        return True
    if "!" not in name or not os.path.isfile(name.partition("!")[0]):
        return False
    try:
        source_at(name)
    except InputError:
        return False
    return True


def read(lines: Iterable[str], *, path: str, limits: InputLimits = LIMITS) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a `.dp` file with base noun phrases.

    Raises:
        InputError: There is no tagged file, or it is another text.
    """
    tagged = partner(path)
    if tagged is None:
        message = "no tagged file beside it (../tagged/NAME.pos or NAME.pos); read it with the format dp"
        raise InputError(message, path=path, check="merge")
    merge = _Merge(tagged, limits)
    upcoming: list[Sentence | Rejection] = []
    for item in chain(dp.read(lines, path=path, limits=limits), [None]):
        # One sentence late: a word is matched with a look at the beginning of the next sentence.
        if upcoming:
            current = upcoming.pop()
            if isinstance(current, Sentence):
                following = item.forms if isinstance(item, Sentence) else []
                merge.mark(current, following)
            yield current
        if item is not None:
            upcoming.append(item)


class _Merge:
    """A walk along the tagged file that keeps pace with the sentences of the dependency file."""

    def __init__(self, tagged: str, limits: InputLimits) -> None:
        self.tagged = tagged
        source = source_at(tagged, limits)
        stream = pos.tokens(source.lines(limits))
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
            if position < size and skip_own + skip_tagged >= 0 and self._matches(forms, position, 0):
                chunks[position] = self.window.popleft()[1]
                position += 1
                self.lost = 0
        sentence.nps = pos.renumbered(chunks)

    def _agreement(self, forms: list[str], position: int) -> tuple[int, int]:
        """Return how many tokens to pass over in the sentence and in the tagged file, as few as possible."""
        self._fill()
        if self._matches(forms, position, 0):
            return 0, 0
        self.lost += 1
        if self.lost > _LOST:
            raise InputError("not the same text as the dependency file", path=self.tagged, check="merge")
        # Least skipped first; of equals the least in the sentence, whose tokens must not be lost.
        for total in range(1, len(self.window) + _SKIP_SENTENCE):
            for own in range(min(total, _SKIP_SENTENCE) + 1):
                if self._matches_twice(forms, position + own, total - own):
                    return own, total - own
        return 1, 0

    def _fill(self) -> None:
        if len(self.window) < 2:
            self.window.extend(islice(self.stream, _SKIP_TAGGED))

    def _matches(self, forms: list[str], position: int, ahead: int) -> bool:
        return position < len(forms) and ahead < len(self.window) and forms[position] == self.window[ahead][0]

    def _matches_twice(self, forms: list[str], position: int, ahead: int) -> bool:
        return self._matches(forms, position, ahead) and (
            # Two words in a row: one alone, such as a comma, agrees by chance.
            position + 1 == len(forms)
            or ahead + 1 == len(self.window)
            or self._matches(forms, position + 1, ahead + 1)
        )


def _normal(form: str) -> str:
    """Return what is compared: `U.S` and `U.S.` are the same word."""
    return form.rstrip(".") or form


READER = Reader(
    "wsj", "1", read, "a .dp file merged with the brackets of its .pos file", trees=True, distinct=True
)
