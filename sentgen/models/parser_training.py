"""Train a UDPipe model on corpora of the store under a name, for ``--parser NAME``.

Straka and Straková 2017, Tokenizing, POS Tagging, Lemmatizing and Parsing UD 2.0 with UDPipe.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Literal

from sqlalchemy import Connection

from sentgen.corpus.parser_adapters import parser_path
from sentgen.corpus.udpipe_trainer import FAILED
from sentgen.counts.conllu_export import sentences_conllu
from sentgen.errors import InputError, ModelError
from sentgen.extras import needs
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.options import Option
from sentgen.output.files import whole_file
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store

#: Features of the tagger, over bigrams of tags: UDPipe's own, over trigrams, take minutes for a round of EWT.
TAGGER_FEATURES = (
    *("Tag 0", "Tag 0,Tag -1", "Tag 0,TagUPos -1", "TagUPos 0", "TagUPos 0,TagUPos -1"),
    *("Tag 0,Form 0", "Tag 0,Form 0,Form -1", "Tag 0,Form -1", "Tag 0,Form -2"),
    *("Tag 0,Form 1", "Tag 0,Form 1,Form 2", "Tag 0,PreviousVerbTag 0", "Tag 0,PreviousVerbForm 0"),
    *("Tag 0,Num 0", "Tag 0,Cap 0", "Tag 0,Dash 0"),
    *(f"Tag 0,Prefix{length} 0" for length in range(1, 5)),
    *(f"Tag 0,Suffix{length} 0" for length in range(1, 7)),
    *(f"TagUPos 0,Suffix{length} 0" for length in range(1, 5)),
)
_LEMMATIZER = (
    *("Tag 0", "Tag 0,Tag -1", "Tag 0,Form 0", "Tag 0,Form -1", "Tag 0,Form 1"),
    *("Lemma 0", "Lemma 0,Tag -1", "Lemma 0,Form -1", "Lemma 0,Form 1"),
    *("Tag 0,Num 0", "Tag 0,Cap 0", "Tag 0,Dash 0"),
    *(f"Tag 0,Prefix{length} 0" for length in range(1, 4)),
    *(f"Tag 0,Suffix{length} 0" for length in range(1, 5)),
)
#: How often the tokenizer, the tagger, the lemmatizer and the parser see the treebank.
_EPOCHS, _TAGGINGS, _LEMMATIZINGS, _PARSINGS = 10, 5, 2, 8


def templates(features: Iterable[str]) -> str:
    """Return the feature templates in the syntax of UDPipe."""
    return "".join(f"{feature}\n" for feature in features)


#: Options of UDPipe, as its manual describes them.
TOKENIZER = f"dimension=16;epochs={_EPOCHS}"
TAGGER = (
    f"models=2;order=2;use_feats=0;provide_feats=0;iterations_1={_TAGGINGS};iterations_2={_LEMMATIZINGS};"
    f"templates_1={templates(TAGGER_FEATURES)};templates_2={templates(_LEMMATIZER)}"
)
PARSER = (
    f"transition_system=projective;transition_oracle=dynamic;structured_interval=0;iterations={_PARSINGS};"
    "hidden_layer=64;embedding_form=32;embedding_upostag=12;embedding_xpostag=12;embedding_feats=0;"
    "embedding_deprel=12"
)
#: The option of UDPipe for a part that is not trained.
_NO_PART = "none"
#: Patterns of the lines that UDPipe prints for each round, by part; those of the parser have a number.
_ROUNDS = (
    ("tokenizer", re.compile(r"Epoch \d+,"), _EPOCHS),
    ("tagger", re.compile(r"Iteration \d+: done"), _TAGGINGS + _LEMMATIZINGS),
    ("parser", re.compile(r"Iteration \d+: training logprob"), _PARSINGS),
)
#: Patterns of the scores in UDPipe's lines on words and tags, by our names of the scores.
_SCORES = {
    "words": r"Tokenizer words.*?f1: ([\d.]+)%",
    "sentences": r"Tokenizer sentences.*?f1: ([\d.]+)%",
    "upos": r"Tagging from plain text.*?upostag: ([\d.]+)%",
    "xpos": r"Tagging from plain text.*?xpostag: ([\d.]+)%",
    "lemmas": r"Tagging from plain text.*?lemmas: ([\d.]+)%",
    "UAS": r"Parsing from plain text with computed.*?UAS: ([\d.]+)%",
    "LAS": r"Parsing from plain text with computed.*?LAS: ([\d.]+)%",
}
_SENTENCES = """\
select
  s.id,
  bool_or(t.upos_id is null) as without_tags,
  bool_or(t.head is null) as without_tree
