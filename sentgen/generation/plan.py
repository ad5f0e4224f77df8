"""How bags are to be put in order: what is asked for, and the plan that is made of it in a store, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from sentgen.errors import InputError, NotFoundError, SentgenError
from sentgen.generation.algorithms import ALGORITHMS, SETTINGS, algorithm_named, settings_of
from sentgen.generation.bag import UnitKind
from sentgen.generation.bag_reader import TagKind
from sentgen.generation.joint.joint import DEFAULT, WeightSettings
from sentgen.generation.ngrams.features import FeatureModel, FeatureSettings, companions
from sentgen.generation.problem import (
    PAPERS,
    SEARCH_PANEL,
    Algorithm,
    NgramSettings,
    Paper,
    SearchSettings,
)
from sentgen.generation.systems import read_system
from sentgen.generation.weighted import write_weights
from sentgen.models import registry
from sentgen.models.building.symbols import require_words
from sentgen.models.building.tagging import tag_set
from sentgen.models.dependency.dependencies import Layer
from sentgen.models.dependency.treebanks import has_trees, treebanks_of
from sentgen.models.request import LOWERCASE
from sentgen.models.submodel import ModelLike, lowercases
from sentgen.models.weights import LearntWeights, learnt_weights
from sentgen.options import Changes, Option
from sentgen.schema import Store

#: The algorithm that is not named: one where the corpora of the model have trees, another one where not.
AUTOMATIC, WITH_TREES, WITHOUT = "auto", "joint", "beam"
#: The fields of a search that `regenerate` and experiments have in common.
SHARED = ("as_published", "changes", "dependencies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is asked of a search, in the names of the command line.

    The algorithm may have settings behind its name (see `spelled_out`). ``changes`` are settings that differ
    from its defaults. ``units`` are those of the trees, too.
    """

    algorithm: Annotated[
        str,
        Option(
            f"One of: {', '.join(ALGORITHMS)}; auto is {WITH_TREES} where there are trees, else {WITHOUT}.",
            short="-a",
            metavar="NAME",
        ),
    ] = AUTOMATIC
    as_published: Annotated[
        Paper | None, Option("Take every literal reading of a paper.", panel=SEARCH_PANEL)
    ] = None
    changes: Annotated[Mapping[str, Any], Changes(SETTINGS.values())] = field(default_factory=dict)
    dependencies: Annotated[
        list[str] | None,
        Option(
            "Treebanks to take dependencies from. Default: the model's corpora.",
            shell="Treebank to take dependencies from; may be repeated. Default: the model's corpora.",
            metavar="CORPUS",
            panel=SEARCH_PANEL,
            api={"max_length": 100},
        ),
    ] = None
    units: Annotated[
        UnitKind,
        Option("Keep base noun phrases whole, or break them up.", closed=True, metavar="np|word"),
    ] = "np"
    lowercase: Annotated[bool | None, Option(LOWERCASE, off="--keep-case")] = None
    seed: Annotated[int, Option("Seed of the shuffle that breaks ties.", least=0, api={"lt": 2**31})] = 1
    nbest: Annotated[int, Option("Sentences to give for each bag, at most.", least=1, api={"le": 100})] = 1


@dataclass(frozen=True, slots=True)
class Treebank:
    """Which dependency counts to use: those of some corpora, over base noun phrases or over words."""

    corpora: tuple[int, ...]
    layer: Layer = "unit"


#: Said of a model without companions, as BLEU is about 1 higher with them (docs/joint.md).
_ALONE = "{model} has no companions, with which {algorithm} is better: sentgen models build --companions"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """All that a search needs to know beside the bags: nothing is left to be looked up or to default.

    ``treebank`` is there for the algorithms that make trees, ``features`` for those that ask several models
    (their weights are among the settings); ``words`` says whether phrases are broken up. ``hint`` is what
    would make the search better, if something would.
    """

    model: ModelLike
    algorithm: Algorithm
    settings: SearchSettings
    treebank: Treebank | None = None
    features: tuple[FeatureModel, ...] = ()
    words: bool = False
    lowercase: bool = False
    seed: int = 1
    nbest: int = 1
    hint: str = ""

    @property
    def order(self) -> int:
        """Return n of the n-grams that are asked for."""
        return self.settings.of(NgramSettings).order

    def tags(self, store: Store) -> TagKind | None:
        """Return the kind of tags that the dependency counts use, if there are any."""
        return cast(TagKind, tag_set(store, self.treebank.corpora)) if self.treebank else None


