"""The page on KenLM: exported models, mixtures and pruned models have the same scores in KenLM."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from toy_corpus import add_corpus, ngrams

from sentgen.models import ModelInfo, build, export_arpa
from sentgen.models.mix import MixRequest
from sentgen.models.prune import PruneRequest
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

kenlm = pytest.importorskip("kenlm", reason="needs the module kenlm (pip install kenlm)")
ONE = ["a b a c", "b a", "c a b", "a b c a", "a a b"]
OTHER = ["b c e", "e c b b", "c f", "e e f", "b c a"]
TEST = ["a b c", "e a b", "", "z a", "c b e f a b c"]


def exported(store: Store, model: ModelInfo, folder: Path) -> object:
    export_arpa(store, model, folder / f"{model.name}.arpa")
    return kenlm.Model(str(folder / f"{model.name}.arpa"))


@pytest.fixture
def models(store: Store) -> list[ModelInfo]:
    for name, text in (("one", ONE), ("other", OTHER)):
        add_corpus(store, name, text)
    return [build(store, "one", ["one"], order=3), build(store, "other", ["other"], order=2)]


def test_scores_are_those_of_kenlm(store: Store, models: list[ModelInfo], tmp_path: Path) -> None:
    """A model, a mixture and a pruned model have KenLM's scores, which are 32-bit floats."""
    mixed = MixRequest(name="both", of="one,other", weights=".6,.4").make(store)
    small = PruneRequest(name="small", of="one", entropy=1e-2).make(store)

    for model in (models[0], mixed, small):
        oracle = exported(store, model, tmp_path)
        for text, score in zip(TEST, score_sentences(store, model, map(str.split, TEST)), strict=True):
            assert score.log10 == pytest.approx(oracle.score(text), abs=1e-5)
            assert score.oov == sum(oov for _, _, oov in oracle.full_scores(text))


def test_a_mixture_is_the_sum_of_what_kenlm_gives(
    store: Store, models: list[ModelInfo], tmp_path: Path
) -> None:
    """Each n-gram of words that both models know, to 1e-6."""
    oracles = [exported(store, model, tmp_path) for model in models]
    mixed = ngrams(store, MixRequest(name="both", of="one,other", weights=".6,.4").make(store))
    compared = 0
    for gram, (logp, _) in mixed.items():
        if gram[-1] == "<s>" or not all(gram[-1] in oracle or gram[-1] == "</s>" for oracle in oracles):
            continue
        p = 0.0
        for oracle, weight in zip(oracles, (0.6, 0.4), strict=True):
            state, after = kenlm.State(), kenlm.State()
            (oracle.BeginSentenceWrite if gram[0] == "<s>" else oracle.NullContextWrite)(state)
            for word in gram[1:-1] if gram[0] == "<s>" else gram[:-1]:
                oracle.BaseScore(state, word, after)
                state, after = after, state
            p += weight * 10 ** oracle.BaseScore(state, gram[-1], after)
        assert 10**logp == pytest.approx(p, abs=1e-6), gram
        compared += 1

    assert compared > 20


def test_commands_of_the_page_are_ours() -> None:
    """Each row of the table that names an option of a command has it in the reference."""
    root = Path(__file__).parents[2] / "docs"
    reference = (root / "reference" / "cli.md").read_text("utf-8")
    for line in re.findall(r"`sentgen ([^`]+)`", (root / "models.md").read_text("utf-8")):
        command = re.match(r"(models \S+|\S+)", line)

        assert command is not None, line
        assert f"## sentgen {command[0]}\n" in reference, line
