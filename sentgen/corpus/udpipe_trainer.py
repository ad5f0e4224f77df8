"""Process that trains a UDPipe model for `parser_training`, as UDPipe blocks Python, even Ctrl-C.

    python -m sentgen.corpus.udpipe_trainer TOKENIZER TAGGER PARSER < TREEBANK.conllu > MODEL

UDPipe writes its progress to standard error. Little but UDPipe is imported, so that the process starts fast.
"""

from __future__ import annotations

import sys

from sentgen.system.processes import end_on_broken_pipe

#: Prefix of the line with the reason why there is no model.
FAILED = "sentgen: "


def train(treebank: str, tokenizer: str, tagger: str, parser: str) -> bytes:
    """Return a model trained on CoNLL-U text; each part has options of UDPipe, as ``iterations=5;order=2``.

    Raises:
        ValueError: UDPipe cannot learn from this text.
    """
    from ufal import udpipe  # which is an extra

    error = udpipe.ProcessingError()
    source = udpipe.InputFormat.newConlluInputFormat()
    source.setText(treebank)
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while source.nextSentence(sentence, error):
        sentences.append(sentence)  # copies
    model = b""
    if not error.occurred():
        held_out = udpipe.Sentences()  # none, so that all rounds run
        model = udpipe.Trainer.train(
            "morphodita_parsito", sentences, held_out, tokenizer, tagger, parser, error
        )
    if error.occurred():
        raise ValueError(f"UDPipe cannot train on this treebank: {' '.join(error.message.split())}")
    return bytes(model)


if __name__ == "__main__":
    # If the parent process was killed, the pipe is broken, and the next line of progress ends the training.
    end_on_broken_pipe()
    try:
        sys.stdout.buffer.write(train(sys.stdin.buffer.read().decode(), *sys.argv[1:4]))
    except ValueError as failure:
        sys.exit(f"\n{FAILED}{failure}")
