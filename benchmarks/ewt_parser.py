"""A small UDPipe parser, trained on EWT, train, once: benchmarks that want trees of other texts share it.

Five iterations of the tagger, with bigrams of tags, as UDPipe's own features take minutes for one of them, and
eight of a parser of 64 hidden units: 8 CPU minutes. It gives no morphological features.
"""

from __future__ import annotations

import sys

from harness import OUT, data

from sentgen.corpus.parsers import Parser, open_parser

_FEATURES = (
    *("Tag 0", "Tag 0,Tag -1", "Tag 0,TagUPos -1", "TagUPos 0", "TagUPos 0,TagUPos -1"),
    *("Tag 0,Form 0", "Tag 0,Form 0,Form -1", "Tag 0,Form -1", "Tag 0,Form -2"),
    *("Tag 0,Form 1", "Tag 0,Form 1,Form 2", "Tag 0,PreviousVerbTag 0", "Tag 0,PreviousVerbForm 0"),
    *("Tag 0,Num 0", "Tag 0,Cap 0", "Tag 0,Dash 0"),
    *(f"Tag 0,Prefix{length} 0" for length in range(1, 5)),
    *(f"Tag 0,Suffix{length} 0" for length in range(1, 7)),
    *(f"TagUPos 0,Suffix{length} 0" for length in range(1, 5)),
)
_TOKENIZER = "dimension=16;epochs=10"
_TAGGER = "models=1;order=2;use_feats=0;provide_feats=0;iterations=5;templates=" + "".join(
    f"{feature}\n" for feature in _FEATURES
)
_PARSER = (
    "transition_system=projective;transition_oracle=dynamic;structured_interval=0;iterations=8;hidden_layer=64;"
    "embedding_form=32;embedding_upostag=12;embedding_xpostag=12;embedding_feats=0;embedding_deprel=12"
)


def trained() -> Parser:
    """Return the parser, trained if it is not there yet."""
    model = OUT / "ewt.udpipe"
    if not model.exists():
        print("training a parser on EWT, ten minutes", file=sys.stderr)
        OUT.mkdir(parents=True, exist_ok=True)
        draft = model.with_suffix(".draft")
        draft.write_bytes(_train(data("ud/en_ewt-ud-train.conllu").read_text("utf-8")))
        draft.rename(model)
    return open_parser(f"udpipe:{model}")


def _train(treebank: str) -> bytes:
    from ufal import udpipe

    error, source = udpipe.ProcessingError(), udpipe.InputFormat.newConlluInputFormat()
    source.setText(treebank)
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while source.nextSentence(sentence, error):
        sentences.append(sentence)  # copies
    settings = _TOKENIZER, _TAGGER, _PARSER
    none_held_out = udpipe.Sentences()
    model = udpipe.Trainer.train("morphodita_parsito", sentences, none_held_out, *settings, error)
    if error.occurred():
        sys.exit(f"UDPipe does not learn from EWT: {error.message}")
    return bytes(model)