from sentence s
join token t on t.sentence_id = s.id
{conditions}
group by s.id
order by s.id"""
#: Called with the part that is trained, the number of its finished rounds, and of all its rounds.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainParser:
    """A parser to train."""

    name: Annotated[str, Option("Name of the parser.", argument=True, metavar="NAME")]
    corpus: Annotated[
        list[str],
        Option("Treebank to learn from: a corpus or subcorpus.", short="-c", metavar="CORPUS", given=True),
    ]
    held_out: Annotated[
        list[str], Option("Treebank to score with, instead of each tenth sentence.", metavar="CORPUS")
    ] = field(default_factory=list)
    only: Annotated[
        Literal["tags"] | None, Option("Learn tags and lemmas, and no trees: half of the time.", closed=True)
    ] = None

    def train(self, store: Store, progress: Progress | None = None) -> _TrainedParser:
        """Train a tokenizer, tagger, lemmatizer and parser; the same sentences give the same model.

        A parser of the same name is replaced when the new one is whole.

        Raises:
            InputError: UDPipe is not installed, the name cannot be one, or a sentence has no tags or trees.
            NotFoundError: there is no such corpus.
            ModelError: UDPipe cannot learn from these sentences.
        """
        path = parser_path(self.name)
        with needs("udpipe", "UDPipe"):
            import ufal.udpipe  # noqa: F401
        with store.connect() as connection:
            treebank = self._sentences(connection, self.corpus)
            held_out = self._sentences(connection, self.held_out) if self.held_out else treebank[9::10]
        learnt = treebank if self.held_out else [each for i, each in enumerate(treebank, 1) if i % 10]
        if not held_out:
            raise InputError(
                f"{quantity(len(treebank), 'sentence')}; a parser needs ten to learn from, or more"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        # Opened before the training, so that a folder that cannot be written does not cost minutes.
        with whole_file(path) as sink:
            sink.write(_train("".join(learnt), _NO_PART if self.only else PARSER, progress))
        return _TrainedParser(self.name, path, len(learnt), self._score(path, "".join(held_out)))

    def _sentences(self, connection: Connection, corpora: Sequence[str]) -> list[str]:
        bindings = Bindings()
        conditions = Selection.named(connection, corpora).of_sentences(bindings, "s")
        rows = Statement(_SENTENCES.format(conditions=where(conditions)), bindings).run(connection)
        missing = rows["without_tags" if self.only else "without_tree"].to_pylist()
        if any(missing):
            what = "tags (upos)" if self.only else "a tree"
            raise InputError(
                f"{quantity(sum(missing), 'sentence')} of {', '.join(corpora)} without {what}; a"
                " parser learns from a treebank"
            )
        return list(sentences_conllu(connection, rows["id"].to_pylist()))

    def _score(self, model: Path, treebank: str) -> dict[str, float]:
        """Return the scores of a model on a treebank, in percent, as UDPipe measures them."""
        from ufal import udpipe

        default = udpipe.Evaluator.DEFAULT
        parser = udpipe.Evaluator.NONE if self.only else default
        loaded = udpipe.Model.load(str(model))  # kept in a variable, since UDPipe keeps no reference
        evaluator = udpipe.Evaluator(loaded, default, default, parser)
        error = udpipe.ProcessingError()
        text = evaluator.evaluate(treebank, error)
        if error.occurred():
            raise ModelError(f"{model}: UDPipe cannot score it: {' '.join(error.message.split())}")
        matches = {name: re.search(pattern, text) for name, pattern in _SCORES.items()}
        return {name: float(match[1]) for name, match in matches.items() if match}


@dataclass(frozen=True, slots=True)
class _TrainedParser:
    """A parser that was trained under a name.

    Attributes:
        name: what ``--parser`` takes.
        path: the file of its model.
        sentences: number of sentences that the parser was trained on.
        scores: share of the sentences held out that the parser gets right, as plain text, in percent (F1 of
            the CoNLL shared task 2017): words, sentences, tags (``upos``, ``xpos``), lemmas, heads (``UAS``),
            and heads with their relations (``LAS``).
    """

    name: str
    path: Path
    sentences: int
    scores: dict[str, float]

    def rows(self) -> Rows:
        """Return the scores as a table."""
        return Rows(("part", "score"), list(self.scores.items()))


def _train(treebank: str, parser: str, progress: Progress | None) -> bytes:
    # Files, not pipes, which would fill and block UDPipe while standard error is read.
    with TemporaryFile() as text, TemporaryFile() as model:
        text.write(treebank.encode())
        text.seek(0)
        command = [sys.executable, "-m", "sentgen.corpus.udpipe_trainer", TOKENIZER, TAGGER, parser]
        with subprocess.Popen(
            command, stdin=text, stdout=model, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
        ) as process:
            try:
                reason = _follow(process.stderr or (), progress or (lambda *_: None))
            # After Ctrl-C, too: else UDPipe would go on training for minutes.
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise ModelError(reason or "training ended without a model; is memory short?")
        model.seek(0)
        return model.read()


def _follow(lines: Iterable[str], progress: Progress) -> str:
    """Report the rounds that UDPipe prints; return its error message, if there is one."""
    done = dict.fromkeys((part for part, _, _ in _ROUNDS), 0)
    reason = ""
    for line in lines:
        for part, pattern, rounds in _ROUNDS:
            if pattern.match(line):
                done[part] += 1
                progress(part, done[part], rounds)
        if line.startswith(FAILED):
            reason = line.removeprefix(FAILED).strip()
    return reason
