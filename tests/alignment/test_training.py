"""Training in the store: the same as EM in memory, whatever the order, the threads and the interruptions."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from dataclasses import astuple, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from stored import problems
from toy_pairs import PAIRS, Texts, fill

from sentgen.alignment.phrase_hmm.em import train
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored import cells
from sentgen.alignment.stored.model_report import top_rewrites
from sentgen.alignment.stored.model_store import StoredIteration, list_models, remove_model
from sentgen.alignment.stored.stored_model import StoredAligner
from sentgen.alignment.stored.stored_pairs import stored_pairs
from sentgen.alignment.stored.training import TrainingPlan, train_model
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.counts import corpora
from sentgen.errors import InputError, ModelError, NotFoundError, StoreError
from sentgen.schema import Store

PAPER = PbhmmSettings.preset("paper")
#: All cells are kept, so that training is EM and nothing else.
EXACT = TrainingPlan(iterations=3, drop=0.0)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the toy pairs; no test changes it."""
    return fill(tmp_path_factory.mktemp("toy") / "toy.duckdb")


@pytest.fixture
def toy_pairs(filled: Path, tmp_path: Path) -> Path:
    """A copy of the store with the toy pairs."""
    return Path(shutil.copy(filled, tmp_path))


@pytest.fixture(scope="module")
def expected(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The figures of a model of the toy pairs."""
    return figures(trained(Path(shutil.copy(filled, tmp_path_factory.mktemp("trained")))))


def trained(
    path: Path, settings: PbhmmSettings = PAPER, plan: TrainingPlan = EXACT, name: str = "m"
) -> list[StoredIteration]:
    """Train a model and return its iterations."""
    with Store(path) as store:
        return list(train_model(store, "toy", name, settings, plan))


def figures(iterations: list[StoredIteration]) -> list[object]:
    """Return all numbers of iterations but the seconds."""
    return [figure for one in iterations for figure in astuple(one)[2:-1]]


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("name", ["paper", "best"])
def test_training_is_em_in_memory(toy_pairs: Path, name: str) -> None:
    """Likelihood and posterior of each iteration are those of `em.train`, in both directions."""
    settings = PbhmmSettings.preset(name)
    with Store(toy_pairs) as store:
        pairs = list(stored_pairs(store, "toy"))
    lexicon = Lexicon(sorted({word.lower() for p in pairs for word in (*p.document, *p.abstract)}))
    ids = [lexicon.encode(pair) for pair in pairs]
    if settings.needs_kinship:
        ids = [lexicon.with_kinship(pair, wordnet=find_wordnet()) for pair in ids]
    expected = []
    for side in (ids, [pair.swap_texts() for pair in ids])[: 2 if settings.both else 1]:
        start = RewriteParameters.initial(side, lexicon.stem_of, settings)
        expected += [
            (one.log_likelihood, one.log_posterior) for one in train(side, start, settings, iterations=3)
        ]

    found = [(one.logp, one.log_posterior) for one in trained(toy_pairs, settings)]

    assert found == [pytest.approx(pair, rel=1e-9) for pair in expected]


def test_a_synonym_is_learnt(toy_pairs: Path) -> None:
    """`doctor` has no other source: it becomes the first rewrite of `physician` and its link."""
    trained(toy_pairs, replace(PbhmmSettings.preset("best"), trust=1.0), TrainingPlan(iterations=3))
    with Store(toy_pairs, read_only=True) as store:
        first = top_rewrites(store, "m", "Physician", direction="forward").column("target")[0]
        pair = next(stored_pairs(store, "toy", keys=["p1"]))
        (answer,) = StoredAligner.load(store, "m").align([pair])

    assert first == "doctor"
    assert (1, 1) in answer.links  # "a physician came ..." and "a doctor came ."


def test_order_of_the_pairs_changes_nothing(expected: list[object], tmp_path: Path) -> None:
    """Stored the other way round, the pairs give the same figures to 1e-9."""
    found = trained(fill(tmp_path / "toy.duckdb", PAIRS[::-1]))

    assert figures(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.nightly
@hypothesis_settings(max_examples=hypothesis_settings.default.max_examples // 5)
@given(st.permutations(PAIRS))
def test_nor_does_any_other(
    expected: list[object], tmp_path_factory: pytest.TempPathFactory, order: list[Texts]
) -> None:
    """Any order of the pairs gives the same figures."""
    found = trained(fill(tmp_path_factory.mktemp("order") / "toy.duckdb", order))

    assert figures(found) == pytest.approx(expected, rel=1e-9)


def test_threads_change_nothing(toy_pairs: Path, expected: list[object]) -> None:
    """Two threads give the very same numbers as one."""
    assert figures(trained(toy_pairs, plan=replace(EXACT, jobs=2))) == expected


def test_files_change_nothing(toy_pairs: Path, expected: list[object]) -> None:
    """Without memory for the rewrite tables they are in files, with the same result; nothing is left behind."""
    assert figures(trained(toy_pairs, plan=replace(EXACT, memory=0))) == expected
    assert [file.name for file in toy_pairs.parent.iterdir()] == ["toy.duckdb"]


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("first", [1, 2, 100])
def test_parts_change_nothing(
    toy_pairs: Path, expected: list[object], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some pairs at a time, with room for few cells and for fewer than a pair needs, give the very same numbers."""
    monkeypatch.setattr(cells, "_FIRST", first)
    monkeypatch.setattr(cells, "_LEAST", 60)
    assert figures(trained(toy_pairs, plan=replace(EXACT, memory=0))) == expected


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("name", ["paper", "best"])
def test_log_posterior_never_falls(toy_pairs: Path, name: str) -> None:
    """EM raises it in every iteration of each direction."""
    done = trained(toy_pairs, PbhmmSettings.preset(name), replace(EXACT, iterations=6))

    for direction in ("forward", "reverse"):
        values = [one.log_posterior for one in done if one.direction == direction]
        assert all(after >= before - 1e-9 for before, after in pairwise(values))


_KILLED = """
import os, signal, sys
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.training import TrainingPlan as Plan, train_model
from sentgen.schema import Store

def kill(direction, iteration, done, total):
    if (direction, iteration, done) == (sys.argv[2], 3, 2):
        os.kill(os.getpid(), signal.SIGKILL)

with Store(sys.argv[1]) as store:
    for _ in train_model(store, "toy", "m", PbhmmSettings.preset("best"), Plan(iterations=4, drop=0.0), progress=kill):
        pass
"""


@pytest.fixture(scope="module")
def four_of_each(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> list[StoredIteration]:
    """The figures of the same training without interruption."""
    path = Path(shutil.copy(filled, tmp_path_factory.mktemp("four")))
    return trained(path, PbhmmSettings.preset("best"), TrainingPlan(iterations=4, drop=0.0))


@pytest.mark.nightly
@pytest.mark.parametrize(("direction", "left"), [("forward", 6), ("reverse", 2)])
def test_killed_training_goes_on(
    toy_pairs: Path, four_of_each: list[StoredIteration], direction: str, left: int
) -> None:
    """SIGKILL in the third iteration: two are there, the rest is done by --resume, with the same figures."""
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(toy_pairs), direction], check=False)
    assert killed.returncode == -signal.SIGKILL

    rest = trained(toy_pairs, PAPER, TrainingPlan(iterations=4, drop=0.0, resume=True))

    assert len(rest) == left
    assert figures(rest) == pytest.approx(figures(four_of_each[-left:]), rel=1e-9)
    with Store(toy_pairs) as store:
        assert problems(store) == {}


