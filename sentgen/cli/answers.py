"""How `sentgen regenerate` shows its sentences: as a table, as trees, with reasons, and in files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from sentgen.cli.files import write_text
from sentgen.cli.output import Output, printable
from sentgen.generation.bag import Unit
from sentgen.generation.bag_reader import Bag, TagKind
from sentgen.generation.explain import (
    ExplainedAttachment,
    ExplainedWord,
    explain_sentence,
    explain_trees,
    natural,
)
from sentgen.generation.prepare import Treebank
from sentgen.generation.regenerate import Regenerated
from sentgen.generation.settings import SearchSettings
from sentgen.generation.tree_conllu import conllu_block
from sentgen.generation.tree_svg import Sentence, tree_svg
from sentgen.generation.tree_text import tree_text
from sentgen.generation.trees import is_forced
from sentgen.models.dependencies import LEFT, RIGHT
from sentgen.models.registry import ModelInfo
from sentgen.models.tagging import known_tags
from sentgen.schema import Store

COLUMNS = ["bag", "rank", "sentence", "logp", "score", "unknown"]
WORD_COLUMNS = ["word", "ngram", "logp", "backoff", "total"]
ATTACHMENT_COLUMNS = [
    *("modifier", "modifier_tag", "side", "head", "head_tag", "weight", "prob", "factor"),
    *("word_events", "word_pairs", "word_lambda", "mixed_events", "mixed_pairs", "mixed_lambda"),
    *("tag_events", "tag_pairs", "earlier", "argument_exactly", "argument_or_more", "argument_lambda"),
    *("argument_counts", "argument_tag_counts", "forced"),
]
#: The same for reading: events/pairs and lambda of a level in one column, and no counts of arguments.
SHORT_COLUMNS = ["modifier", "side", "head", "weight", "prob", "factor", "words", "mixed", "tags"]
_TAGGED = re.compile(r"[^/]+/[A-Z]{2,5}\$?$")
SIDES = {LEFT: "left", RIGHT: "right"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for beside the sentences."""

    tree: bool = False
    explain: bool = False
    conllu: Path | None = None
    svg: Path | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """Sentences, and how they were made."""

    store: Store
    model: ModelInfo
    sentences: Sequence[Regenerated]
    bags: Sequence[Bag]
    settings: SearchSettings
    treebank: Treebank | None
    tags: TagKind | None
    lowercase: bool
    nbest: int
    tagged: bool | None = None

    def name(self, one: Regenerated) -> str:
        """Return the name of its bag, or the number, with the rank if there are several sentences a bag."""
        name = self.bags[one.item - 1].name or str(one.item)
        return f"{name}-{one.rank}" if self.nbest > 1 else name


