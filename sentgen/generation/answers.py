"""Requests to the generators and their answers, for the command line and the server alike.

Explanations are the counts in the store behind each attachment or word; they are for people, and slow. The
searches take the same figures from the prefetched sub-model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from sentgen.case_folding import fold
from sentgen.corpus.parsers import Parser
from sentgen.errors import InputError, spell
from sentgen.generation.algorithms import ALGORITHMS
from sentgen.generation.bags.bag import KnownTags, Unit, places_of
from sentgen.generation.bags.bag_reader import Bag, Notation, TagKind
from sentgen.generation.bags.problem import ROOT, Algorithm, SearchStep, Tree
from sentgen.generation.drawing import SentenceDrawing, conllu_block, tree_svg
from sentgen.generation.plan import SHARED, Search, SearchPlan
from sentgen.generation.prepare import Bags, parsed_heads, prepare, spelling, with_known_tags
from sentgen.generation.regenerate import RegeneratedSentence, order_bags
from sentgen.generation.trees.factors import FACTORS, Decision, FactorSettings, decisions
from sentgen.generation.trees.trees import FORBIDDEN, ZERO, is_forced
from sentgen.models.dependency.dependencies import (
    LEFT,
    RIGHT,
    ROOT_UNIT,
    Attachment,
    AttachmentEvidence,
    explain_attachments,
)
from sentgen.models.dependency.tagging import have_function_heads
from sentgen.models.lookup import BackoffStep
from sentgen.models.lookup import explain as explain_word
from sentgen.models.request import ModelOption
from sentgen.models.submodel import prefetch
from sentgen.options import Option
from sentgen.output.display import decimal, natural
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_WORDS
from sentgen.schema.tables.corpus import ROOT as ROOT_WORD

COLUMNS = ["bag", "rank", "sentence", "log10", "logp", "log10_score", "score", "unknown"]
_WORD_COLUMNS = [
    *("word", "ngram", "log10", "logp", "log10_backoff", "backoff", "log10_total", "total"),
]
_ATTACHMENT_COLUMNS = [
    *("modifier", "modifier_tag", "side", "head", "head_tag", "log10_weight", "weight", "prob", "factor"),
    *("word_events", "word_pairs", "word_lambda", "mixed_events", "mixed_pairs", "mixed_lambda"),
    *("tag_events", "tag_pairs", "earlier", "argument_exactly", "argument_or_more", "argument_lambda"),
    *("argument_counts", "argument_tag_counts", "forced"),
]
#: Prefix of the columns with parts of scores.
PART = "part_"
#: The same for reading: events/pairs and lambda of a level in one column, and no counts of arguments.
_SHORT_COLUMNS = ["modifier", "side", "head", "log10_weight", "prob", "factor", "words", "mixed", "tags"]
#: What is added where several factors decide, and what is shown of that for reading: gains of log10.
_DECISION_COLUMNS = ["rival", "log10_margin", "margin", "decided_by", *(f"gain_{name}" for name in FACTORS)]
#: The steps of a search for reading; programs have them as objects, in a column of the table of reasons.
STEP_COLUMNS = [
    *("step", "event", "modifier", "side", "head", "prob", "log10_weight", "rival", "log10_rival"),
]
_SHORT_DECISION_COLUMNS = ["modifier", "side", "head", "rival", "decided_by", "log10_margin", *FACTORS]
#: The panel of the help about trees and reasons.
FILES_PANEL = "Trees and reasons"
_SIDES = {LEFT: "left", RIGHT: "right"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingRequest(Search):
    """Bags of words and [base noun phrases]; their order does not matter."""

    ORDER: ClassVar = (
        *("bag", "model", "algorithm", "units", "np_joiner", "tagged", "lowercase", "seed", "nbest"),
        *("tree", "explain", "parts", *SHARED),
    )

    bag: Annotated[
        list[str],
        Option(
            "Words and [base noun phrases], a sentence each.",
            argument=True,
            shell="Words and [base noun phrases], or - for standard input.",
            metavar="BAG|-",
            api={"min_length": 1},
        ),
    ]
    model: ModelOption
    np_joiner: Annotated[
        str,
        Option(
            "What joins the words of a phrase, as in the_dow.",
            shell="What joins the words of a phrase, such as _ in the_dow.",
            api={"max_length": 20},
        ),
    ] = ""
    tagged: Annotated[bool | None, Option("Words are word/TAG. Default: if all have a known tag.")] = None
    tree: Annotated[
        bool,
        Option(
            "Give the dependency trees, also as SVG and CoNLL-U.",
            shell="Show the dependency trees.",
            panel=FILES_PANEL,
        ),
    ] = False
    explain: Annotated[
        bool,
        Option(
            "Give what is behind each attachment, or word, instead.",
            shell="Show what the store holds behind each attachment, or each word where there is no tree.",
            panel=FILES_PANEL,
        ),
    ] = False
    parts: Annotated[
        bool,
        Option(
            "Give what each model, factor of trees and scorer says of a sentence, too.",
            shell="Show what each model, factor of trees and scorer says of a sentence, too.",
            panel=FILES_PANEL,
        ),
    ] = False

    def answer(
        self,
        store: Store,
        read: Callable[[Notation], Sequence[Bag]],
        *,
        parser: Parser | None = None,
        files: Mapping[str, object] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Answers:
        """Order the units of bags.

        Args:
            read: returns the bags, given their notation, with the kind of tags of a treebank.
            parser: finds the heads of phrases without a given head.
            files: other options that need trees, by name.
            progress: called with the number of bags that are done, and of all bags.

        Raises:
            InputError: a setting is invalid, or a bag cannot be read.
            NotFoundError: there is no such model or corpus.
            ModelError: the algorithm needs trees, and there are none.
        """
        # Before the bags are read: a wrong setting is refused at once, and the treebank determines the tags.
        if self.parts and self.explain:
            raise InputError(f"{spell('parts')} and {spell('explain')} are two tables; choose one of them")
        plan = replace(self.plan(store, self.model), parts=self.parts)
        options = {spell("tree"): self.tree, **(files or {}), spell("dependencies"): self.dependencies}
        require_trees(plan.algorithm, options | {spell("parser"): parser})
        tags = plan.tags(store)
        corpora = plan.treebank.corpora if plan.treebank else None
        promoted = have_function_heads(store, corpora or ())
        known = KnownTags(store, plan.model, corpora)
        bags = read(Notation(self.np_joiner, self.tagged, tags, known, promoted))
        if parser is not None:
            bags = parsed_heads(bags, parser, promoted=promoted)
        retagged = ""
        units: Bags = [bag.units for bag in bags]
        if plan.treebank and tags:
            others = [bag.others or bag.units for bag in bags]
            units, retagged = with_known_tags(store, plan.treebank.corpora, tags, units, others)
        sentences = []
        for sentence in order_bags(store, plan, units):
            sentences.append(sentence)
            if progress is not None:
                progress(sentence.item, len(bags))
        return Answers(store, self, plan, sentences, bags, tags, retagged)


@dataclass(frozen=True, slots=True)
class Answers:
    """Sentences, and the plan by which they were made.

    ``tags`` is the kind of tags of the dependency counts; ``retagged`` is a note about replaced tags.
    """

    store: Store
    request: OrderingRequest
    plan: SearchPlan
    sentences: Sequence[RegeneratedSentence]
    bags: Sequence[Bag]
    tags: TagKind | None
    retagged: str = ""

    def name(self, sentence: RegeneratedSentence) -> str:
        """Return the name or number of a sentence's bag, with the rank if bags have several sentences."""
        name = self.bags[sentence.item - 1].name or str(sentence.item)
        return f"{name}-{sentence.rank}" if self.plan.nbest > 1 else name

    @property
    def part_names(self) -> list[str]:
        """Return the names of the parts of scores, if asked for."""
        return list(dict.fromkeys(name for sentence in self.sentences for name in sentence.parts))

    @property
    def trees(self) -> list[SentenceDrawing]:
        """Return the sentences with their trees; empty ones have none."""
        return [
            SentenceDrawing(self.name(sentence), sentence.units, sentence.tree)
            for sentence in self.sentences
            if sentence.tree and sentence.units
        ]

    def conllu(self) -> str:
        """Return the trees as CoNLL-U."""
        blocks = (
            conllu_block(tree.units, tree.tree.heads, tags=self.tags, sent_id=tree.title)
            for tree in self.trees
        )
        return "".join(blocks)

    def svg(self) -> str:
        """Return a drawing of the trees."""
        return tree_svg(self.trees)

    def table(self) -> Rows:
        """Return a row a sentence, or the table of reasons if asked for."""
        return self.reason_table() if self.request.explain else _sentence_table(self)

    def reason_table(self) -> Rows:
        """Return the counts in the store behind each attachment of all sentences, or behind each word."""
        columns, tables = self.reasons(full=True)
        rows = [
            (sentence.item, sentence.rank, *row)
            for sentence, table in zip(self.sentences, tables, strict=True)
            for row in table
        ]
        return Rows(["bag", "rank", *columns], rows)

    def reasons(self, *, full: bool) -> tuple[list[str], list[list[Sequence[object]]]]:
        """Return the columns of tables of reasons, and a table a sentence; short ones unless ``full``."""
        if self.plan.treebank:
            explained = explain_trees(self.store, self.plan, self.sentences)
            columns, row_of = (_ATTACHMENT_COLUMNS, _attachment) if full else (_SHORT_COLUMNS, _short)
            if FactorSettings in self.plan.algorithm.groups:
                columns = [*columns, *_DECISION_COLUMNS] if full else _SHORT_DECISION_COLUMNS
            tables: list[list[Sequence[object]]] = [
                [
                    _decided(sentence.units, edge, edge.decision, full=full)
                    if edge.decision
                    else row_of(sentence.units[edge.place], edge)
                    for edge in edges
                ]
                for sentence, edges in zip(self.sentences, explained, strict=True)
            ]
            if full and self.plan.algorithm.steps:
                return [*columns, "steps"], _with_steps(self, tables)
            return columns, tables
        words = (explain_sentence(self.store, self.plan, sentence) for sentence in self.sentences)
        return _WORD_COLUMNS, [[row for word in sentence for row in _word(word)] for sentence in words]

    def step_tables(self) -> list[list[Sequence[object]]]:
        """Return the steps of the search for the tree of each sentence, for reading; none if not known."""
        tables: list[list[Sequence[object]]] = []
        for sentence, steps in zip(self.sentences, _explain_steps(self), strict=True):
            rows = [_step_row(sentence.units, step) for step in steps]
            tables.append([[row[name] for name in STEP_COLUMNS] for row in rows])
        return tables


