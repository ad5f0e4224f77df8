"""The process that trains: UDPipe lets Python do nothing meanwhile, not even notice Ctrl-C.

    python -m sentgen.corpus.parsers.udpipe_trainer TOKENIZER TAGGER PARSER < TREEBANK.conllu > MODEL

UDPipe tells its progress on standard error. `training` starts this process, reads that, and ends it.
"""

from __future__ import annotations

import signal
import sys

from sentgen.corpus.parsers.udpipe import library
from sentgen.errors import ModelError, SentgenError

#: Begins the line that says why there is no model.
FAILED = "sentgen: "


def trained(treebank: str, tokenizer: str, tagger: str, parser: str) -> bytes:
    """Train on CoNLL-U text, each part with options of UDPipe such as ``iterations=5;order=2``.

    Raises:
        ModelError: UDPipe cannot learn from this text, or does not know an option.
    """
    udpipe = library()
    error = udpipe.ProcessingError()
    source = udpipe.InputFormat.newConlluInputFormat()
    source.setText(treebank)
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while source.nextSentence(sentence, error):
        sentences.append(sentence)  # copies
    model = b""
    if not error.occurred():
        held_out = udpipe.Sentences()  # none, so that all iterations run
        model = udpipe.Trainer.train(
            "morphodita_parsito", sentences, held_out, tokenizer, tagger, parser, error
        )
    if error.occurred():
        raise ModelError(f"UDPipe cannot train on this treebank: {' '.join(error.message.split())}")
    return bytes(model)


if __name__ == "__main__":
    # Python ignores this signal. Whoever started this process and was killed leaves a broken pipe behind: the
    # next line of progress then ends the training.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.stdout.buffer.write(trained(sys.stdin.buffer.read().decode(), *sys.argv[1:4]))
    except SentgenError as error:
        sys.exit(f"\n{FAILED}{error}")