def plan_search(store: Store, model: ModelLike | str, search: Search) -> SearchPlan:
    """Make the plan of a search with a model, which may be given by its name.

    Raises:
        InputError: the algorithm is unknown, or a setting makes no sense.
        NotFoundError: there is no model or corpus of a name.
        ModelError: the model is not over words, or the algorithm needs trees, and the corpora have none.
    """
    if isinstance(model, str):
        model = registry.find(store, model)
    require_words(model.name, model.symbols)
    search = spelled_out(automatic(store, model, search))
    algorithm = algorithm_named(search.algorithm)
    settings = settings_for(algorithm, search.as_published, search.changes)
    if search.nbest < 1:
        raise InputError(f"{search.nbest} sentences a bag is too few; give 1 or more")
    alone = algorithm.trees and FeatureSettings in algorithm.groups and settings.of(FeatureSettings).automatic
    settings = _with_weights(store, model, algorithm, settings, search.changes)
    treebank = None
    if algorithm.trees:
        # The trees must be over what is put in order, or no unit would be found in the counts.
        layer: Layer = "word" if search.units == "word" else "unit"
        treebank = Treebank(tuple(treebanks_of(store, model, search.dependencies or None, layer)), layer)
    lowercase = lowercases(store, model) if search.lowercase is None else search.lowercase
    features = _features(store, algorithm, settings, lowercase)
    # With treebanks of other models, and in a lake, no companions can be built.
    alone = alone and not (features or search.dependencies or store.lake)
    return SearchPlan(
        model=model,
        algorithm=algorithm,
        settings=settings,
        treebank=treebank,
        features=features,
        words=algorithm.words or search.units == "word",
        lowercase=lowercase,
        seed=search.seed,
        nbest=search.nbest,
        hint=_ALONE.format(model=model.name, algorithm=algorithm.name) if alone else "",
    )


def automatic(store: Store, model: ModelLike, search: Search) -> Search:
    """Return a search with the algorithm that suits the corpora of a model, if none was named."""
    if search.algorithm != AUTOMATIC:
        return search
    layer: Layer = "word" if search.units == "word" else "unit"
    trees = bool(search.dependencies) or has_trees(store, model, layer)
    return replace(search, algorithm=WITH_TREES if trees else WITHOUT)


def _with_weights(
    store: Store,
    model: ModelLike,
    algorithm: Algorithm,
    settings: SearchSettings,
    changes: Mapping[str, Any],
) -> SearchSettings:
    """Spell out the weights of a search that finds its own: what was learnt for the model, else defaults.

    What was asked for by name stays.
    """
    learnt = None
    if WeightSettings in algorithm.groups and settings.of(WeightSettings).weights != DEFAULT:
        version = settings.of(WeightSettings).version
        learnt = learnt_weights(store, model.id, algorithm.name, version)
    found = dict(settings.values)
    features = settings.of(FeatureSettings)
    if features.automatic:
        mine = companions(store, model) if learnt is None else _there(store, model, learnt)
        named = {name for name, _ in features.weighted}
        found["features"] = write_weights([*(one for one in mine if one[0] not in named), *features.weighted])
    if learnt is not None and changes.get("factors") is None:
        found["factors"] = write_weights(learnt.factors.items())
    return SearchSettings(found)


def _there(store: Store, model: ModelLike, learnt: LearntWeights) -> list[tuple[str, float]]:
    """Return the models that weights were learnt for; without one of them the others are not the best."""
    there = {one.label for one in registry.list_models(store)}
    gone = next((name for name in learnt.features if name not in there), None)
    if gone is not None:
        raise NotFoundError(
            f"weights of {model.name}@{model.version} were learnt with {gone}, which was removed; tune again,"
            " or take weights default"
        )
    return list(learnt.features.items())


