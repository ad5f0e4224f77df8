"""Questions to the counts: what commands and operations can ask, and the call that asks it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.concordances.concordance import Order, concordance, count_hits
from sentgen.lookups.cql.search import Strategy, is_cql
from sentgen.lookups.dependency_search import End, Layer, Level, count_arguments, find_dependencies
from sentgen.lookups.grew.matches import check_match, count_matches, match, matched_sentences
from sentgen.lookups.ngram_search import find_ngrams
from sentgen.lookups.patterns import ANY
from sentgen.lookups.question import (
    MOST,
    ContextOption,
    LimitOption,
    Lookup,
    MinCountOption,
)
from sentgen.lookups.statement import Answer
from sentgen.lookups.statistics.collocations import AROUND, Measure, Unit, find_collocations, read_window
from sentgen.lookups.statistics.frequencies import By, frequency_list
from sentgen.lookups.statistics.hit_frequencies import hit_frequencies
from sentgen.lookups.statistics.sketch import word_sketch
from sentgen.options import Option

CqlOption = Annotated[
    str | None, Option('A query in CQL instead, such as `[upos="ADJ"]+ "house"`.', metavar="QUERY")
]
StrategyOption = Annotated[Strategy, Option("Which matches of a CQL query to keep: all, or as CQP chooses.")]
_ALL_TOKENS = "[]"
LayerOption = Annotated[Layer, Option("Tree of words, or of units (base noun phrases as one).")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ngrams(Lookup):
    """The n-grams that match a pattern."""

    pattern: Annotated[
        str, Option("1 to 5 words; `*` is any word, `down*` a word that begins with down.", argument=True)
    ]
    min_count: MinCountOption = 1

    def ask(self, connection: Connection) -> Answer:
        return find_ngrams(
            connection,
            self.pattern,
            min_count=self.min_count,
            **self.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies(Lookup):
    """The dependencies between a head and its modifiers."""

    head: Annotated[
        str,
        Option(
            "The head: a word, or `*`. With `reverse` the modifier.",
            argument=True,
            shell="The head: a word, or `*`. With --reverse the modifier.",
        ),
    ]
    modifier: Annotated[
        str,
        Option(
            "The modifier: a word, or `*`. With `reverse` the head.",
            argument=True,
            shell="The modifier: a word, or `*`. With --reverse the head.",
        ),
    ] = "*"
    reverse: Annotated[bool, Option("Ask for the heads of a word instead of its modifiers.")] = False
    tag: Annotated[str, Option("Tag of the first word, such as VBD.", metavar="TAG")] = "*"
    layer: LayerOption = Layer.WORD
    level: Annotated[
        Level,
        Option(
            "Word or tag, of head and modifier.",
            shell="Word or tag, of head and modifier; a tag is asked for by its name.",
        ),
    ] = Level.WORD_WORD

    def ask(self, connection: Connection) -> Answer:
        asked, other = End(self.head, self.tag), End(self.modifier)
        return find_dependencies(
            connection,
            *((other, asked) if self.reverse else (asked, other)),
            layer=self.layer,
            level=self.level,
            **self.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(Lookup):
    """How many modifiers a word takes on each side."""

    word: Annotated[str, Option("The head: a word, or `*` for all words of a tag.", argument=True)]
    tag: Annotated[str, Option("Its tag, such as VBD.", metavar="TAG")] = "*"
    layer: LayerOption = Layer.WORD
    limit: LimitOption = 0

    def ask(self, connection: Connection) -> Answer:
        return count_arguments(
            connection,
            self.word,
            tag=self.tag,
            layer=self.layer,
            **self.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kwic(Lookup):
    """A word or a sequence of words in context (concordance)."""

    pattern: Annotated[
        str,
        Option(
            "Tokens: `word`, `down*`, `*`, `lemma:go`, `upos:VERB`, `xpos:VBD`, `fell/VBD`; or CQL, which"
            ' begins with `[` or with a word in quotes: `[lemma="go"] []{0,3} "home"`.',
            argument=True,
        ),
    ] = ""
    cql: CqlOption = None
    strategy: StrategyOption = Strategy.ALL
    count: Annotated[bool, Option("Only the number of hits.", shell="Print the number of hits alone.")] = (
        False
    )
    context: ContextOption = 15
    sort: Annotated[
        Order,
        Option(
            "Sort all hits, or those drawn at random, by what is before or after the node.",
        ),
    ] = Order.NONE
    random: Annotated[
        int | None,
        Option(
            "Seed: lines drawn at random, not the first ones.",
            shell="Lines drawn at random, not the first ones.",
            metavar="SEED",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None

    def __post_init__(self) -> None:
        _check_one(self.pattern, self.cql)

    def ask(self, connection: Connection) -> Answer:
        if self.count:
            return count_hits(
                connection,
                self.pattern,
                cql=self.cql,
                strategy=self.strategy,
                **self.about,
            )
        return self.lines(connection)

    def lines(self, connection: Connection, *, placed: bool = False) -> Answer:
        """Return the lines, with the places of their nodes if wanted (see `concordance`)."""
        return concordance(
            connection,
            self.pattern,
            cql=self.cql,
            strategy=self.strategy,
            context=self.context,
            order=self.sort,
            seed=self.random,
            **self.asked,
            placed=placed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Lookup):
    """The places where a Grew request matches the trees."""

    request: Annotated[
        str,
        Option("The request, such as `pattern { V [upos=VERB]; V -[obj]-> O }`.", argument=True),
    ] = ""
    key: Annotated[
        list[str],
        Option(
            "What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`.",
            shell="What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`;"
            " may be repeated.",
            metavar="KEY",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    whether: Annotated[
        list[str],
        Option(
            "Conditions to count hits by, yes or no: `S [upos=PRON]`.",
            shell="Condition to count hits by, yes or no: `S [upos=PRON]`; may be repeated.",
            metavar="CLAUSES",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    count: Annotated[bool, Option("Only the number of hits.")] = False
    context: ContextOption = 15
    random: Annotated[
        int | None,
        Option(
            "Seed: hits drawn at random, not the first ones.",
            shell="Hits drawn at random, not the first ones.",
            metavar="SEED",
            api={"ge": -MOST, "le": MOST},
        ),
    ] = None

    @property
    def counted(self) -> bool:
        """Whether hits are counted, so that there are no lines."""
        return bool(self.count or self.key or self.whether)

    def ask(self, connection: Connection) -> Answer:
        self._check_count()
        if self.counted:
            return count_matches(
                connection,
                self.request,
                keys=self.key,
                whether=self.whether,
                **self.asked,
            )
        return match(
            connection,
            self.request,
            context=self.context,
            seed=self.random,
            **self.asked,
        )

    def check(self, connection: Connection) -> None:
        """Refuse what `ask` would, without looking for hits."""
        self._check_count()
        check_match(connection, self.request, keys=self.key, whether=self.whether, **self.about)

    def _check_count(self) -> None:
        if self.count and (self.key or self.whether):
            raise InputError("a count alone has no keys; ask for one of the two")

    def sentences(self, connection: Connection) -> list[int]:
        """Return the numbers of the sentences of the same hits."""
        return matched_sentences(
            connection,
            self.request,
            seed=self.random,
            **self.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies(Lookup):
    """A frequency list with dispersion and coverage."""

    by: Annotated[
        list[str],
        Option(
            "What to count, word unless given: word, lemma, upos, xpos, deprel, a feature such as `Number`,"
            " metadata such as `genre`, `corpus` or `document`, of the hits of a query any attribute of a"
            " label, such as `a.lemma`, and several together, in a list or with commas.",
            shell="What to count: word (the default), lemma, upos, xpos, deprel, a feature such as `Number`,"
            " metadata such as `genre`, `corpus` or `document`; of the hits of a query also any attribute of"
            " a label, such as `a.lemma`; may be repeated.",
            metavar="ATTRIBUTE",
            api={"max_length": 20},
        ),
    ] = field(default_factory=list)
    pattern: Annotated[str, Option("Only these, such as `un*`.")] = "*"
    query: Annotated[
        str | None,
        Option(
            "What a query in CQL, or a pattern as of kwic, matched, instead of all tokens.", metavar="QUERY"
        ),
    ] = None
    strategy: StrategyOption = Strategy.ALL

    def __post_init__(self) -> None:
        if self.query is not None and self.pattern != ANY:
            raise InputError("a pattern and a query exclude each other; give one of them")
        if self._query == _ALL_TOKENS and self.pattern != ANY:
            listed = ", ".join(By)
            raise InputError(
                f"a pattern is of what is listed: {listed}; with --by {self._by} give a --query instead"
            )

    @property
    def _by(self) -> str:
        """The keys, with commas between them."""
        return ",".join(self.by) or By.WORD

    @property
    def _query(self) -> str | None:
        """The query; a pattern can be one, and other attributes than words and tags are of every token."""
        if self.query is None and is_cql(self.pattern):
            return self.pattern
        return _ALL_TOKENS if self.query is None and self._by not in list(By) else self.query

    def ask(self, connection: Connection) -> Answer:
        if self._query is not None:
            return hit_frequencies(
                connection,
                self._query,
                by=self._by,
                strategy=self.strategy,
                **self.asked,
            )
        return frequency_list(
            connection,
            by=By(self._by),
            pattern=self.pattern,
            **self.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Collocations(Lookup):
    """What occurs with a word more often than chance."""

    word: Annotated[str, Option("The node: `stock`, `lemma:fall`, `stock/NN`; or CQL.", argument=True)] = ""
    cql: CqlOption = None
    strategy: StrategyOption = Strategy.ALL
    window: Annotated[
        str | None,
        Option(
            "Words before and after: `5`, or `3,2`.",
            shell="Words before and after. Default: 5.",
            metavar="N|L,R",
        ),
    ] = None
    dependency: Annotated[
        str | None,
        Option(
            "By a relation (`nsubj`, `*` for all) instead.",
            shell="By a dependency relation (`nsubj`, `*` for all) instead.",
            metavar="REL",
        ),
    ] = None
    by: Annotated[Unit, Option("Collocates as words or as lemmas.")] = Unit.WORD
    measure: Annotated[Measure, Option("What to rank by.")] = Measure.LOGDICE
    min_count: MinCountOption = 2

    def __post_init__(self) -> None:
        _check_one(self.word, self.cql)

    def ask(self, connection: Connection) -> Answer:
        window = None if self.window is None else read_window(self.window)
        if window and self.dependency:
            raise InputError("a window and a dependency relation exclude each other; choose one")
        return find_collocations(
            connection,
            self.word,
            cql=self.cql,
            strategy=self.strategy,
            within=self.dependency or window or AROUND,
            by=self.by,
            measure=self.measure,
            min_count=self.min_count,
            **self.asked,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch(Lookup):
    """The strongest collocates of a word in each dependency relation."""

    word: Annotated[str, Option("The word: `stock`, `lemma:fall`, `stock/NN`.", argument=True)]
    by: Annotated[Unit, Option("Collocates as words or as lemmas.")] = Unit.LEMMA
    measure: Annotated[Measure, Option("What to rank by.")] = Measure.LOGDICE
    min_count: MinCountOption = 2
    limit: Annotated[
        int,
        Option(
            "Collocates of a relation; 0 for all.",
            short="-n",
            least=0,
            api={"le": 1_000_000},
        ),
    ] = 10

    def ask(self, connection: Connection) -> Answer:
        return word_sketch(
            connection,
            self.word,
            by=self.by,
            measure=self.measure,
            min_count=self.min_count,
            **self.about,
            each=self.limit,
        )


def _check_one(pattern: str, cql: str | None) -> None:
    """Refuse both a pattern and a query in CQL, and neither."""
    if bool(pattern) == (cql is not None):
        wrong = "a pattern and a query in CQL exclude each other" if pattern else "nothing is asked for"
        raise InputError(f"{wrong}; give a pattern, or a query in CQL")
