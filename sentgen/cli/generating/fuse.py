"""`sentgen fuse`: one new sentence from a key sentence and related ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from sentgen.cli.console.option_groups import asking
from sentgen.cli.console.options import DbOption, MemoryOption, ParserOption, open_for_lookups
from sentgen.cli.console.output import Output, output_options, printable
from sentgen.corpus.parsers import Parser, open_parser
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sentences import read_trees
from sentgen.errors import InputError
from sentgen.evaluation.clusters.clusters import read_clusters
from sentgen.generation import ALGORITHMS, Search
from sentgen.generation.clusters.fusion import (
    DEPVITERBI,
    INSERT,
    WEIGHT,
    WORDS,
    FusedSentence,
    FusionContent,
    fuse_by_insertion,
    fuse_by_search,
    fuse_with_model,
    select,
)
from sentgen.options import Option
from sentgen.output.logarithms import decimal
from sentgen.output.typography import closed_up

COLUMNS = ["rank", "sentence", "log10_score", "score", "added", "algorithm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How many words are added, and how all are put in order."""

    model: Annotated[
        str | None,
        Option("Language model to order words with.", short="-m", metavar="NAME[@VERSION]"),
    ] = None
    algorithm: Annotated[
        str | None,
        Option(
            f"{INSERT} or {DEPVITERBI}, or with --model one of: {', '.join(ALGORITHMS)}."
            f" Default: beam with a model, else {INSERT}.",
            short="-a",
            metavar="NAME",
        ),
    ] = None
    words: Annotated[int, Option("Words to add to the key sentence, at most.", metavar="N", least=1)] = WORDS
    weight: Annotated[float, Option(f"Weight of the dependencies, for {DEPVITERBI}.", least=0, most=1)] = (
        WEIGHT
    )
    nbest: Annotated[int, Option("Sentences to give, at most.", least=1)] = 1
    seed: Annotated[int, Option("Seed of the shuffle that breaks ties.", least=0)] = 1
    format: Annotated[str | None, Option("Format of the files; detected if not given.", short="-f")] = None

    def chosen(self) -> str:
        """Return the algorithm.

        Raises:
            InputError: it needs a model, or takes none.
        """
        chosen = self.algorithm or ("beam" if self.model else INSERT)
        if (self.model is None) != (chosen in (INSERT, DEPVITERBI)):
            needs = (
                "takes no --model" if self.model else "needs a model to order words with; give --model NAME"
            )
            raise InputError(f"{chosen} {needs}")
        return chosen


@output_options
@asking(Fusion)
def fuse(
    *,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY", help="Key sentence: its number or sent_id in FILE, a file with it, or its text."
        ),
    ],
    related: Annotated[str, typer.Option("--with", metavar="FILE", help="The related sentences.")],
    parser: ParserOption = None,
    asked: Fusion,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Make one new sentence of a key sentence and modifiers from related ones (Global Revision, 2007).

    Phrases of the related sentences that hang on a word of the key sentence are added to it, the most salient
    ones first, and all is put in order; where none fits, there is no sentence, and the exit code is 1.
    Nothing checks whether the result is true or grammatical: see `sentgen check`. All sentences need trees:
    CoNLL-U, or any text with --parser.

    Example: `sentgen fuse 1 --with cluster.conllu --model ewt --algorithm beam`
    """
    chosen = asked.chosen()
    trees = open_parser(parser) if parser else None
    sentence, others = _sentences(key, related, trees, asked.format)
    selection = select(sentence, others, words=asked.words)
    if chosen == INSERT:
        found = fuse_by_insertion(selection, nbest=asked.nbest)
    elif asked.model is None:
        found = fuse_by_search(selection, weight=asked.weight, nbest=asked.nbest)
    else:
        with open_for_lookups(db, memory_limit) as store:
            search = Search(algorithm=chosen, nbest=asked.nbest, seed=asked.seed)
            found = fuse_with_model(store, asked.model, selection, search)
    _show(found, selection, chosen, out)


def _show(found: Sequence[FusedSentence], selection: FusionContent, algorithm: str, out: Output) -> None:
    added = [phrase.text for phrase in selection.phrases]
    if not out.for_reading:
        out.rows(
            COLUMNS,
            [
                (rank, one.text, decimal(one.score), one.score, "; ".join(added), algorithm)
                for rank, one in enumerate(found, 1)
            ],
        )
    for one in found if out.for_reading else ():
        typer.echo(printable(closed_up(one.text)))
    if not added:
        out.note(
            "nothing to add: no phrase of the related sentences fits; try more --words, or other sentences"
        )
        raise typer.Exit(1)
    out.note(f"added: {'; '.join(map(closed_up, added))}")
    if not found:
        out.note("no new sentence was found; add more words with --words, or related sentences")
        raise typer.Exit(1)


def _sentences(
    key: str, path: str, parser: Parser | None, form: str | None
) -> tuple[Sentence, list[Sentence]]:
    """Return the key sentence and the related ones: the others of its document, or all of the file."""
    clusters = list(read_clusters(path, parser=parser, form=form))
    sentences = [(one, cluster) for cluster in clusters for one in cluster.sentences]
    place = next((i for i, (one, _) in enumerate(sentences) if one.sent_id == key), None)
    # A sent_id may be a number, and so may the name of a file: both go before the number of a sentence.
    if place is None and key.isdecimal() and len(key) <= 9 and not os.path.exists(key):
        place = int(key) - 1
        if not 0 <= place < len(sentences):
            raise InputError(f"no sentence {key}; there are {len(sentences):,}", path=path)
    if place is not None:
        found, cluster = sentences[place]
        return found, [one for one in cluster.sentences if one is not found]
    return _key(key, parser, form), [one for one, _ in sentences]


def _key(key: str, parser: Parser | None, form: str | None) -> Sentence:
    """Read the key sentence from a file, or parse it."""
    if os.path.exists(key):
        found = list(read_trees(key, parser=parser, form=form))
        if len(found) != 1:
            raise InputError(f"holds {len(found):,} sentences; a key is one", path=key)
        return found[0]
    if parser is None:
        raise InputError(f"{key!r} is no file, number or sent_id; give --parser if it is the sentence itself")
    parsed = [sentence for of_text in parser.parse([key]) for sentence in of_text]
    if not parsed:
        raise InputError("the key sentence has no words")
    if len(parsed) == 1:
        return parsed[0]
    # The parser saw several sentences in it; its words are parsed again as one.
    return next(parser.parse_tokenized([[form for sentence in parsed for form in sentence.forms]]))
