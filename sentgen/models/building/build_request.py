"""What is asked of `models build`, for the command line and for Python alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from sentgen.errors import InputError, ModelError
from sentgen.models import registry
from sentgen.models.building.build import build
from sentgen.models.building.chosen import Draw
from sentgen.models.building.companions import COMPANIONS, companion_name, corpora_of_companions
from sentgen.models.building.recipe import Recipe, recipe
from sentgen.models.building.summed_counts import Progress
from sentgen.models.building.symbols import ITEMS, KEPT, OVER, TAGS, WORDS, symbols
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.registry import ModelInfo
from sentgen.models.request import WhereOption
from sentgen.options import Option
from sentgen.schema import Store

KNESER_NEY = "kneser-ney"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """A model of some corpora.

    Raises:
        InputError: the lowest counts are no numbers, no model is over that, or one that is not over words
            should have companions.
    """

    name: Annotated[str, Option("Name of the model.", argument=True, metavar="NAME")]
    corpus: Annotated[
        list[str],
        Option("Corpora to count.", shell="Corpus to count; may be repeated.", metavar="NAME", given=True),
    ]
    order: Annotated[int, Option("Highest order of n-grams.", least=1, most=5)] = 4
    smoothing: Annotated[str, Option("kneser-ney, katz or stupid-backoff.", metavar="METHOD")] = KNESER_NEY
    min_count: Annotated[
        str | None,
        Option("Lowest count kept per order; the last one for the rest.", metavar="N,N,..."),
    ] = None
    unknown: Annotated[
        str, Option("Unknown words: word (one `<unk>`), tag (one per tag) or none.", metavar="HOW")
    ] = "word"
    brackets: Annotated[
        bool, Option("Count the brackets of base noun phrases, `<np>` and `</np>`, as words.")
    ] = False
    over: Annotated[str, Option(f"What n-grams are made of: {', '.join(OVER)}.", metavar="WHAT")] = "words"
    classes: Annotated[
        int | None,
        Option(f"Frequent words that classes and items keep. Default: {KEPT}.", metavar="N", least=0),
    ] = None
    where: WhereOption = None
    sentences: Annotated[
        int | None, Option("Count only N of the sentences, drawn by --seed.", metavar="N", least=1)
    ] = None
    share: Annotated[
        float | None,
        Option("Count only this share of the sentences, drawn by --seed.", metavar="0..1", least=0, most=1),
    ] = None
    seed: Annotated[int, Option("Seed by which sentences are drawn.", least=0)] = 1
    companions: Annotated[
        bool,
        Option(
            "Also build NAME-tags, NAME-classes and NAME-items, the models over these of the same corpora,"
            " which joint decoding asks as well."
        ),
    ] = False

    def __post_init__(self) -> None:
        parse_counts(self.min_count)
        if self.companions and self.over != WORDS:
            raise InputError(
                f"companions go with a model over words, not over {self.over};"
                " leave --over or --companions out"
            )
        if self.sentences is not None and self.share is not None:
            raise InputError("a number of sentences and a share exclude each other; leave one out")
        symbols(ITEMS if self.companions else self.over, self.classes)

    def build(self, store: Store, progress: Progress | None = None) -> list[ModelInfo]:
        """Build the next version of the model, and behind it those of its companions, if they are wanted.

        See `sentgen.models.building.build.build`.
        """
        found, wanted = [], self.requests(store)
        for one in wanted:
            named = partial(_report, progress, one.name) if progress and len(wanted) > 1 else progress
            found.append(one._build(store, named))
        return found

    def built(self, store: Store) -> list[ModelInfo]:
        """Return what `build` would, if the newest models of these names are that already, else nothing."""
        wanted = self.requests(store)
        there = {model.name: model for model in registry.list_models(store)}
        found = [there[one.name] for one in wanted if one.name in there]
        if len(found) < len(wanted):
            return []
        same = all(one._describes(model) for one, model in zip(wanted, found, strict=True))
        return found if same and not any(registry.is_stale(store, model) for model in found) else []

    def _describes(self, model: ModelInfo) -> bool:
        """Return whether a model has these settings; those of chosen sentences are told by building alone."""
        made_of = symbols(self.over, self.classes)
        counts = parse_counts(self.min_count)
        settings = recipe(self.order, self.smoothing, counts, self.unknown, self.brackets, made_of)
        of = Recipe(
            model.order, model.smoothing, model.min_count, model.unknown, model.brackets, model.symbols
        )
        chosen = self.where or self._draw or model.condition
        return settings == of and set(self.corpus) == set(model.corpora) and not chosen

    def requests(self, store: Store) -> list[BuildRequest]:
        """Return what is asked for, a model each, that of the words first.

        Raises:
            ModelError: no corpus can have companions, or of drawn sentences not all.
        """
        if not self.companions:
            return [self]
        tagged = corpora_of_companions(store, self.corpus)
        if self._draw and set(tagged) != set(self.corpus):
            raise ModelError(
                f"companions are of {', '.join(tagged)} alone, and would be of other sentences than are drawn"
                " for the model; name these corpora alone, or leave --companions out"
            )
        words = replace(self, companions=False, classes=None)
        # Symbols have counts of their own, and stand for rare words and brackets already.
        smoothing = KNESER_NEY if self.smoothing == stupid_backoff.NAME else self.smoothing
        alike = replace(words, corpus=tagged, smoothing=smoothing, unknown="word", brackets=False)
        return [
            words,
            *(
                replace(
                    alike,
                    name=companion_name(self.name, over),
                    over=over,
                    classes=None if over == TAGS else self.classes,
                )
                for over in COMPANIONS
            ),
        ]

    @property
    def _draw(self) -> Draw | None:
        drawn = self.sentences is not None or self.share is not None
        return Draw(self.sentences, self.share, self.seed) if drawn else None

    def _build(self, store: Store, progress: Progress | None) -> ModelInfo:
        return build(
            store,
            self.name,
            self.corpus,
            order=self.order,
            smoothing=self.smoothing,
            min_count=parse_counts(self.min_count),
            unknown=self.unknown,
            brackets=self.brackets,
            symbols=symbols(self.over, self.classes),
            condition=self.where,
            draw=self._draw,
            progress=progress,
        )


def _report(progress: Progress, name: str, line: str) -> None:
    progress(f"{name}: {line}")


def parse_counts(text: str | None) -> list[int] | None:
    """Read numbers such as ``1,1,2``.

    Raises:
        InputError: they are none.
    """
    if text is None:
        return None
    parts = text.split(",")
    # More digits than any count has; int() refuses some thousand of them with a traceback.
    if not all(part.strip().isdecimal() and len(part.strip()) <= 9 for part in parts):
        raise InputError(f"--min-count {text[:40]!r} is no list of numbers; write it like 1,1,2")
    return [int(part) for part in parts]
