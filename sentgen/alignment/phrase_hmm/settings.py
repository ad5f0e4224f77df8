"""Settings of the phrase-based HMM: choices that the paper leaves open, priors, two presets.

Daumé & Marcu 2004; docs/pbhmm.md has the formulas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import inf, isfinite, nan
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from sentgen.errors import InputError, spell

#: Parts of the parameters that may be fixed in EM.
Part = Literal["null", "weights", "unigram", "jumps", "table"]

#: Numbers with their bounds, which `changed` checks.
Share = Annotated[float, (0, 1)]
Number = Annotated[int, (1, inf)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Fake counts of the Dirichlet priors (alpha - 1), added in every M step (sec. 2.2.5).

    ``word``, ``stem``, ``identity`` and ``phrase`` go to each cell of the rewrite table by its kind, the
    kinds in that order for word pairs that differ, pairs equal up to the stem, identical pairs, and other
    phrase pairs. ``jump`` goes to each cell of the jump table, ``unigram`` to each word that null can emit,
    ``weight`` to each mixture weight. ``null`` is the strength of the Beta prior of P(null): ``null`` times
    the initial P(null) fake null segments and ``null`` times its complement fake others.
    """

    word: float = 2.0
    stem: float = 3.0
    identity: float = 4.0
    phrase: float = 0.0
    jump: float = 1.0
    unigram: float = 2.0
    weight: float = 0.0
    null: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PbhmmSettings:
    """The model, its priors, and how it decodes.

    Args:
        max_document_phrase: Most words of a document phrase in the rewrite table (K).
        max_abstract_phrase: Most words of an abstract phrase in the rewrite table (L).
        max_run: Most words of a copied run (equal stems one by one); ``None`` for no limit.
        min_documents: Pairs in which a phrase pair must occur together to enter the rewrite table.
        null: ``stay``: a null word leaves the position in the document; ``table3``: it may move it, as table
            3 of the paper has it.
        normalization: ``deficient``: jumps over the borders of the document keep their probability;
            ``position``: jumps are renormalized over the targets 1..n+1.
        window: Jumps up to this distance have a cell of their own, those beyond share cells that double in
            size; ``None`` for a cell for each distance.
        reach: Distance up to which jump cells are laid out; farther jumps share the density of the last one.
        stems: What the second component is, ``table``: a rewrite table of stems, with the third equal up to
            the stem; ``equal``: equal up to the stem, with the third equal as it is written.
        constants: ``normalized``: what is equal up to the stem is divided by the number of words with that
            stem, so that each component sums to one; ``one``: the constant 1.
        fold: Compare words in lower case.
        p0: Initial P(null).
        weights: Initial mixture weights of table, stems, identity.
        vocabulary: Size of the vocabulary of the abstracts as the untrained model assumes it.
        forms: Words to a stem as the untrained model assumes it.
        jump_power: The initial jump is (1 + |d - 1|) ** -jump_power.
        jump_back: The initial jump is multiplied by this where it does not go forward (d < 1).
        null_function: P(word | null) of each function word, whatever was learnt; ``None`` for no difference.
        null_excess: Make P(null) higher where the abstract is longer than the document, so that the share of
            other segments falls by the ratio of their lengths; P(null) must be fixed then.
        mixed: What the untrained table gives to pairs of a function word and another word, as a share of what
            it gives to other pairs.
        trust: Share of the table in the first component; the rest is the untrained table. Rows of rare words
            are spread over the few words that they were seen with, and would attract everything else.
        similar: With ``stems="equal"``, what the second component gives to the same word written in another
            way and to words of similar spelling; 0 for nothing, here and in the next three (see ``kinship``).
        synonym: What it gives to synonyms in WordNet or in our own ``thesaurus``.
        related: What it gives to words one step apart in WordNet.
        near: What it gives, if vectors are given, to words whose cosine is ``nearness`` or more, and that are
            related to no other word of the pair.
        vectors: Name of these vectors in the store; ``None`` for none.
        grouped: What it gives to function words and marks of one group
            (`sentgen.alignment.words.word_classes.groups`).
        forget: Probability that the position in the document is forgotten at the end of a sentence of the
            abstract, and drawn anew: the next sentence may come from anywhere. Best paths do not forget.
        whole_sentences: Different sentences of a document up to which it is aligned as a whole, as one with
            no more than its abstract is; of a longer one, each abstract sentence is aligned with those that
            have most of it (``passages``). ``None`` for whole documents only.
        passage_gain: What each further document sentence must add, as a share of what those before it have.
        prior: Fake counts.
        fixed: Parts that EM leaves at their initial values.
        decode: ``viterbi``: the best path; ``posterior``: the links whose posterior reaches ``threshold``.
        both: Decode posteriors in both directions and take the root of their product.
        threshold: Smallest posterior of a link.
        stops: Give links of full stops the posterior of their sentences.
    """

    max_document_phrase: int = 4
    max_abstract_phrase: int = 4
    max_run: Annotated[int, (0, inf)] | None = None
    min_documents: Number = 2
    null: Literal["stay", "table3"] = "stay"
    normalization: Literal["deficient", "position"] = "deficient"
    window: int | None = 32
    reach: Annotated[int, (1, 1 << 24)] = 1 << 14
    stems: Literal["table", "equal"] = "table"
    constants: Literal["normalized", "one"] = "normalized"
    fold: bool = True
    p0: float = 0.2
    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    vocabulary: Number = 20_000
    forms: Number = 2
    jump_power: Annotated[float, (0, 100)] = 1.0
    jump_back: Annotated[float, (0, inf)] = 1.0
    null_function: Share | None = None
    null_excess: bool = False
    mixed: Share = 1.0
    trust: Share = 1.0
    similar: Share = 0.0
    synonym: Share = 0.0
    related: Share = 0.0
    near: Share = 0.0
    nearness: Share = 0.4
    vectors: str | None = None
    grouped: Share = 0.0
    forget: float = 0.0
    whole_sentences: Number | None = None
    passage_gain: Share = 0.3
    prior: Prior = Prior()
    fixed: frozenset[Part] = frozenset()
    decode: Literal["viterbi", "posterior"] = "viterbi"
    both: bool = False
    threshold: Share = 0.5
    stops: bool = False

    @property
    def kinship_values(self) -> tuple[float, ...]:
        """Values of the second component for related words, by their kind (see ``kinship``)."""
        return 0.0, self.near, self.related, self.synonym, self.grouped, self.similar

    @property
    def needs_kinship(self) -> bool:
        """Whether the model needs related words, function words, or full stops."""
        looks = max(self.kinship_values) > 0 or self.null_function is not None or self.mixed != 1
        return looks or self.forget > 0 or self.stops

    def __post_init__(self) -> None:
        """Refuse combinations of settings that have no meaning."""
        if min(self.max_document_phrase, self.max_abstract_phrase) < 1:
            raise InputError("a phrase has at least one word: give a maximum of 1 or more")
        if not 0 < self.p0 < 1:
            raise InputError(f"P(null) is {self.p0}; it lies between 0 and 1, both left out")
        if not 0 <= self.forget <= 1:
            raise InputError(f"forget is {self.forget}; it is a probability, from 0 to 1")
        if min(self.weights) < 0 or abs(sum(self.weights) - 1) > 1e-9:
            raise InputError(f"the mixture weights {self.weights} must not be negative and sum to 1")
        # EM would learn one P(null) from pairs that each have another.
        if self.null_excess and "null" not in self.fixed:
            raise InputError("null_excess needs a fixed P(null): name `null` in `fixed`, too")
        if self.window is not None and self.window < 1:
            raise InputError("the window of exact jumps is at least 1; leave it out for exact jumps only")

    def with_decoding(
        self,
        *,
        decode: Literal["viterbi", "posterior"] | None = None,
        threshold: float | None = None,
    ) -> PbhmmSettings:
        """Return settings with another choice of links; ``None`` keeps the present value.

        Raises:
            InputError: a threshold for the best path.
        """
        settings = self if decode is None else replace(self, decode=decode)
        if threshold is not None:
            if settings.decode != "posterior":
                raise InputError(
                    f"the best path has no {spell('threshold')}; choose {spell('decode')} posterior"
                )
            settings = replace(settings, threshold=threshold)
        return settings

    def as_json(self) -> str:
        """Return the settings as JSON, for `from_json`."""
        values = asdict(self) | {"fixed": sorted(self.fixed)}
        return json.dumps(values, sort_keys=True)

    def changed(self, given: Mapping[str, str]) -> PbhmmSettings:
        """Return settings with other values by name, spelled with hyphens or underscores.

        Commas or slashes separate several values, ``none`` is no limit, and a switch is ``true`` or ``false``
        (``yes`` or ``no``).

        >>> given = {"p0": "0.1", "prior-identity": "9", "fixed": "null,weights"}
        >>> PbhmmSettings().changed(given).prior.identity
        9.0

        Raises:
            InputError: there is no such setting, or it cannot have that value.
        """
        settings = self
        for option, text in given.items():
            name = option.replace("-", "_")
            if name not in PbhmmSettings.names():
                known = ", ".join(PbhmmSettings.names()).replace("_", "-")
                raise InputError(f"no setting {option!r}; there are: {known}")
            if name.startswith(_PRIOR):
                number = _number(option, text, (0, inf))
                prior = replace(settings.prior, **{name.removeprefix(_PRIOR): number})
                settings = replace(settings, prior=prior)
            else:
                settings = replace(settings, **{name: _value(option, name, text)})
        return settings

    @staticmethod
    def preset(name: str) -> PbhmmSettings:
        """Return the settings of a preset, ``paper`` or ``best``."""
        try:
            return PRESETS[name]
        except KeyError:
            raise InputError(
                f"there is no preset {name!r}; choose one of {', '.join(sorted(PRESETS))}"
            ) from None

    @staticmethod
    def from_json(text: str) -> PbhmmSettings:
        """Return the settings that `as_json` wrote; those that a newer version added have their defaults."""
        values = {name: value for name, value in json.loads(text).items() if name in _names(PbhmmSettings)}
        values["prior"] = Prior(**{k: v for k, v in values.get("prior", {}).items() if k in _names(Prior)})
        values["fixed"] = frozenset(values.get("fixed", ()))
        values["weights"] = tuple(values["weights"])
        return PbhmmSettings(**values)

    @staticmethod
    def names() -> list[str]:
        """Return the names of all settings, sorted; those of the priors are ``prior_word`` and so on."""
        return sorted(_names(PbhmmSettings) - {"prior"} | {f"{_PRIOR}{name}" for name in _names(Prior)})

    @staticmethod
    def for_training(
        *,
        preset: Literal["paper", "best"] = "best",
        max_doc_phrase: int | None = None,
        max_abstract_phrase: int | None = None,
        setting: Sequence[str] = (),
        vectors: str | None = None,
    ) -> PbhmmSettings:
        """Return the settings of a model to train: a preset, with other settings as NAME=VALUE.

        The last value of a name counts; arguments of their own have precedence over ``setting``.

        Raises:
            InputError: there is no such setting, or it cannot have that value.
        """
        given = dict(_assignment(part) for part in setting)
        longest = {"max-document-phrase": max_doc_phrase, "max-abstract-phrase": max_abstract_phrase}
        given |= {name: str(words) for name, words in longest.items() if words is not None}
        settings = PbhmmSettings.preset(preset).changed(given)
        return settings if vectors is None else replace(settings, vectors=vectors)


