"""The sentences that are fused: found in a file of related ones, or given as they are.

It stands with the evaluation, whose clusters it reads; command line, Python and server share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from sentgen.corpus.parsers import Parser
from sentgen.corpus.readers import conllu
from sentgen.corpus.reading import read_trees
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, Rejection, spell
from sentgen.evaluation.clusters.clusters import Cluster
from sentgen.generation.fusion.answer import FusionRequest
from sentgen.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionTexts(FusionRequest):
    """A key sentence and related ones, with trees (CoNLL-U), or any text if the server has a parser."""

    ORDER: ClassVar = (
        *("key", "related", "model", "algorithm", "words", "weight", "nbest", "seed", "format"),
    )

    key: Annotated[
        int | str,
        Option(
            "Key sentence: its number or sent_id in `related`, its text, or itself as CoNLL-U.",
            argument=True,
            shell="Key sentence: its number or sent_id in FILE, a file with it, or its text.",
            metavar="KEY",
        ),
    ]
    related: Annotated[
        str,
        Option(
            "The related sentences; of a key that is one of them, the others of its document.",
            shell="The related sentences.",
            short="--with",
            metavar="FILE",
            file="related",
        ),
    ]

    def sentences(
        self, parser: Parser | None, *, file: str | None = None
    ) -> tuple[Sentence, Sequence[Sentence]]:
        """Read the key sentence and the related ones; ``related`` is the path of a file here.

        ``file`` is the file with the key sentence, if there is one.

        Raises:
            InputError: there is no such sentence, or one is broken, or has no tree and there is no parser.
        """
        clusters = list(Cluster.all_in(self.related, parser=parser, form=self.format))
        key = str(self.key)
        key_sentence = _named(clusters, key, lambda sentence, _: sentence.sent_id == key)
        # A sent_id may be a number, and so may the name of a file: both go before the number of a sentence.
        if key_sentence is None and file is not None:
            return _only(list(read_trees(file, parser=parser, form=self.format)), file), _all(clusters)
        if key_sentence is None and key.isdecimal() and len(key) <= 9:
            key_sentence = _named(clusters, key, lambda _, number: number == int(key))
            if key_sentence is None:
                raise InputError(f"no sentence {key}; there are {len(_all(clusters)):,}", path=self.related)
        return key_sentence or (_of_text(key, parser), _all(clusters))


def _named(
    clusters: Iterable[Cluster], key: str, is_it: Callable[[Sentence, int], bool]
) -> tuple[Sentence, list[Sentence]] | None:
    """Return the first sentence that is meant, and the others of its document."""
    number = 0
    for cluster in clusters:
        for sentence in cluster.sentences:
            number += 1
            if is_it(sentence, number):
                return sentence, [other for other in cluster.sentences if other is not sentence]
    return None


def _all(clusters: Iterable[Cluster]) -> list[Sentence]:
    return [sentence for cluster in clusters for sentence in cluster.sentences]


def _only(candidates: Sequence[Sentence], path: str) -> Sentence:
    if len(candidates) != 1:
        raise InputError(f"holds {len(candidates):,} sentences; a key is one", path=path)
    return candidates[0]


def _of_text(key: str, parser: Parser | None) -> Sentence:
    """Read the key from its CoNLL-U, or parse it."""
    if "\t" in key:
        read = list(conllu.read(f"{key.strip(chr(10))}\n\n".split("\n"), path="key"))
        for item in read:
            if isinstance(item, Rejection):
                raise item.as_error()
        return _only([item for item in read if isinstance(item, Sentence)], "key")
    if parser is None:
        raise InputError(
            f"{key!r} is no file, number or sent_id; give {spell('parser')} if it is the sentence itself"
        )
    parsed = [sentence for of_text in parser.parse([key]) for sentence in of_text]
    if not parsed:
        raise InputError("the key sentence has no words")
    if len(parsed) == 1:
        return parsed[0]
    # The parser saw several sentences in it; its words are parsed again as one.
    return next(parser.parse_tokenized([[form for sentence in parsed for form in sentence.forms]]))