def require_trees(algorithm: Algorithm, options: Mapping[str, object]) -> None:
    """Refuse options that need trees if an algorithm makes none.

    Raises:
        InputError: with the first option that means nothing.
    """
    option = next((name for name, given in options.items() if given), None)
    if option is not None and not algorithm.trees:
        having = ", ".join(algorithm.name for algorithm in ALGORITHMS.values() if algorithm.trees)
        raise InputError(f"{algorithm.name} makes no trees, so {option} means nothing; these do: {having}")


def _sentence_table(answers: Answers) -> Rows:
    tree, parts = answers.request.tree, answers.part_names
    columns = [
        *COLUMNS,
        *(["guessed"] if answers.plan.treebank else []),
        *(["units", "heads"] if tree else []),
        *(column for name in parts for column in (f"log10_{PART}{name}", f"{PART}{name}")),
    ]
    rows = []
    for sentence in answers.sentences:
        logs = (decimal(sentence.logp), sentence.logp, decimal(sentence.score), sentence.score)
        row: list[object] = [sentence.item, sentence.rank, sentence.text, *logs, sentence.unknown]
        if answers.plan.treebank:
            row.append(sentence.guessed)
        if tree:
            heads = sentence.tree.heads if sentence.tree else ()
            row += [[" ".join(unit.words) for unit in sentence.units], [head + 1 for head in heads]]
        # An empty sentence has no tree, and is not given to scorers.
        values = (sentence.parts.get(name, 0.0) for name in parts)
        rows.append([*row, *(log for part in values for log in (decimal(part), part))])
    return Rows(columns, rows)