PRESETS: Mapping[str, PbhmmSettings] = {
    "paper": PbhmmSettings(),
    # Chosen on development data. Parts are fixed because EM raises the
    # likelihood by P(null) near 0 and a table that explains everything.
    "best": PbhmmSettings(
        max_document_phrase=1,
        max_abstract_phrase=1,
        trust=0.001,
        normalization="position",
        stems="equal",
        p0=0.1,
        weights=(0.16, 0.22, 0.62),
        vocabulary=100_000,
        jump_power=2.4,
        jump_back=0.25,
        null_function=0.08,
        null_excess=True,
        mixed=0.25,
        similar=0.6,
        synonym=0.03,
        related=0.003,
        near=0.001,
        grouped=0.05,
        forget=0.9,
        whole_sentences=3,
        fixed=frozenset({"null", "weights", "unigram"}),
        decode="posterior",
        both=True,
        threshold=0.3,
        stops=True,
    ),
}


_PRIOR = "prior_"
#: In a list of systems, which has commas, slashes separate the values of a setting.
_SEPARATOR = re.compile("[,/]")
_SWITCH = {"yes": True, "true": True, "no": False, "false": False}


def _assignment(part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise InputError(f"{part!r} is no setting; write {spell('set')} NAME=VALUE")
    return name.strip(), value.strip()


def _names(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind)}