def _features(
    store: Store, algorithm: Algorithm, settings: SearchSettings, lowercase: bool
) -> tuple[FeatureModel, ...]:
    """Return the models that are asked beside that of the words."""
    if FeatureSettings not in algorithm.groups:
        return ()
    names = [name for name, _ in settings.of(FeatureSettings).weighted]
    models = [registry.find(store, name) for name in names]
    return tuple(FeatureModel(model, lowercase or lowercases(store, model)) for model in models)


def settings_for(
    algorithm: Algorithm, as_published: Paper | None = None, changes: Mapping[str, Any] | None = None
) -> SearchSettings:
    """Return the settings of a search: the algorithm's defaults, or a paper's reading, with changes.

    Raises:
        InputError: the paper does not have the algorithm, the algorithm does not look at a setting that is
            changed, or a change makes no sense.
    """
    values = dict(algorithm.defaults)
    changes = {name: value for name, value in (changes or {}).items() if value is not None}
    if as_published is not None:
        if as_published not in PAPERS:
            raise InputError(f"no paper {as_published!r}; there are: {', '.join(PAPERS)}")
        if as_published not in algorithm.published:
            has = ", ".join(algorithm.published) or "none"
            raise InputError(f"{algorithm.name} is not in the paper of {as_published}; papers with it: {has}")
        values |= algorithm.published[as_published]
    _check(changes, algorithm)
    # After the values are checked: a wrong value is the nearer mistake.
    for name in sorted(changes.keys() - algorithm.options):
        users = ", ".join(one.name for one in ALGORITHMS.values() if name in one.options)
        raise InputError(f"{algorithm.name} does not look at {name.replace('_', '-')}; it is for: {users}")
    return SearchSettings(values | changes)


def _check(changes: Mapping[str, Any], algorithm: Algorithm) -> None:
    """Refuse settings that there are not, and values that they cannot have."""
    known = settings_of(algorithm)
    unknown = sorted(changes.keys() - known.keys())
    if unknown:
        raise InputError(f"no setting {unknown[0]!r}; there are: {', '.join(sorted(known))}")
    for group in dict.fromkeys(group for one in (*ALGORITHMS.values(), algorithm) for group in one.groups):
        if changes.keys() & {one.name for one in fields(group)}:
            _check_group(group, changes, algorithm)
    for name, value in changes.items():
        kind, option = known[name].kind, known[name].option
        if get_origin(kind) is Literal and value not in get_args(kind):
            neither = " nor ".join(get_args(kind))
            raise InputError(f"{name.replace('_', '-')} {value!r} is neither {neither}")
        # Groups of ours say it in words of their own.
        if name not in SETTINGS and not _within(value, option):
            raise InputError(f"{name.replace('_', '-')} {value!r} is not {_bounds(option)}")


def _check_group(group: type, changes: Mapping[str, Any], algorithm: Algorithm) -> None:
    """Refuse values that a group of settings refuses; that of a plug-in may do it in any way."""
    try:
        SearchSettings(changes).of(group)
    except SentgenError:
        raise
    except Exception as error:
        raise InputError(
            f"{algorithm.name} cannot take {dict(changes)}: {error}; give other values"
        ) from error


def _bounds(option: Option) -> str:
    """Say between which bounds a number has to be."""
    if option.most is None:
        return f"{option.least} or more"
    return f"{option.most} or less" if option.least is None else f"between {option.least} and {option.most}"


def _within(value: Any, option: Option) -> bool:
    """Say whether a number is within the bounds of its option."""
    return (option.least is None or value >= option.least) and (option.most is None or value <= option.most)


def spelled_out(search: Search) -> Search:
    """Return a search whose algorithm has no settings behind its name: they are among its changes.

    Raises:
        InputError: see `sentgen.generation.systems.read_system`.
    """
    if ":" not in search.algorithm:
        return search
    algorithm, paper, own = read_system(search.algorithm)
    paper = search.as_published if paper is None else paper
    changes = dict(search.changes) | own
    return replace(search, algorithm=algorithm.name, as_published=paper, changes=changes)
