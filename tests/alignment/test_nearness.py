"""Words with near vectors: their kinship, and their use by aligners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sentgen.alignment import Pair
from sentgen.alignment.choice import Choice
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.systems import make_system
from sentgen.alignment.words import kinship as module
from sentgen.alignment.words.kinship import NEAR, NONE, SIMILAR, SYNONYM, Kinship, Nearness
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.models.vector_building import VectorRequest
from sentgen.models.vectors import WordVectors
from sentgen.schema import Store


def vectors(directions: Mapping[str, Sequence[float]]) -> WordVectors:
    """Return vectors of length 1."""
    found = np.array(list(directions.values()), np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return WordVectors("toy", {word: row for row, word in enumerate(directions)}, found)


#: The cosines are 1 between "soup" and "broth", 0.6 between these and "spoon", 0 between others.
TOY = vectors(
    {
        "soup": (1, 0, 0, 0),
        "broth": (1, 0, 0, 0),
        "spoon": (3, 4, 0, 0),
        "two": (0, 0, 1, 0),
        "three": (0, 0, 1, 0),
        "killed": (0, 0, 0, 1),
        "murder": (0, 0, 0, 1),
        "the": (1, 0, 0, 0),
    }
)


def kinds(abstract: str, document: str, least: float = 0.5) -> list[list[int]]:
    found = Kinship.between(abstract.split(), document.split(), wordnet=None, nearness=Nearness(TOY, least))
    return found.kinds.tolist()


def test_near_words_are_akin() -> None:
    """Words are near from a cosine on, in any case; words without a vector are near no word at all."""
    assert kinds("Soup fish", "broth spoon bread") == [[NEAR, NEAR, NONE], [NONE] * 3]
    assert kinds("soup fish", "broth spoon bread", 0.7) == [[NEAR, NONE, NONE], [NONE] * 3]
    assert kinds("qqq", "zzz") == [[NONE]]


def test_words_with_other_kin_need_no_near_ones() -> None:
    """If "two" is in both texts, it is not near "three"; closer kinds stay; function words are near none."""
    assert kinds("two", "three") == [[NEAR]]
    assert kinds("two", "three two") == [[NONE, SIMILAR]]
    assert kinds("two three", "three") == [[NONE], [SIMILAR]]
    assert kinds("killed", "murder") == [[SYNONYM]]
    assert kinds("the", "broth") == [[NONE]]


def test_blocks_of_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that are compared in blocks of rows have the same near words."""
    words = list(TOY.rows)
    whole = Nearness(TOY, 0.5).near(words, words)
    monkeypatch.setattr(module, "WORD_CELLS", 3)

    assert Nearness(TOY, 0.5).near(words, words).tolist() == whole.tolist()
    assert whole[:3, :3].tolist() == [[True] * 3] * 3
    assert not whole[0, 3]


def test_aligner_links_near_words() -> None:
    """Near words are linked by their setting; without vectors nothing changes."""
    pair = Pair("1", ("he", "ate", "bread", "and", "broth"), ("soup",))
    plain = PhraseHmm.untrained("best")
    near = replace(plain, vectors=TOY, settings=replace(plain.settings, near=0.3))
    off = replace(near, settings=replace(near.settings, near=0.0))

    assert [next(one.align([pair])).links for one in (plain, near, off)] == [set(), {(4, 0)}, set()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("near")
    (folder / "toy.lines").write_text("he ate soup now\nshe ate broth now\nit saw a dog there\n" * 2)
    with Store(folder / "toy.duckdb", create=True) as made:
        ingest(made, [str(folder / "toy.lines")], Settings("toy"))
        VectorRequest(name="toy", corpus=["toy"], dimensions=3, min_count=2).build(made)
    return folder / "toy.duckdb"


def test_systems_take_vectors(store: Path) -> None:
    """Vectors are a setting beside others; the paper's model ignores near words."""
    with Store(store, read_only=True) as opened:
        made = make_system("pbhmm:vectors=toy:nearness=0.3", (), store=opened)
        assert isinstance(made, PhraseHmm)
        assert made.vectors is not None
        assert "soup" in made.vectors.rows
        assert made.settings.nearness == 0.3
        with pytest.raises(NotFoundError, match="no vectors 'x'; there are: toy"):
            make_system("pbhmm:vectors=x", (), store=opened)
        with pytest.raises(InputError, match="gives near words nothing"):
            make_system("pbhmm:preset=paper:vectors=toy", (), store=opened)
    with pytest.raises(InputError, match="has vectors of a store, and there is none"):
        make_system("pbhmm:vectors=toy", ())


def test_choice_of_vectors(store: Path) -> None:
    """The vectors of the store are opened once, with a note; other systems get none."""
    opened: list[Store] = []

    def open_it() -> Store:
        opened.append(Store(store, read_only=True))
        return opened[-1]

    aligner, name = Choice(vectors="toy").aligner(open_it)
    opened[0].close()

    assert len(opened) == 1
    assert isinstance(aligner, PhraseHmm)
    assert aligner.vectors is not None
    assert name == "the phrase-based HMM, preset best, with its priors only, with the vectors toy"
    with pytest.raises(InputError, match="leave out `system`"):
        Choice(vectors="toy", system="lcs")
