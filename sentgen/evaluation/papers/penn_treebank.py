"""Common parts of experiments with the Wall Street Journal of the Penn Treebank: split, corpus, models, runs.

The papers split the whole treebank; the sample that NLTK distributes is split as well.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from sqlalchemy import func, select

from sentgen.corpus.readers import wsj
from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, spell
from sentgen.evaluation.papers.paper import TREES, PaperRequest, Trees
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.experiment import (
    PRIMARY,
    RegenerationResult,
    RegenerationSettings,
    evaluate_regeneration,
)
from sentgen.models import ModelInfo
from sentgen.models.build_request import BuildRequest
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import corpus, source

#: Wan et al. 2007 and 2009: "training sections 2-22", "testing was performed on section 23".
_TRAINING, _TEST = range(2, 23), 23
#: Section 01 is in the sample that NLTK distributes; its last twenty files are held out.
_SAMPLE, _SAMPLE_TEST = 1, range(80, 100)
_NAME = re.compile(r"wsj_(\d\d)(\d\d)(\.dp|\.mrg)(\.gz|\.bz2|\.xz)?$", re.IGNORECASE)
#: `--quick`: training sections, and test sentences of the whole treebank and of the sample.
_QUICK_SECTIONS, _QUICK, _QUICK_SAMPLE = 4, 200, 100

#: Number of the section -> number of the file in it -> path.
Sections = Mapping[int, Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class _Split:
    """Files to train on and files to test on.

    ``name`` is the name for the corpus, ``title`` the description for people, ``form`` the format of the
    files, ``sentences`` the number of test sentences to take, all if ``None``.
    """

    name: str
    title: str
    form: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    sentences: int | None = None

    @property
    def tested(self) -> str:
        if self.sentences is not None:
            return f"the first {quantity(self.sentences, 'sentence')}"
        return f"the sentences of {quantity(len(self.test), 'file')}"

    def test_sentences(self) -> Iterator[Sentence]:
        sentences = chain.from_iterable(read_test_set(path, form=self.form) for path in self.test)
        return islice(sentences, self.sentences)


def split_treebank(
    path: str,
    *,
    trees: Trees | None = None,
    preferred: Sequence[Trees] = TREES,
    training: range = _TRAINING,
    quick: bool = False,
) -> _Split:
    """Find the files of a treebank below a folder, and split them as a paper does.

    A full treebank is split into the sections of ``training`` and 23; where section 01 is all there is, its
    files 0100-0179 are for training and 0180-0199 for testing.

    Args:
        path: the folder.
        trees: the files to read: heads come from phrase structure by head rules (`mrg`) or from dependencies
            (`dp`), base noun phrases from tagged files (`+pos`) or, with `mrg` alone, from the trees. If
            ``None``, the first of ``preferred`` whose files are all there.
        preferred: kinds of files in the order in which the paper prefers them.
        training: sections to train on.
        quick: only a part: 4 sections and 200 test sentences, or 100 test sentences of the sample.

    Raises:
        InputError: there is no such folder, or sections or tagged files are missing in it.
    """
    if not os.path.isdir(path):
        raise InputError(
            "is no folder; give the folder that holds the wsj_*.mrg or wsj_*.dp files", path=path
        )
    sections = _sections(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    endings = [_ending(trees)] if trees else list(sections)
    if not any(sections[ending] for ending in endings):
        names = " or ".join(f"wsj_0200{ending}" for ending in endings)
        raise InputError(f"holds no files named {names}", path=path)
    kind = trees or _best(sections, preferred, training)
    missing = _missing(sections, kind, training) or (
        trees is None and _untagged(sections, kind, preferred, training)
    )
    if missing:
        raise InputError(missing, path=path)
    return _split(sections[_ending(kind)], kind, training, quick=quick)


@dataclass(frozen=True, slots=True)
class TreebankExperiment:
    """A store, the training and test parts of a treebank, and the options of the experiment.

    Corpora and models that the store already has are used again. ``lowercase`` lower-cases all text.
    """

    store: Store
    split: _Split
    request: PaperRequest
    lowercase: bool

    @property
    def corpus(self) -> str:
        """Return the name of the corpus of the training part."""
        return self.split.name if self.lowercase else f"{self.split.name}-cased"

    def ingest_training(self) -> None:
        """Ingest the training part."""
        self.request.report(f"reading {quantity(len(self.split.train), 'file')} of {self.split.title}")
        self.ingest(self.corpus, self.split.train, self.split.form)

    def ingest(self, name: str, paths: Sequence[str], form: str | None = None) -> None:
        """Ingest files as a corpus, and check that it holds nothing else.

        Raises:
            InputError: the store has the corpus with other sources, or with counts of another order.
        """
        with self.store.connect() as connection:
            counted = connection.execute(select(corpus.c.max_order).where(corpus.c.name == name)).scalar()
        if counted not in (None, ORDER):
            raise InputError(
                f"corpus {name!r} is counted up to order {counted}, not {ORDER}; remove it with:"
                f" sentgen corpora remove {name}"
            )
        summary = ingest(self.store, paths, Settings(name, form, order=ORDER, lowercase=self.lowercase))
        query = select(func.count()).select_from(source).join(corpus, corpus.c.id == source.c.corpus_id)
        with self.store.connect() as connection:
            sources = scalar(connection, query.where(corpus.c.name == name))
        # A model with sentences of other sources would not reproduce the paper.
        if sources > summary.sources + summary.unchanged:  # fewer where files have the same content
            raise InputError(
                f"corpus {name!r} holds other sources than these; remove it with:"
                f" sentgen corpora remove {name}"
            )

    def model(self, request: BuildRequest) -> ModelInfo:
        """Return the stored model if it is as the request would build it now, else build it."""
        self.request.report(f"building the model {request.name}")
        return (request.built(self.store) or request.build(self.store))[0]

    def regenerate(self, model: ModelInfo, systems: Sequence[str], **search: Any) -> RegenerationResult:
        """Order the bags of the test sentences with each system, and record the run."""
        request = self.request
        request.report(f"regenerating {self.split.tested} with {model.label}: {', '.join(systems)}")
        return evaluate_regeneration(
            self.store,
            model,
            self.split.test_sentences(),
            systems,
            RegenerationSettings(
                dependencies=[self.corpus],
                seed=request.seed,
                lowercase=self.lowercase,
                jobs=request.jobs,
            ),
            source=self.split.title,
            progress=request.progress,
            **search,
        )

    def summary(self, result: RegenerationResult) -> str:
        """Return a description of the training and test data of a run."""
        tested = quantity(len(result.references), "test sentence")
        part = "; a part of the data (--quick): figures of all of it are others" if self.request.quick else ""
        return f"{self.split.title}, {tested}, seed {self.request.seed}; tests are of {PRIMARY}{part}"


def _best(sections: Mapping[str, Sections], preferred: Sequence[Trees], training: range) -> Trees:
    """Return the first kind of trees whose files are all there, else a kind of which there are some files."""
    whole = (kind for kind in preferred if not _missing(sections, kind, training))
    return next(whole, "mrg" if sections[".mrg"] else "dp")


def _untagged(
    sections: Mapping[str, Sections], kind: Trees, preferred: Sequence[Trees], training: range
) -> str:
    """Return a message if the paper prefers tagged files and only some trees have one, else an empty string.

    Base noun phrases are never taken from both sources, since their definitions differ.
    """
    better: Trees = "mrg+pos" if kind == "mrg" else "dp+pos"
    if kind not in preferred or better not in preferred[: preferred.index(kind)]:
        return ""
    files = (file for section in sections[_ending(kind)].values() for file in section.values())
    if not any(map(wsj.partner, files)):
        return ""
    return (
        f"{_missing(sections, better, training)}, as others have; give {spell('trees')} {kind} to"
        " look at none"
    )


def _split(sections: Sections, trees: Trees, training: range, *, quick: bool) -> _Split:
    form = "wsj" if trees.endswith("+pos") else trees
    read = " with ".join(f".{part}" for part in trees.split("+"))
    kind = trees.replace("+", "-")
    if set(sections) == {_SAMPLE}:
        sample = sections[_SAMPLE]
        test = {number: file for number, file in sample.items() if number in _SAMPLE_TEST}
        train = _sorted({number: file for number, file in sample.items() if number not in test})
        most = _QUICK_SAMPLE if quick else None
        title = f"WSJ 0100-0179 to {_first(most)}0180-0199, {read}"
        return _Split(f"wsj-0100-0179-{kind}", title, form, train, _sorted(test), most)
    used = training[:_QUICK_SECTIONS] if quick else training
    most = _QUICK if quick else None
    name = f"{used[0]:02}-{used[-1]:02}"
    files = tuple(file for number in used for file in _sorted(sections[number]))
    title = f"PTB {name} to {_first(most)}{_TEST}, {read}"
    return _Split(f"ptb-{name}-{kind}", title, form, files, _sorted(sections[_TEST]), most)


def _first(most: int | None) -> str:
    return "" if most is None else f"the first {quantity(most, 'sentence')} of "


def _missing(sections_of: Mapping[str, Sections], trees: Trees, training: range) -> str:
    """Return a message that names the missing files of a kind of trees, an empty string if all are there."""
    ending = _ending(trees)
    sections = sections_of[ending]
    if set(sections) == {_SAMPLE}:
        needed: Sequence[int] = (_SAMPLE,)
        if set(_SAMPLE_TEST).isdisjoint(sections[_SAMPLE]):
            return f"of section 01, files 0180-0199 are missing ({ending}), which are for testing"
    else:
        needed = (*training, _TEST)
    missing = [f"{number:02}" for number in needed if number not in sections]
    if missing:
        whole = f"{training[0]:02}-{training[-1]:02}"
        lack = f"the paper trains on {whole} and tests on {_TEST}"
        return f"sections {', '.join(missing)} are missing ({ending}); {lack}"
    if trees.endswith("+pos"):
        files = [file for number in needed for file in sections[number].values()]
        alone = next((file for file in files if wsj.partner(file) is None), None)
        if alone:
            return f"{os.path.basename(alone)} has no tagged file beside it (../tagged/NAME.pos or NAME.pos)"
    return ""


def _ending(trees: Trees) -> str:
    return f".{trees.removesuffix('+pos')}"


def _sections(paths: Iterable[str]) -> Mapping[str, Sections]:
    """Return the files of each ending, by section and number."""
    sections: dict[str, defaultdict[int, dict[int, str]]] = {
        ".mrg": defaultdict(dict),
        ".dp": defaultdict(dict),
    }
    # Sorted, so that of two copies of a file the same one is taken in whatever order the walk finds them.
    for path in sorted(paths):
        match = _NAME.search(os.path.basename(path))
        if match:
            sections[match[3].lower()][int(match[1])].setdefault(int(match[2]), path)
    return sections


def _sorted(files: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(files[number] for number in sorted(files))


#: Order to which corpora are counted: the longest n-grams of any model.
ORDER = 5
