"""The extractor: its features by hand, its regression against plain descent, and whether it learns."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_pairs import Texts, write_jsonl

from sentgen.alignment.stored.application import apply_model
from sentgen.alignment.stored.extraction import FEATURES, Extractor, best, sources
from sentgen.corpus.pair_readers import PairSettings
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.pair_ingestion import ingest_pairs
from sentgen.errors import InputError, NotFoundError
from sentgen.evaluation.alignment.extraction import evaluate_extraction
from sentgen.schema import Store


def test_features_by_hand() -> None:
    """Stems dog (3 times), bark, cat, 5; the second sentence has dog twice and 5, the third function words only."""
    found = Extractor.features([["The", "dogs", "bark", "."], ["Dog", "5", "dogs"], ["It", "was", "so"]])

    # Document (3, 1, 1) of dog, bark, 5; first sentence (1, 1, 0), second (2, 0, 1).
    whole, first, second = math.sqrt(11), math.sqrt(2), math.sqrt(5)
    expected = [
        [1, 0, 0, math.log(3), math.log(3) / 2, 4 / (whole * first), 1, 0, math.log(3)],
        [
            *(0, math.log(2), 1 / 3, math.log(4), 2 * math.log(3) / 3),
            *(7 / (whole * second), 2 / (first * second), 1 / 3, math.log(3)),
        ],
        [0, math.log(3), 2 / 3, 0, 0, 0, 0, 0, math.log(3)],
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert found.shape[1] == len(FEATURES)


def penalized(extractor: Extractor, rows: np.ndarray, chosen: np.ndarray) -> float:
    """Return the objective of the regression, term by term."""
    total = sum(w * w for w in extractor.weights[1:]) / 2
    for row, label in zip((rows - extractor.means) / extractor.scales, chosen, strict=True):
        score = extractor.weights[0] + sum(w * x for w, x in zip(extractor.weights[1:], row, strict=True))
        total += math.log1p(math.exp(-score if label else score))
    return total


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_no_step_makes_it_better(seed: int) -> None:
    """The objective is convex, so that it is minimal if no step of one weight lowers it."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3))
    rows[:, 2] = 7  # says nothing
    chosen = np.arange(30) % 3 == 0
    found = Extractor.learn(rows, chosen)
    least = penalized(found, rows, chosen)

    for place in range(4):
        for step in (-1e-3, 1e-3):
            moved = found.weights.copy()
            moved[place] += step
            assert penalized(Extractor(found.means, found.scales, moved), rows, chosen) >= least


@pytest.mark.parametrize("chosen", [True, False])
def test_nothing_to_learn(chosen: bool) -> None:
    """Nothing can be learnt if all sentences are sources, or none is."""
    with pytest.raises(InputError, match="there is nothing to learn"):
        Extractor.learn(np.zeros((3, 2)), np.full(3, chosen))


def test_sentences_without_words_to_look_at() -> None:
    """One sentence, or only marks, cause no division by zero; ties keep their order."""
    assert np.isfinite(Extractor.features([["."], ["!"]])).all()
    assert Extractor.features([["dog"]]).shape == (1, len(FEATURES))
    assert best(np.zeros(4), 9) == (0, 1, 2, 3)


TOPICS = ("volcano", "harbor", "senate", "orchard", "glacier", "railway", "museum", "falcon")


def reports(topics: tuple[str, ...]) -> list[Texts]:
    """Make documents that begin with their history; the abstract has their long sentences with numbers."""
    made = []
    for number, topic in enumerate(topics):
        asides = [f"Our reporter {name} spoke with people ." for name in ("Ann", "Bob", "Cid", "Dan", "Eve")]
        news = f"The {topic} grew by {number + 10} percent while experts of the {topic} watched the {topic} ."
        at = 2 + number % 3  # never among the first
        sentences = [*asides[:at], news, *asides[at:]]
        made.append((topic, " ".join(sentences), f"The {topic} grew by {number + 10} percent ."))
    return made


@pytest.fixture(scope="module")
def aligned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with aligned reports for training and testing; tests add nothing to it but runs."""
    folder = tmp_path_factory.mktemp("reports")
    with Store(folder / "s.duckdb", create=True) as store:
        for name, topics in (("train", TOPICS[:5]), ("held", TOPICS[5:])):
            source = write_jsonl(folder / f"{name}.jsonl", reports(topics))
            ingest_pairs(store, [str(source)], name, settings=PairSettings())
            apply_model(store, name, None)
        (plain := folder / "plain.txt").write_text(reports(("comet",))[0][1].replace(" . ", " .\n"))
        ingest(store, [str(plain)], Settings("plain"))
    return folder / "s.duckdb"


def test_it_finds_what_leads_do_not(aligned: Path) -> None:
    """News that never come first: the extractor chooses them in all reports that it has not seen, lead in none."""
    with Store(aligned) as store:
        expected = {topic: {2 + n % 3} for n, topic in enumerate(TOPICS[5:])}
        assert sources(store, "held", None) == expected
        result = evaluate_extraction(store, "train", "held", size=1)
        again = evaluate_extraction(store, "train", "held", size=1)

    found = {one.system: one for one in result.systems}
    assert [(at,) for (at,) in expected.values()] == list(found["extractor"].answers)
    assert found["extractor"].value("source-f1") == found["alignment"].value("source-f1") == 1
    assert found["lead"].value("source-f1") == 0
    # "the T grew by N percent .": 7 of the 15 words of the report, and 7 of 7.
    assert found["extractor"].value("rouge-1") == pytest.approx(2 * 7 / (15 + 7))
    assert found["extractor"].value("rouge-1") > found["lead"].value("rouge-1")
    assert [one.answers for one in again.systems] == [one.answers for one in result.systems]


def test_documents_without_abstracts(aligned: Path) -> None:
    """Documents of any corpus can be extracted from; sentences count from 1, at most those of the document."""
    with Store(aligned, read_only=True) as store:
        extractor = Extractor.of_pairs(store, "train", None)
        (one,) = extractor.extracts(store, "plain", size=1).to_pylist()
        every = extractor.extracts(store, "plain", size=99).to_pylist()
        some = extractor.extracts(store, "held", size=2, limit=3).to_pylist()

    assert (one["sentence"], one["text"].split()[1]) == (3, "comet")
    assert one["probability"] == max(row["probability"] for row in every)
    assert [row["sentence"] for row in every] == [1, 2, 3, 4, 5, 6]
    assert [row["document"] for row in some] == [TOPICS[5]] * 2 + [TOPICS[6]]


def test_refusals(aligned: Path) -> None:
    """Its training pairs are refused as a test set, and a corpus without pairs as training data."""
    with Store(aligned) as store:
        with pytest.raises(InputError, match="has seen these pairs; give others"):
            evaluate_extraction(store, "train", "train")
        with pytest.raises(NotFoundError, match="no corpus"):
            evaluate_extraction(store, "train", "nowhere")
        with pytest.raises(InputError, match="'plain' holds no pairs"):
            Extractor.of_pairs(store, "plain", None)