def write_files(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Write the trees to the files that were asked for; empty sentences have none."""
    trees = [(answers.name(one), one.units, one.tree) for one in answers.sentences if one.tree and one.units]
    if wanted.conllu is not None:
        blocks = (
            conllu_block(units, tree.heads, tags=answers.tags, sent_id=name) for name, units, tree in trees
        )
        write_text(wanted.conllu, "".join(blocks))
    if wanted.svg is not None:
        write_text(wanted.svg, tree_svg([Sentence(*tree) for tree in trees]))
    for path in (wanted.conllu, wanted.svg):
        if path is not None:
            out.note(f"{path}: {len(trees)} trees")


def show(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Print the sentences, their trees or the reasons for them, and say what needs to be known of them."""
    if wanted.explain and not out.for_reading:
        columns, tables = _reasons(answers, full=True)
        rows = (
            (one.item, one.rank, *row)
            for one, table in zip(answers.sentences, tables, strict=True)
            for row in table
        )
        out.rows(["bag", "rank", *columns], rows)
    elif out.for_reading and (wanted.tree or wanted.explain):
        _read(answers, wanted, out)
    else:
        _table(answers, wanted, out)
    _notes(answers, out)


def _table(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Print a row a sentence."""
    columns = [
        *COLUMNS,
        *(["guessed"] if answers.treebank else []),
        *(["units", "heads"] if wanted.tree else []),
    ]
    rows = []
    for one in answers.sentences:
        row: list[object] = [one.item, one.rank, one.text, one.logp, one.score, one.unknown]
        if answers.treebank:
            row.append(one.guessed)
        if wanted.tree:
            heads = one.tree.heads if one.tree else ()
            row += [[" ".join(unit.words) for unit in one.units], [head + 1 for head in heads]]
        rows.append(row)
    out.rows(columns, rows)


def _read(answers: Answers, wanted: Wanted, out: Output) -> None:
    """Print each sentence with its tree and its reasons below it."""
    columns, tables = _reasons(answers, full=False) if wanted.explain else ([], [])
    for number, one in enumerate(answers.sentences):
        rank = f", rank {one.rank}" if answers.nbest > 1 else ""
        typer.echo(printable(f"bag {one.item}{rank}: {one.text}".rstrip()))
        typer.echo(f"logp {one.logp:.2f}, score {one.score:.2f}")
        if wanted.tree and one.tree:
            typer.echo()
            for line in tree_text(one.units, one.tree.heads):
                typer.echo(printable(line))
        if wanted.explain:
            typer.echo()
            out.rows(columns, tables[number])
        typer.echo()


def _reasons(answers: Answers, *, full: bool) -> tuple[list[str], list[list[Sequence[object]]]]:
    """Return the columns of the tables of reasons, and a table a sentence."""
    if answers.treebank:
        found = explain_trees(answers.store, answers.treebank, answers.sentences, lowercase=answers.lowercase)
        columns, row_of = (ATTACHMENT_COLUMNS, _attachment) if full else (SHORT_COLUMNS, _short)
        return columns, [
            [row_of(one.units[edge.place], edge) for edge in edges]
            for one, edges in zip(answers.sentences, found, strict=True)
        ]
    order = min(answers.settings.order, answers.model.order)
    words = (
        explain_sentence(answers.store, answers.model, one, order=order, lowercase=answers.lowercase)
        for one in answers.sentences
    )
    return WORD_COLUMNS, [[row for word in found for row in _word(word)] for found in words]


def _word(explained: ExplainedWord) -> Iterator[Sequence[object]]:
    """Yield a row for each n-gram that was tried: its log-probability, or the weight of backing off."""
    for step in explained.steps:
        yield (
            explained.word,
            " ".join(step.ngram),
            None if step.log10 is None else natural(step.log10),
            None if step.backoff is None else natural(step.backoff),
            natural(step.total),
        )


def _attachment(unit: Unit, explained: ExplainedAttachment) -> Sequence[object]:
    """Return all that is known of an attachment."""
    evidence = explained.evidence
    words, mixed, tags = evidence.levels
    head, _, side, earlier = evidence.attachment
    arguments = evidence.arguments
    return (
        *(" ".join(unit.words), unit.head_tag, SIDES[side], *head),
        *(explained.weight, evidence.prob, explained.factor),
        *(words.events, words.together, words.weight, mixed.events, mixed.together, mixed.weight),
        *(tags.events, tags.together, earlier, arguments.exactly, arguments.at_least, arguments.weight),
        *(list(arguments.word), list(arguments.tag), explained.forced),
    )


def _short(unit: Unit, explained: ExplainedAttachment) -> Sequence[object]:
    """Return what fits in a line."""
    evidence = explained.evidence
    words, mixed, tags = (f"{level.events}/{level.together}" for level in evidence.levels)
    first, second, _ = (f"{level.weight:.3f}" for level in evidence.levels)
    head, _, side, _ = evidence.attachment
    return (
        *(" ".join(unit.words), SIDES[side], head[0], explained.weight, evidence.prob, explained.factor),
        *(f"{words} {first}", f"{mixed} {second}", tags),
    )


def _notes(answers: Answers, out: Output) -> None:
    """Say what a user might not expect."""
    empty = sum(not bag.units for bag in answers.bags)
    if empty:
        out.note(f"{empty} of {len(answers.bags)} bags have no words, and their sentences none either")
    first = [one for one in answers.sentences if one.rank == 1]
    guessed = sum(one.guessed for one in first)
    if guessed:
        out.note(
            f"{guessed} of {sum(len(one.words) for one in first)} words came without tags, and got their most"
            " frequent ones; give tags as word/TAG"
        )
    forced = sum(is_forced(weight) for one in first if one.tree for weight in one.tree.weights)
    if forced:
        out.note(
            f"hard constraints broken, as nothing else was left: {forced};"
            " --any-root, --noun-under-noun and --many-roots lift them"
        )
    _note_tags(answers, out)


def _note_tags(answers: Answers, out: Output) -> None:
    """Name the tags that mean nothing to the counts, and words that look like word/TAG but were not split."""
    words = (word for bag in answers.bags for unit in bag.units for word in unit.words)
    mixed = next(filter(_TAGGED.match, words), None)
    if mixed is not None and answers.tagged is None:
        out.note(
            f"{mixed} is one word, as not every word has a tag; --tagged and --no-tagged say what is meant"
        )
    if answers.treebank:
        known = known_tags(answers.store, answers.treebank.corpora, answers.treebank.layer)
        given = {unit.head_tag for bag in answers.bags for unit in bag.units if unit.head_tag}
        if given - known:
            some = sorted(tag for tag in known if tag.isalpha())[:5]
            out.note(
                f"tags that the dependency counts have never seen: {', '.join(sorted(given - known))};"
                f" they use {answers.tags} tags, such as {', '.join(some)}"
            )