def _value(option: str, name: str, text: str) -> Any:
    """Read a value of the type of a setting."""
    hint = get_type_hints(PbhmmSettings)[name]
    choices = [choice for choice in get_args(hint) if isinstance(choice, str)]
    if choices:
        if text not in choices:
            raise InputError(f"{option} is {text!r}; choose one of: {', '.join(choices)}")
        return text
    if name == "fixed":
        parts = frozenset(part for part in _SEPARATOR.split(text) if part)
        if not parts <= set(get_args(Part)):
            raise InputError(f"{option} is {text!r}; name some of: {','.join(get_args(Part))}")
        return parts
    if name == "weights":
        weights = tuple(_number(option, part) for part in _SEPARATOR.split(text))
        if len(weights) != len(PbhmmSettings().weights):
            raise InputError(f"{option} is {text!r}; give three: of table, stems and identity")
        return weights
    if hint is bool:
        if text.lower() not in _SWITCH:
            raise InputError(f"{option} is {text!r}; say true or false")
        return _SWITCH[text.lower()]
    if text.lower() == "none" and type(None) in get_args(hint):
        return None
    if str in get_args(hint):
        return text
    number = _number(option, text, _bounds(name))
    if int not in (hint, *get_args(hint)):
        return number
    if not number.is_integer():
        raise InputError(f"{option} is {text!r}, which is no whole number")
    return int(number)


def _bounds(name: str) -> tuple[float, float]:
    """Return the bounds of a setting, from its type."""
    hint = get_type_hints(PbhmmSettings, include_extras=True)[name]
    kinds = (kind for kind in (hint, *get_args(hint)) if get_origin(kind) is Annotated)
    return next((kind.__metadata__[0] for kind in kinds), (-inf, inf))


def _number(option: str, text: str, bounds: tuple[float, float] = (-inf, inf)) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise InputError(f"{option} is {text!r}, which is no number")
    least, most = bounds
    if not least <= number <= most:
        wanted = f"{least} or more" if most == inf else f"between {least} and {most}"
        raise InputError(f"{option} is {text!r}; it must be {wanted}")
    return number
