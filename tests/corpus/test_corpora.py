"""The readers on the real corpora, against each other and against the `conllu` library."""

from __future__ import annotations

from pathlib import Path

import conllu as library
import pytest

from sentgen.corpus.base_np import function_heads, mark_base_nps
from sentgen.corpus.formats import READERS
from sentgen.corpus.paths import expand
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import check
from sentgen.errors import Rejection

pytestmark = pytest.mark.data


def read(name: str, path: Path) -> list[Sentence]:
    results = []
    for source in expand([str(path)]):
        results += list(READERS[name].read(source.lines(), path=source.name))
    assert [r for r in results if isinstance(r, Rejection)] == []
    return results  # type: ignore[return-value]


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("part", ["en_ewt-ud-dev", "en_gum-ud-dev", "en_lines-ud-dev", "en_partut-ud-dev"])
def test_agreement_with_the_conllu_library(data_dir: Path, part: str) -> None:
    path = data_dir / "ud" / f"{part}.conllu"
    ours = read("conllu", path)
    theirs = library.parse(path.read_text(encoding="utf-8"))

    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        words = [token for token in other if isinstance(token["id"], int)]
        assert mine.forms == [token["form"] for token in words]
        assert mine.heads == [token["head"] for token in words]
        assert mine.deprels == [token["deprel"] for token in words]
        assert mine.sent_id == other.metadata["sent_id"]
        assert mine.text == other.metadata["text"]
        assert len(mine.multiwords) + len(mine.empty_nodes) + len(words) == len(other)


@pytest.mark.parametrize("part", [pytest.param("train", marks=pytest.mark.nightly), "dev"])
def test_no_ud_sentence_is_rejected(data_dir: Path, part: str) -> None:
    """All of the shared UD data pass; promoting function words leaves trees."""
    paths = sorted((data_dir / "ud").glob(f"*-{part}.conllu"))
    for path in paths:
        for sentence in read("conllu", path):
            assert sentence.heads is not None
            assert mark_base_nps(sentence)
            heads = function_heads(sentence)
            assert check(Sentence(sentence.forms, heads=heads, nps=sentence.nps)) is None


def test_wsj_loses_no_sentence_and_agrees_with_its_trees(data_dir: Path) -> None:
    """1,993 sentences from dependencies and from trees, with the same words and 85% of the heads."""
    dependencies = read("wsj", data_dir / "wsj01" / "dep")
    trees = read("wsj", data_dir / "wsj01" / "combined")
    pairs = list(zip(dependencies, trees, strict=True))
    same = sum(a == b for d, t in pairs for a, b in zip(d.heads or [], t.heads or [], strict=True))

    assert len(pairs) == 1_993
    assert all(d.forms == t.forms for d, t in pairs)
    # The same tagged files: base noun phrases do not depend on where heads come from.
    assert all(d.nps == t.nps for d, t in pairs)
    assert same / sum(len(d.forms) for d in dependencies) > 0.85


def test_tagged_files_give_about_as_many_sentences(data_dir: Path) -> None:
    assert abs(len(read("pos", data_dir / "wsj01" / "tagged")) - 1_993) < 30


def test_conll2000(data_dir: Path) -> None:
    sentences = read("conll2000", data_dir / "conll2000" / "train.txt")

    assert len(sentences) == 8_936
    assert sum(len(s.forms) for s in sentences) == 211_727