def test_a_model_can_be_trained_further(toy_pairs: Path) -> None:
    """Two iterations and two further ones give the result of four."""
    whole = trained(toy_pairs, plan=replace(EXACT, iterations=4), name="whole")
    trained(toy_pairs, plan=replace(EXACT, iterations=2))

    more = trained(toy_pairs, plan=replace(EXACT, iterations=4, resume=True))

    assert figures(more) == pytest.approx(figures(whole[2:]), rel=1e-9)


def test_a_model_that_exists_is_not_overwritten(toy_pairs: Path) -> None:
    """The message says how to go on."""
    trained(toy_pairs)

    with pytest.raises(InputError, match="exists; go on with it with `resume`"):
        trained(toy_pairs)


def test_only_a_model_that_was_begun_can_be_resumed(toy_pairs: Path) -> None:
    """A wrong name does not begin another model."""
    trained(toy_pairs)

    with pytest.raises(NotFoundError, match="no alignment model 'n'; there are: m"):
        trained(toy_pairs, plan=replace(EXACT, resume=True), name="n")
    with Store(toy_pairs) as store:
        assert list_models(store).column("model") == ["m"]


def test_what_cannot_be_trained_leaves_no_model(toy_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed training, the name is free for other settings."""
    with monkeypatch.context() as patch:
        patch.setattr("sentgen.alignment.stored.training._Training._log_prior", lambda *_: -np.inf)
        with pytest.raises(ModelError, match="some pair is impossible"):
            trained(toy_pairs)

    assert len(trained(toy_pairs)) == EXACT.iterations


def test_other_pairs_refuse_to_resume(toy_pairs: Path) -> None:
    """A training cannot be resumed with other pairs, which would not be EM."""
    trained(toy_pairs)
    fill(toy_pairs, [("new", "a cat", "a cat")])

    with pytest.raises(InputError, match="was begun with other pairs"):
        trained(toy_pairs, plan=replace(EXACT, iterations=9, resume=True))


def test_rare_phrases_are_dropped(toy_pairs: Path) -> None:
    """With a high threshold all phrase cells go after the first iteration, and word cells stay."""
    with_all = trained(toy_pairs, name="all")[0].cells
    words = trained(
        toy_pairs, PAPER.changed({"max-document-phrase": "1", "max-abstract-phrase": "1"}), name="w"
    )

    dropped = trained(toy_pairs, plan=replace(EXACT, drop=1e9))

    assert dropped[0].cells == words[0].cells < with_all


def test_fixed_tables_stay(toy_pairs: Path) -> None:
    """With the tables fixed, EM changes the other parameters only."""
    fixed = replace(PAPER, fixed=frozenset({"table", "weights", "null", "unigram", "jumps"}))

    done = trained(toy_pairs, fixed)

    assert done[0].logp == pytest.approx(done[2].logp, rel=1e-12)


def test_removing_a_model_removes_what_it_learnt(toy_pairs: Path) -> None:
    """The store is then as if it had never been; a dry run leaves it."""
    trained(toy_pairs)
    with Store(toy_pairs) as store:
        assert remove_model(store, "m", dry_run=True) == 3
        assert remove_model(store, "m") == 3

        assert list_models(store).num_rows == 0
        assert problems(store) == {}
        with pytest.raises(NotFoundError, match="no alignment model 'm'; train one with"):
            remove_model(store, "m")


def test_removing_the_corpus_leaves_the_model(toy_pairs: Path) -> None:
    """As with language models, the model stays when its corpus is removed."""
    trained(toy_pairs)
    with Store(toy_pairs) as store:
        pair = next(stored_pairs(store, "toy"))
        corpora.remove(store, "toy")

        assert list_models(store).column("corpus") == ["toy"]
        assert len(list(StoredAligner.load(store, "m").align([pair]))) == 1
        assert problems(store) == {}


def test_a_model_without_iterations_says_so(toy_pairs: Path) -> None:
    """A model whose training was killed in the first iteration refuses to align."""
    with Store(toy_pairs) as store:
        pair = next(stored_pairs(store, "toy"))
        training = train_model(store, "toy", "m", PAPER, EXACT, progress=_interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(training)
        with pytest.raises(StoreError, match=r"no forward iteration yet; train it on: .*--resume"):
            list(StoredAligner.load(store, "m").align([pair]))


def test_a_model_of_other_stems_is_refused(toy_pairs: Path) -> None:
    """The keys of its table of stems would stand for other stems."""
    trained(toy_pairs, plan=replace(EXACT, iterations=1))
    with Store(toy_pairs) as store:
        with store.begin() as connection:
            change = "update alignment_phrase set form = 'x' || form where layer = 'stems' and key = 3"
            connection.exec_driver_sql(change)
        with pytest.raises(StoreError, match=r"another stemmer; train another one: .* --pairs toy"):
            StoredAligner.load(store, "m")
        with pytest.raises(StoreError, match="another stemmer"):
            list(train_model(store, "toy", "m", PAPER, replace(EXACT, resume=True)))


def _interrupt(direction: str, iteration: int, done: int, total: int) -> None:
    if iteration == 1:
        raise KeyboardInterrupt


def test_unknown_words_and_pairs_can_be_aligned(toy_pairs: Path) -> None:
    """Words that the model has never seen have its prior, so that copies are still found."""
    trained(toy_pairs, PbhmmSettings.preset("best"))
    with Store(toy_pairs, read_only=True) as store:
        pair = replace(next(stored_pairs(store, "toy")), document=("zebra", "unseen"), abstract=("zebra",))
        (answer,) = StoredAligner.load(store, "m").align([pair])

    assert answer.links == {(0, 0)}


def test_many_pairs_can_be_aligned_at_once(tmp_path: Path) -> None:
    """Pairs have the same alignments as alone, though DuckDB joins many words in any order."""
    words = [f"w{number * number % 2003}" for number in range(3_000)]
    texts = [(words[start : start + 20], words[start + 5 : start + 12]) for start in range(0, 2_980, 20)]
    pairs = [
        (str(key), " ".join(document), " ".join(abstract)) for key, (document, abstract) in enumerate(texts)
    ]
    path = fill(tmp_path / "many.duckdb", pairs)
    trained(path, PbhmmSettings.preset("best"), replace(EXACT, iterations=1))
    with Store(path, read_only=True) as store:
        aligner = StoredAligner.load(store, "m")
        together = list(stored_pairs(store, "toy"))
        some = together[:5]

        assert list(aligner.load_batch(together).align(some)) == [
            next(aligner.load_batch([one]).align([one])) for one in some
        ]


def test_settings_survive_the_store() -> None:
    """Settings, with priors and fixed parts, are the same after JSON."""
    settings = PbhmmSettings.preset("best").changed(
        {
            "p0": "0.3",
            "prior-identity": "9",
            "fixed": "jumps,null",
            "window": "none",
            "weights": "0.5,0.25,0.25",
        },
    )

    assert PbhmmSettings.from_json(settings.as_json()) == settings
    assert settings.window is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": "red"}, "no setting 'colour'; there are: both,"),
        ({"p0": "much"}, "p0 is 'much', which is no number"),
        ({"null": "moves"}, "null is 'moves'; choose one of: stay, table3"),
        ({"both": "perhaps"}, "both is 'perhaps'; say true or false"),
        ({"fixed": "everything"}, "fixed is 'everything'; name some of: null,"),
        ({"p0": "2"}, r"P\(null\) is 2.0"),
        ({"p0": "none"}, "p0 is 'none', which is no number"),
        ({"threshold": "nan"}, "threshold is 'nan', which is no number"),
        ({"window": "inf"}, "window is 'inf', which is no number"),
        ({"max-document-phrase": "1.5"}, "max-document-phrase is '1.5', which is no whole number"),
        ({"vocabulary": "0"}, "vocabulary is '0'; it must be 1 or more"),
        ({"trust": "7"}, "trust is '7'; it must be between 0 and 1"),
        ({"null-function": "-0.1"}, "null-function is '-0.1'; it must be between 0 and 1"),
        ({"prior-word": "-1"}, "prior-word is '-1'; it must be 0 or more"),
        ({"weights": "0.5,0.5"}, "weights is '0.5,0.5'; give three"),
    ],
)
def test_settings_that_are_refused(given: dict[str, str], message: str) -> None:
    """One clear line says what can be set."""
    with pytest.raises(InputError, match=message):
        PAPER.changed(given)
