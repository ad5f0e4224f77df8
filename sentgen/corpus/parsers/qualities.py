"""How long and how well a UDPipe parser is trained; docs/parsers.md says what each costs and gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quality:
    """Options of UDPipe's tokenizer, tagger and parser, as its manual describes them."""

    tokenizer: str
    tagger: str
    parser: str

    @property
    def tokenizer_rounds(self) -> int:
        """How often the tokenizer is shown the text."""
        return _number(self.tokenizer, "epochs")

    @property
    def tagger_rounds(self) -> int:
        """How often all models of the tagger together are shown the sentences."""
        models = range(1, _number(self.tagger, "models") + 1)
        every = _number(self.tagger, "iterations")
        return sum(_number(self.tagger, f"iterations_{model}", every) for model in models)

    @property
    def parser_rounds(self) -> int:
        """How often the parser is shown the trees."""
        return _number(self.parser, "iterations")


def _number(options: str, name: str, default: int = 1) -> int:
    found = re.search(rf"(?:^|;){name}=(\d+)", options)
    return int(found[1]) if found else default


#: Features of the tagger over bigrams of tags: those of UDPipe that do without the tag before the last one.
_TAGGER = (
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


def _templates(features: Iterable[str]) -> str:
    return "".join(f"{feature}\n" for feature in features)


#: Bigrams of tags: UDPipe's default, trigrams with features, takes minutes for one round of EWT.
_BIGRAMS = f"templates_1={_templates(_TAGGER)};templates_2={_templates(_LEMMATIZER)}"

#: What each costs and gives is measured in docs/parsers.md.
QUALITIES = {
    "fast": Quality(
        tokenizer="dimension=16;epochs=10",
        tagger=f"models=2;order=2;use_feats=0;provide_feats=0;iterations_1=5;iterations_2=2;{_BIGRAMS}",
        parser="transition_system=projective;transition_oracle=dynamic;structured_interval=0;iterations=4;"
        "hidden_layer=64;embedding_form=32;embedding_upostag=12;embedding_xpostag=12;embedding_feats=0;"
        "embedding_deprel=12",
    ),
    "full": Quality(
        tokenizer="dimension=24;epochs=20",
        tagger=f"models=2;order=2;use_feats=0;provide_feats=0;iterations_1=10;iterations_2=4;{_BIGRAMS}",
        parser="transition_system=projective;transition_oracle=dynamic;structured_interval=0;iterations=10;"
        "hidden_layer=200;embedding_xpostag=20;embedding_feats=0",
    ),
}
