"""A small UDPipe parser, trained on EWT, train, once: benchmarks that want trees of other texts share it.

Five iterations of the tagger, with bigrams of tags, as UDPipe's own features take minutes for one of them, and
eight of a parser of 64 hidden units: 8 CPU minutes. It gives no morphological features.
"""

from __future__ import annotations

import sys

from harness import OUT, data

from sentgen.corpus.parsers import Parser, open_parser
from sentgen.corpus.udpipe_trainer import train
from sentgen.models.parser_training import PARSER, TAGGER_FEATURES, TOKENIZER, templates

_TAGGER = f"models=1;order=2;use_feats=0;provide_feats=0;iterations=5;templates={templates(TAGGER_FEATURES)}"


def trained() -> Parser:
    """Return the parser, trained if it is not there yet."""
    model = OUT / "ewt.udpipe"
    if not model.exists():
        print("training a parser on EWT, ten minutes", file=sys.stderr)
        OUT.mkdir(parents=True, exist_ok=True)
        draft = model.with_suffix(".draft")
        treebank = data("ud/en_ewt-ud-train.conllu").read_text("utf-8")
        draft.write_bytes(train(treebank, TOKENIZER, _TAGGER, PARSER))
        draft.rename(model)
    return open_parser(f"udpipe:{model}")
