"""The neural scorers of the page on plug-ins, where PyTorch and transformers are installed: tiny random models."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugged import plugged, write_package

from sentgen.models.scorer import Scorer, overview, scorer_named

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "scorers"
SENTENCES = [["the", "cat", "sat"], ["the"], ["a", "dog", "saw", "the", "cat", "."], ["sat", "cat", "the"]]


def install(folder: Path, needed: str, entry: str) -> None:
    """Install the example that the page shows, if the package is there that it needs."""
    pytest.importorskip(needed, reason=f"{needed} is not installed, which the example imports")
    code = (EXAMPLES / f"{entry}.py").read_text("utf-8")
    write_package(folder, "neural", {f"scorers.{entry}": "SCORER"}, code)


def usable(name: str) -> Scorer:
    """The scorer of a name, under guard."""
    assert overview()[1] == []
    found = scorer_named(name)
    assert found is not None
    return found


@pytest.mark.nightly
def test_with_pytorch(tmp_path: Path) -> None:
    """Log-probabilities do not depend on the rest of the batch."""
    install(tmp_path, "torch", "gru")
    with plugged(tmp_path):
        score = usable("gru").score
        together = score(SENTENCES)
        alone = [score([one])[0] for one in SENTENCES]

    assert together == pytest.approx(alone, abs=1e-4)
    assert max(together) < 0
    assert len(set(together)) == len(SENTENCES)


@pytest.mark.nightly
def test_with_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of several pieces are whole, and with the end they sum up to what the model says of the text."""
    install(tmp_path / "site", "transformers", "causal")
    save_tiny_model(tmp_path / "model")
    monkeypatch.setenv("CAUSAL_MODEL", str(tmp_path / "model"))
    with plugged(tmp_path / "site"):
        scorer = usable("causal")
        assert scorer.score_words is not None
        words, sentences = scorer.score_words(SENTENCES), scorer.score(SENTENCES)

    assert [len(one) for one in words] == [len(one) for one in SENTENCES]
    for one, of_words, whole in zip(SENTENCES, words, sentences, strict=True):
        logps = plain_logps(tmp_path / "model", one)
        assert whole == pytest.approx(sum(logps), abs=1e-4)
        assert sum(of_words) == pytest.approx(sum(logps[:-1]), abs=1e-4)


def save_tiny_model(folder: Path) -> None:
    """Save a random GPT-2 of one layer, with a tokenizer of bytes that cuts words to pieces."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=270, special_tokens=["<|end|>"], initial_alphabet=letters)
    tokenizer.train_from_iterator([" ".join(one) for one in SENTENCES], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|end|>", eos_token="<|end|>")
    fast.save_pretrained(folder)
    set_seed(1)
    end = fast.eos_token_id
    size = GPT2Config(vocab_size=len(fast), n_layer=1, n_head=2, n_embd=8, bos_token_id=end, eos_token_id=end)
    GPT2LMHeadModel(size).save_pretrained(folder)


def plain_logps(folder: Path, words: list[str]) -> list[float]:
    """Return the log-probability of each piece of a sentence and of its end, one call each."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    end = tokenizer.eos_token_id
    pieces = [end, *tokenizer(" " + " ".join(words), add_special_tokens=False).input_ids, end]
    return [
        float(model(torch.tensor([pieces[:i]])).logits[0, -1].log_softmax(-1)[pieces[i]])
        for i in range(1, len(pieces))
    ]
