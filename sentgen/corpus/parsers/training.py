"""Train a UDPipe parser on a treebank, in a process of its own that can be interrupted at any moment."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile

from sentgen.corpus.conllu_writer import conllu
from sentgen.corpus.parsers.qualities import Quality
from sentgen.corpus.parsers.udpipe import library
from sentgen.corpus.parsers.udpipe_trainer import FAILED
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sentences import sentences_of
from sentgen.corpus.sources import expand
from sentgen.errors import InputError, ModelError


@dataclass(frozen=True, slots=True)
class TrainedParser:
    """A model, and what it cost."""

    model: bytes
    sentences: int
    tokens: int
    seconds: float


#: Called with the part that is being trained, its finished rounds, and how many there are.
Progress = Callable[[str, int, int], None]


def read_treebank(paths: Sequence[str], *, lowercase: bool = False) -> list[Sentence]:
    """Read the sentences of treebanks in any format, all of which must have tags, heads and relations.

    Raises:
        InputError: a sentence fails a check, or lacks what a parser learns from.
    """
    sources = expand(paths)
    sentences = [_annotated(found, source.name) for source in sources for found in sentences_of([source])]
    if not sentences:
        raise InputError("no sentences to train on", path=paths[0])
    return [_lowercased(sentence) for sentence in sentences] if lowercase else sentences


def _annotated(sentence: Sentence, path: str) -> Sentence:
    for name, column in (("upos", sentence.upos), ("heads", sentence.heads), ("relations", sentence.deprels)):
        if column is None:
            raise InputError(
                f"a sentence without {name}; a parser learns from tags, heads and relations",
                path=path,
                line=sentence.line,
                sent_id=sentence.sent_id,
            )
    return sentence


def _lowercased(sentence: Sentence) -> Sentence:
    return replace(
        sentence,
        forms=[form.lower() for form in sentence.forms],
        multiwords=[(first, last, form.lower()) for first, last, form in sentence.multiwords],
    )


def train(
    sentences: Sequence[Sentence], quality: Quality, *, progress: Progress | None = None
) -> TrainedParser:
    """Train on sentences; the same ones in the same order give the same model.

    Ctrl-C ends the training at once.

    Raises:
        InputError: UDPipe is not installed.
        ModelError: UDPipe cannot learn from these sentences.
    """
    library()
    began = time.monotonic()
    # Files, not pipes, which would fill and block while standard error is read.
    with TemporaryFile() as treebank, TemporaryFile() as model:
        treebank.writelines(conllu(sentence).encode() for sentence in sentences)
        treebank.seek(0)
        command = [sys.executable, "-m", "sentgen.corpus.parsers.udpipe_trainer"]
        with subprocess.Popen(
            [*command, quality.tokenizer, quality.tagger, quality.parser],
            stdin=treebank,
            stdout=model,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            try:
                told = _followed(process.stderr or (), quality, progress or (lambda *_: None))
            # Ctrl-C, too: UDPipe would train on for minutes.
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise ModelError(told.removeprefix(FAILED) or "training ended without a model; is memory short?")
        model.seek(0)
        found = model.read()
    tokens = sum(len(sentence.forms) for sentence in sentences)
    return TrainedParser(found, len(sentences), tokens, time.monotonic() - began)


def _followed(lines: Iterable[str], quality: Quality, progress: Progress) -> str:
    """Report the rounds that UDPipe tells of; return why it failed, if it says so."""
    tagged = 0
    reason = ""
    for line in lines:
        if match := re.match(r"Epoch (\d+),", line):
            progress("tokenizer", int(match[1]), quality.tokenizer_rounds)
        elif re.match(r"Iteration \d+: done", line):
            tagged += 1
            progress("tagger", tagged, quality.tagger_rounds)
        elif match := re.match(r"Iteration (\d+): training logprob", line):
            progress("parser", int(match[1]), quality.parser_rounds)
        elif line.startswith(FAILED):
            reason = line.strip()
    return reason
