"""The Penn Treebank's Wall Street Journal as the papers split it, and the sample that everybody has."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sentgen.errors import InputError
from sentgen.output.wording import quantity

#: Wan et al. 2007 and 2009: "training sections 2-22", "testing was performed on section 23".
_TRAINING, _TEST = range(2, 23), 23
#: Section 01 is in the sample that NLTK distributes; its last twenty files are held out.
_SAMPLE, _SAMPLE_TEST = 1, range(80, 100)
#: What a file may hold, best first: dependencies, or trees from which they follow by head rules.
_ENDINGS = (".dp", ".mrg")
_NAME = re.compile(r"wsj_(\d\d)(\d\d)(\.dp|\.mrg)(\.gz|\.bz2|\.xz)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Split:
    """Files to train on and files to test on; ``name`` is short and says what they are."""

    name: str
    title: str
    train: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def tested(self) -> str:
        """Return what is tested on, for reading."""
        return f"the sentences of {quantity(len(self.test), 'file')}"


def split_treebank(path: str) -> Split:
    """Find the files of a treebank below a folder, and split them as the papers do.

    A full treebank is split into sections 02-22 and 23; where section 01 is all there is, its files 0100-0179
    are for training and 0180-0199 for testing. Files of dependencies (`.dp`) go before trees (`.mrg`).

    Raises:
        InputError: there is no such folder, or sections are missing in it.
    """
    if not os.path.isdir(path):
        raise InputError(
            "is no folder; give the folder that holds the wsj_*.mrg or wsj_*.dp files", path=path
        )
    sections = _sections(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    if not sections:
        raise InputError("holds no files named wsj_0200.mrg or wsj_0200.dp", path=path)
    missing = [f"{number:02}" for number in (*_TRAINING, _TEST) if number not in sections]
    if not missing:
        files = tuple(file for number in _TRAINING for file in _sorted(sections[number]))
        return Split("ptb-02-22", "PTB 02-22 to 23", files, _sorted(sections[_TEST]))
    sample = sections.get(_SAMPLE, {})
    if set(sections) == {_SAMPLE} and set(_SAMPLE_TEST) & set(sample):
        test = {number: file for number, file in sample.items() if number in _SAMPLE_TEST}
        train = _sorted({number: file for number, file in sample.items() if number not in test})
        return Split("wsj-0100-0179", "WSJ 0100-0179 to 0180-0199", train, _sorted(test))
    raise InputError(
        f"sections {', '.join(missing)} are missing; the papers train on 02-22 and test on 23", path=path
    )


def _sections(paths: Iterable[str]) -> Mapping[int, Mapping[int, str]]:
    """Return section -> number in it -> file, one format for all: the best one that is there."""
    found: dict[str, defaultdict[int, dict[int, str]]] = {ending: defaultdict(dict) for ending in _ENDINGS}
    # Sorted: of two copies of a file the first is taken, wherever the walk began.
    for path in sorted(paths):
        match = _NAME.search(os.path.basename(path))
        if match:
            found[match[3].lower()][int(match[1])].setdefault(int(match[2]), path)
    # Never a mixture: head rules and given dependencies would make two kinds of trees.
    return next((found[ending] for ending in _ENDINGS if found[ending]), {})


def _sorted(files: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(files[number] for number in sorted(files))
