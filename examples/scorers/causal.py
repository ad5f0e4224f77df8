"""A scorer of any causal model of transformers."""

import os
from functools import cache

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sentgen.plugins import Scorer


@cache
def loaded():
    name = os.environ.get("CAUSAL_MODEL", "gpt2")
    tokenizer = AutoTokenizer.from_pretrained(name, add_prefix_space=True)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer, AutoModelForCausalLM.from_pretrained(name).eval()


@torch.inference_mode()
def score_words(sentences, end=False):
    tokenizer, model = loaded()
    start, last = tokenizer.bos_token or tokenizer.eos_token, [tokenizer.eos_token] if end else []
    given = [[start, *words, *last] for words in sentences]
    batch = tokenizer(
        given, is_split_into_words=True, add_special_tokens=False, padding=True, return_tensors="pt"
    )
    logps = model(**batch).logits[:, :-1].log_softmax(-1).gather(-1, batch.input_ids[:, 1:, None])[..., 0]
    found = [[0.0] * len(words) for words in given]
    for i, words in enumerate(found):
        for place, logp in zip(batch.word_ids(i)[1:], logps[i].tolist(), strict=True):
            if place is not None:
                words[place] += logp
    return [words[1:] for words in found]


def score(sentences):
    return [sum(words) for words in score_words(sentences, end=True)]


SCORER = Scorer("causal", "a causal model of transformers", score, score_words)
