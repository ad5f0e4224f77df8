"""The process that trains for `parser_training`: UDPipe lets Python do nothing meanwhile, not see Ctrl-C.

    python -m sentgen.corpus.udpipe_trainer TOKENIZER TAGGER PARSER < TREEBANK.conllu > MODEL

UDPipe tells its progress on standard error. Little but UDPipe is imported: to start takes no time.
"""

from __future__ import annotations

import sys

from sentgen.system.processes import end_on_broken_pipe

#: Begins the line that says why there is no model.
FAILED = "sentgen: "


def train(treebank: str, tokenizer: str, tagger: str, parser: str) -> bytes:
    """Train on CoNLL-U text, each part with options of UDPipe such as ``iterations=5;order=2``.

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
    # Whoever started this process and was killed leaves a broken pipe behind: the next line of progress then
    # ends the training.
    end_on_broken_pipe()
    try:
        sys.stdout.buffer.write(train(sys.stdin.buffer.read().decode(), *sys.argv[1:4]))
    except ValueError as failure:
        sys.exit(f"\n{FAILED}{failure}")