def _with_steps(
    answers: Answers, tables: Sequence[Sequence[Sequence[object]]]
) -> list[list[Sequence[object]]]:
    """Return the rows of each sentence with the search steps of their modifiers."""
    full: list[list[Sequence[object]]] = []
    for sentence, steps, rows in zip(answers.sentences, _explain_steps(answers), tables, strict=True):
        mine: list[list[object]] = [[] for _ in rows]
        for step in steps:
            row = _step_row(sentence.units, step)
            del row["modifier"]
            mine[step.modifier].append(row)
        full.append([[*row, of_unit] for row, of_unit in zip(rows, mine, strict=True)])
    return full


def _step_row(units: Sequence[Unit], step: SearchStep) -> dict[str, object]:
    """Return a step as a row; weights are without the penalty of constraints."""

    def word(position: int) -> str:
        return RESERVED_WORDS[ROOT_WORD] if position == ROOT else units[position].head

    weight, rival = step.weight, step.rival_weight
    if step.event == "forced" and is_forced(weight):
        weight -= FORBIDDEN
    allowed = [None if value is None or is_forced(value) else value for value in (weight, rival)]
    logs = [None if value is None else decimal(value) for value in allowed]
    return {
        "step": step.step,
        "event": step.event,
        "modifier": _written(units[step.modifier]),
        "side": _SIDES[step.side],
        "head": word(step.head),
        "earlier": step.earlier,
        "prob": math.exp(step.logp - FORBIDDEN * is_forced(step.logp)),
        "log10_weight": logs[0],
        "weight": allowed[0],
        "rival": None if step.rival is None else word(step.rival),
        "log10_rival": logs[1],
        "rival_weight": allowed[1],
    }


