"""Questions to the counts: n-grams, dependencies, arguments, concordances, frequencies, collocations."""

from __future__ import annotations

from pydantic import Field

from sentgen.counts.collocations import Measure, Unit, find_collocations, read_window
from sentgen.counts.concordance import Order, concordance
from sentgen.counts.dependency_search import Layer, Level, count_arguments, find_dependencies
from sentgen.counts.frequencies import By, frequency_list
from sentgen.counts.ngram_search import find_ngrams
from sentgen.server.operations.operation import (
    Context,
    Corpora,
    Limit,
    Operation,
    Parameters,
    Positional,
    Result,
    answered,
)


class Ngrams(Parameters):
    """The n-grams that match a pattern."""

    pattern: str = Positional("1 to 5 words; `*` is any word, `down*` a word that begins with down.")
    min_count: int = Field(1, ge=1, le=2**62, description="Leave out what is rarer.")
    corpus: Corpora
    limit: Limit = 20


class Dependencies(Parameters):
    """The dependencies between a head and its modifiers."""

    head: str = Positional("The head: a word, or `*`. With `reverse` the modifier.")
    modifier: str = Positional("The modifier: a word, or `*`. With `reverse` the head.", default="*")
    reverse: bool = Field(False, description="Ask for the heads of a word instead of its modifiers.")
    tag: str = Field("*", description="Tag of the first word, such as VBD.")
    layer: Layer = Field(Layer.WORD, description="Tree of words, or of units (base noun phrases as one).")
    level: Level = Field(Level.WORD_WORD, description="Word or tag, of head and modifier.")
    corpus: Corpora
    limit: Limit = 20


class Arguments(Parameters):
    """How many modifiers a word takes on each side."""

    word: str = Positional("The head: a word, or `*` for all words of a tag.")
    tag: str = Field("*", description="Its tag, such as VBD.")
    layer: Layer = Field(Layer.WORD, description="Tree of words, or of units (base noun phrases as one).")
    corpus: Corpora
    limit: Limit = 0


class Kwic(Parameters):
    """A word or a sequence of words in context (concordance)."""

    pattern: str = Positional(
        "Tokens: `word`, `down*`, `*`, `lemma:go`, `upos:VERB`, `xpos:VBD`, `fell/VBD`."
    )
    context: int = Field(15, ge=0, le=1000, description="Words on each side at most.")
    sort: Order = Field(Order.NONE, description="Sort the lines by what is before or after the node.")
    random: int | None = Field(
        None, ge=-(2**62), le=2**62, description="Seed: lines drawn at random, not the first ones."
    )
    corpus: Corpora
    limit: Limit = 20


class Frequencies(Parameters):
    """A frequency list with dispersion and coverage."""

    by: By = Field(By.WORD, description="What to count.")
    pattern: str = Field("*", description="Only these, such as `un*`.")
    corpus: Corpora
    limit: Limit = 20


class Collocations(Parameters):
    """What occurs with a word more often than chance."""

    word: str = Positional("The node: `stock`, `lemma:fall`, `stock/NN`.")
    window: str | None = Field(None, description="Words before and after: `5`, or `3,2`.")
    dependency: str | None = Field(None, description="By a relation (`nsubj`, `*` for all) instead.")
    by: Unit = Field(Unit.WORD, description="Collocates as words or as lemmas.")
    measure: Measure = Field(Measure.LOGDICE, description="What to rank by.")
    min_count: int = Field(2, ge=1, le=2**62, description="Leave out what is rarer.")
    corpus: Corpora
    limit: Limit = 20


def ngrams(context: Context, asked: Ngrams) -> Result:
    """Answer `sentgen ngrams`."""
    with context.opened.connect() as connection:
        answer = find_ngrams(
            connection,
            asked.pattern,
            corpora=asked.corpus,
            min_count=asked.min_count,
            limit=context.limit(asked.limit),
        )
    return answered(answer)


def dependencies(context: Context, asked: Dependencies) -> Result:
    """Answer `sentgen deps`."""
    with context.opened.connect() as connection:
        answer = find_dependencies(
            connection,
            asked.head,
            asked.modifier,
            head_tag=asked.tag,
            reverse=asked.reverse,
            layer=asked.layer,
            level=asked.level,
            corpora=asked.corpus,
            limit=context.limit(asked.limit),
        )
    return answered(answer)


def arguments(context: Context, asked: Arguments) -> Result:
    """Answer `sentgen args`."""
    with context.opened.connect() as connection:
        answer = count_arguments(
            connection,
            asked.word,
            tag=asked.tag,
            layer=asked.layer,
            corpora=asked.corpus,
            limit=context.limit(asked.limit),
        )
    return answered(answer)


def kwic(context: Context, asked: Kwic) -> Result:
    """Answer `sentgen kwic`."""
    with context.opened.connect() as connection:
        answer = concordance(
            connection,
            asked.pattern,
            context=asked.context,
            order=asked.sort,
            seed=asked.random,
            corpora=asked.corpus,
            limit=context.limit(asked.limit),
        )
    return answered(answer)


def frequencies(context: Context, asked: Frequencies) -> Result:
    """Answer `sentgen freq`."""
    with context.opened.connect() as connection:
        answer = frequency_list(
            connection,
            by=asked.by,
            pattern=asked.pattern,
            corpora=asked.corpus,
            limit=context.limit(asked.limit),
        )
    return answered(answer)


def collocations(context: Context, asked: Collocations) -> Result:
    """Answer `sentgen collocations`."""
    with context.opened.connect() as connection:
        answer = find_collocations(
            connection,
            asked.word,
            window=None if asked.window is None else read_window(asked.window),
            relation=asked.dependency,
            by=asked.by,
            measure=asked.measure,
            min_count=asked.min_count,
            corpora=asked.corpus,
            limit=context.limit(asked.limit),
        )
    return answered(answer)


OPERATIONS = (
    Operation(
        "ngrams", "N-grams that match a pattern.", "ngrams", Ngrams, ngrams, example={"pattern": "the *"}
    ),
    Operation(
        "dependencies",
        "Dependencies between a head and its modifiers.",
        "deps",
        Dependencies,
        dependencies,
        example={"head": "arrived"},
    ),
    Operation(
        "arguments",
        "Modifiers of a word on each side.",
        "args",
        Arguments,
        arguments,
        example={"word": "arrived"},
    ),
    Operation("kwic", "A word in context.", "kwic", Kwic, kwic, example={"pattern": "camp"}),
    Operation("frequencies", "A frequency list.", "freq", Frequencies, frequencies),
    Operation(
        "collocations",
        "What occurs with a word more often than chance.",
        "collocations",
        Collocations,
        collocations,
        example={"word": "water"},
    ),
)
