"""UDPipe models that are trained in seconds: what they learn does not matter."""

from __future__ import annotations

from pathlib import Path

from sentgen.corpus import udpipe_trainer
from sentgen.demo import TREEBANK

#: Short segments for the tokenizer, bigrams of tags, a small network.
TOKENIZER = "dimension=16;epochs=3;segment_size=10;batch_size=10;learning_rate=0.01"
TAGGER = (
    "models=1;iterations=2;order=2;guesser_suffix_rules=3;guesser_enrich_dictionary=2;"
    "templates=Tag 0\nTag 0,Form 0\n"
)
PARSER = "iterations=3;hidden_layer=20;structured_interval=0"


def train(
    path: Path,
    treebank: str | None = None,
    *,
    tokenizer: str = TOKENIZER,
    tagger: str = TAGGER,
    parser: str = PARSER,
) -> None:
    """Write a model of a treebank in CoNLL-U, that of the demo if none is given."""
    text = TREEBANK.read_text() if treebank is None else treebank
    path.write_bytes(udpipe_trainer.train(text, tokenizer, tagger, parser))