def _word(explained: _ExplainedWord) -> Iterator[Sequence[object]]:
    """Yield a row for each n-gram that was tried: its log-probability, or its back-off weight."""
    for step in explained.steps:
        logs = (*_both(step.log10), *_both(step.backoff), *_both(step.total))
        yield explained.word, " ".join(step.ngram), *logs


def _both(log10: float | None) -> tuple[float | None, float | None]:
    return log10, None if log10 is None else natural(log10)


def _written(unit: Unit) -> str:
    """Return the words of a unit, with a star at a head that is not the last one."""
    return " ".join(
        f"{word}*" if position - len(unit.words) == unit.from_end < -1 else word
        for position, word in enumerate(unit.words)
    )


def _attachment(unit: Unit, explained: _ExplainedAttachment) -> Sequence[object]:
    """Return the row of an attachment with all columns."""
    evidence = explained.evidence
    words, mixed, tags = evidence.levels
    head, _, side, earlier = evidence.attachment
    arguments = evidence.arguments
    return (
        *(_written(unit), unit.head_tag, _SIDES[side], *head),
        *(decimal(explained.weight), explained.weight, evidence.prob, explained.factor),
        *(words.events, words.together, words.weight, mixed.events, mixed.together, mixed.weight),
        *(tags.events, tags.together, earlier, arguments.exactly, arguments.at_least, arguments.weight),
        *(list(arguments.word), list(arguments.tag), explained.forced),
    )


def _short(unit: Unit, explained: _ExplainedAttachment) -> Sequence[object]:
    """Return the row of an attachment that fits in a line."""
    evidence = explained.evidence
    words, mixed, tags = (f"{level.events}/{level.together}" for level in evidence.levels)
    first, second, _ = (f"{level.weight:.3f}" for level in evidence.levels)
    head, _, side, _ = evidence.attachment
    return (
        *(_written(unit), _SIDES[side], head[0]),
        *(decimal(explained.weight), evidence.prob, explained.factor),
        *(f"{words} {first}", f"{mixed} {second}", tags),
    )


def _decided(
    units: Sequence[Unit], explained: _ExplainedAttachment, decision: Decision, *, full: bool
) -> Sequence[object]:
    """Return the columns that compare a head with the next best one; empty if there is no other."""
    gains = [decision.gains.get(name) for name in FACTORS]
    rival = None
    if decision.rival is not None:
        rival = RESERVED_WORDS[ROOT_WORD] if decision.rival == ROOT else units[decision.rival].head
    margin = decision.margin if decision.gains else None
    unit = units[explained.place]
    if full:
        log10 = margin and decimal(margin)
        return (*_attachment(unit, explained), rival, log10, margin, decision.decided_by, *gains)
    head, _, side, _ = explained.evidence.attachment
    return (
        *(_written(unit), _SIDES[side], head[0], rival, decision.decided_by),
        *(None if value is None else decimal(value) for value in (margin, *gains)),
    )


@dataclass(frozen=True, slots=True)
class _ExplainedAttachment:
    """One edge of a tree: the position of the modifier, its log weight when attached, and the evidence.

    An edge is ``forced`` if it violates a hard constraint; its weight is without the penalty. It has a
    ``decision`` if the algorithm weighs several factors.
    """

    place: int
    weight: float
    evidence: AttachmentEvidence
    forced: bool = False
    decision: Decision | None = None

    @property
    def factor(self) -> float | None:
        """Return the weight divided by the probability: the factor of the arguments, 1 if they are not used.

        None if the weight is a floor under a probability of zero, or a sum of several factors.
        """
        if self.decision is not None:
            return None
        return math.exp(self.weight) / self.evidence.prob if self.evidence.prob >= ZERO else None


