"""`sentgen fuse`: one new sentence from a key sentence and related ones."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, get_args

import typer

from sentgen.cli.console.option_groups import asking
from sentgen.cli.console.options import DbOption, MemoryOption, ParserOption, open_for_lookups
from sentgen.cli.console.output import Output, output_options, printable
from sentgen.corpus.parsers import Parser, open_parser
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sentences import read_trees
from sentgen.errors import InputError
from sentgen.evaluation.clusters.clusters import read_clusters
from sentgen.generation.fusion.answer import ChangeKind, FusionAnswer, FusionChange
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.generation.fusion.request import FusionRequest
from sentgen.output.logarithms import decimal
from sentgen.output.typography import closed_up

COLUMNS = ["rank", "sentence", "log10_score", "score", *get_args(ChangeKind), "algorithm"]


@output_options
@asking(FusionRequest)
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
    asked: FusionRequest,
    db: DbOption = None,
    memory_limit: MemoryOption = None,
    out: Output,
) -> None:
    """Make one new sentence of a key sentence and units of related ones (Global Revision, 2007).

    Phrases of the related sentences are added to words of the key sentence that they share, or replace what
    names the same thing less precisely, and a clause about something else is conjoined; where nothing fits,
    there is no sentence, and the exit code is 1. Nothing checks whether the result is true: `sentgen check`
    does. All sentences need trees: CoNLL-U, or any text with --parser.

    Example: `sentgen fuse 1 --with cluster.conllu`
    """
    asked.check()
    trees = open_parser(parser) if parser else None
    sentence, others = _sentences(key, related, trees, asked.format)
    if asked.model is None:
        answer = fused_sentences(sentence, others, asked)
    else:
        with open_for_lookups(db, memory_limit) as store:
            answer = fused_sentences(sentence, others, asked, store)
    _show(answer, out)


def _told(changes: Iterable[FusionChange]) -> dict[str, list[str]]:
    """Return what was done by kind, in words."""
    told: dict[str, list[str]] = {kind: [] for kind in get_args(ChangeKind)}
    for change in changes:
        text = f"{change.marker} {change.text}".lstrip(" ,")
        told[change.kind].append(f"{text} (for {change.beside})" if change.kind == "replaced" else text)
    return told


def _show(answer: FusionAnswer, out: Output) -> None:
    if not out.for_reading:
        out.rows(
            COLUMNS,
            [
                (
                    rank,
                    one.text,
                    decimal(one.score),
                    one.score,
                    *("; ".join(of_kind) for of_kind in _told(one.changes).values()),
                    answer.algorithm,
                )
                for rank, one in enumerate(answer.sentences, 1)
            ],
        )
    for one in answer.sentences if out.for_reading else ():
        typer.echo(printable(closed_up(one.text)))
    if not answer.changes:
        out.note(
            "nothing to add: no phrase of the related sentences fits; try more --words, or other sentences"
        )
        raise typer.Exit(1)
    for kind, texts in _told(answer.changes).items():
        if texts:
            out.note(f"{kind}: {'; '.join(map(closed_up, texts))}")
    if not answer.sentences:
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
