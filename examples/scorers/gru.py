"""A scorer of a recurrent network in PyTorch, with random weights in place of trained ones."""

import zlib

import torch

from sentgen.plugins import Scorer

torch.manual_seed(1)
EMBED, NETWORK, OUTPUT = (
    torch.nn.Embedding(1000, 32),
    torch.nn.GRU(32, 32, batch_first=True),
    torch.nn.Linear(32, 1000),
)


@torch.inference_mode()
def score(sentences):
    numbers = [
        torch.tensor([0] + [1 + zlib.crc32(word.encode()) % 999 for word in words]) for words in sentences
    ]
    padded = torch.nn.utils.rnn.pad_sequence(numbers, batch_first=True, padding_value=-1)
    logits = OUTPUT(NETWORK(EMBED(padded[:, :-1].clamp(min=0)))[0])
    return -torch.nn.functional.cross_entropy(
        logits.mT, padded[:, 1:], ignore_index=-1, reduction="none"
    ).sum(1)


SCORER = Scorer("gru", "a recurrent network with random weights", score)