@dataclass(frozen=True, slots=True)
class _ExplainedWord:
    """One word of a sentence, or its end, as it is looked up: how the model computes its probability.

    The brackets of phrases are words for a model that counts them.
    """

    word: str
    steps: tuple[BackoffStep, ...]


def explain_trees(
    store: Store, plan: SearchPlan, sentences: Sequence[RegeneratedSentence]
) -> list[list[_ExplainedAttachment]]:
    """Return the evidence for the attachments of some sentences, each in the order of its words.

    Args:
        plan: the plan by which the sentences were made, with an algorithm that makes trees.
    """
    treebank = plan.treebank
    wanted = [
        edge
        for sentence in sentences
        if sentence.tree
        for edge in _attachments(sentence.units, sentence.tree, plan.lowercase)
    ]
    evidence = iter(
        explain_attachments(store, treebank.corpora, treebank.layer, wanted) if treebank and wanted else []
    )
    decided = _decisions(store, plan, sentences)
    explained: list[list[_ExplainedAttachment]] = [[] for _ in sentences]
    for k, sentence in enumerate(sentences):
        for position, weight in enumerate(sentence.tree.weights if sentence.tree else ()):
            forced, decision = is_forced(weight), decided[k][position] if decided else None
            # The weight is shown without the penalty, and the edge as forced.
            shown = weight - FORBIDDEN if forced else weight
            explained[k].append(_ExplainedAttachment(position, shown, next(evidence), forced, decision))
    return explained


def _decisions(
    store: Store, plan: SearchPlan, sentences: Sequence[RegeneratedSentence]
) -> list[list[Decision]]:
    """Return the decisions about the attachments of each sentence, if the algorithm weighs factors."""
    if FactorSettings not in plan.algorithm.groups:
        return []
    decided = []
    for batch in prepare(store, plan, [sentence.units for sentence in sentences]):
        for prepared in batch:
            order = places_of(sentences[prepared.item - 1].units, prepared.bag)
            decided.append(decisions(prepared.under(plan.settings), order))
    return decided


def _explain_steps(answers: Answers) -> list[list[SearchStep]]:
    """Return the search steps of the trees of sentences, with positions in them, if the algorithm has steps.

    The search finds the first sentence of a bag; the others have no steps.
    """
    plan, sentences = answers.plan, answers.sentences
    all_steps: list[list[SearchStep]] = [[] for _ in sentences]
    if (steps := plan.algorithm.steps) is None:
        return all_steps
    own = {number: sentence for number, sentence in enumerate(sentences) if sentence.rank == 1}
    batches = prepare(answers.store, plan, [sentence.given for sentence in own.values()], shuffle=False)
    bags = (prepared for batch in batches for prepared in batch)
    for (number, own_sentence), prepared in zip(own.items(), bags, strict=True):
        position_of = {unit: position for position, unit in enumerate(own_sentence.order)}
        made = steps(prepared.under(plan.settings))
        all_steps[number] = [step.renumbered(position_of) for step in made]
    return all_steps


def _attachments(units: Sequence[Unit], tree: Tree, lower: bool) -> Iterator[Attachment]:
    heads = [(fold(unit.head) if lower else unit.head, unit.head_tag) for unit in units]
    for modifier, head, side, earlier in zip(heads, tree.heads, tree.sides, tree.earlier, strict=True):
        yield Attachment(ROOT_UNIT if head == ROOT else heads[head], modifier, side, earlier)


def explain_sentence(store: Store, plan: SearchPlan, sentence: RegeneratedSentence) -> list[_ExplainedWord]:
    """Return the n-grams at which the language model backs off for each word and the end of a sentence.

    The totals of the words add up to the log-probability of the sentence.
    """
    model, order = plan.model, min(plan.order, plan.model.order)
    words = [word for unit in sentence.units for word in spelling(unit, plan.lowercase, model.brackets)]
    forms, tags = [form for form, _ in words], [tag for _, tag in words]
    submodel = prefetch(store, model, [forms], tags={tag for tag in tags if tag})
    # As words of the model: unknown words are <unk>, or <unk:TAG>.
    known = [submodel.words[number] for number in submodel.encode(forms, tags)]
    string = [RESERVED_WORDS[BOS], *known, RESERVED_WORDS[EOS]]
    return [
        _ExplainedWord(form, tuple(explain_word(store, model, string[max(0, at + 2 - order) : at + 2])))
        for at, form in enumerate([*forms, RESERVED_WORDS[EOS]])
    ]
