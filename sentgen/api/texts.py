"""Texts that are aligned and checked, given as they are or as files; and models that align, trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from sentgen import temporary
from sentgen.alignment.choice import Choice
from sentgen.alignment.pairs.budget import Budget
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.tuning import TuningPlan
from sentgen.alignment.stored.application import ApplicationSummary
from sentgen.alignment.stored.model_store import DIRECTIONS
from sentgen.alignment.stored.stored_model import tune_model
from sentgen.alignment.stored.training import TrainingPlan, train_model
from sentgen.alignment.texts import align_texts, as_json
from sentgen.alignment.view.html import fragment, notebook_style, page, script
from sentgen.alignment.view.view import Figures, PairView, places_of
from sentgen.api.arguments import declare
from sentgen.api.options import AlignOptions, ApplyOptions, CheckOptions, TrainOptions, TuneOptions
from sentgen.api.session import StoreSession
from sentgen.api.tables import Table
from sentgen.corpus.parsers import Parser, open_parser
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold_readers import GoldPairs
from sentgen.evaluation.check.check import CheckRequest, Claim, SupportCheck, WordLimits
from sentgen.options import parameters_of
from sentgen.output.display import decimal
from sentgen.output.progress import counting_bar, counting_bars, steps, training_bar
from sentgen.output.tabular import Rows

_COLUMNS = ("phrase", "summary", "document", "sentence", "first", "last", "posterior", "null")
_WORD_COLUMNS = ("place", "word", "state", "document", "places", "posterior", "p_null", "why", "elsewhere")
_REASON_COLUMNS = [*("phrase", "word", "summary", "place", "document"), "posterior", "directions", "shares"]
_REASON_COLUMNS += ["weights", "runner_up", "runner_up_posterior", "null"]
_SETTINGS = ("preset", "max_doc_phrase", "max_abstract_phrase", "setting", "vectors")
_TUNED_COLUMNS = ("direction", "iterations", "log10_untuned", "log10_tuned", "seconds", "threshold")
#: Share of the memory for aligners; DuckDB has most of the rest.
_SHARE = 0.55
#: Counts shown alignments, as the same texts may be shown twice.
_SHOWN = count()
_TYPES = ("BIGINT", "VARCHAR", "VARCHAR", "BIGINT", "BIGINT", "BIGINT", "DOUBLE", "DOUBLE")


@contextmanager
def as_file(text: str | Path, name: str) -> Iterator[str]:
    """Give the path of a file, or write a text into one for as long as it is read.

    Args:
        text: the text itself; a `pathlib.Path` is a file with it.
        name: name of the parameter, which stands for the file in messages.

    Raises:
        InputError: the text looks like the name of a file, which would be taken for a text of one word.
    """
    if isinstance(text, Path):
        yield str(text)
        return
    if not isinstance(text, str):
        raise InputError(f"`{name}` is a text, or a pathlib.Path of a file; {text!r} is neither")
    if text and len(text) < 1000 and len(text.split()) == 1 and Path(text).exists():
        raise InputError(f"{text!r} is a file, and `{name}` a text; give pathlib.Path({text!r}) to read it")
    with temporary.folder() as folder:
        path = folder / name
        path.write_text(text, encoding="utf-8", newline="\n")
        try:
            yield str(path)
        except InputError as error:
            # Without the path, as the text was no file: the path is that of a temporary one.
            if error.path == str(path):
                error.path = name
            raise


class WordLink(NamedTuple):
    """A word of the abstract and the word of the document that it comes from; places count from 0."""

    document: int
    abstract: int
    document_word: str
    abstract_word: str


class AlignedTexts(Table):
    """Where each phrase of an abstract comes from in its document, and what is new.

    ``first`` and ``last`` are the words of the document, from 1; phrases that are new have none.
    """

    def __init__(self, view: PairView, model: str, notes: Iterable[str], *, explain: bool = False) -> None:
        rows = []
        for phrase in view.phrases():
            text, (start, end) = phrase.document or (None, (None, None))
            first = None if start is None else start + 1
            rows.append(
                (
                    phrase.number,
                    phrase.abstract[0],
                    text,
                    phrase.sentence,
                    first,
                    end,
                    phrase.posterior,
                    phrase.null,
                )
            )
        super().__init__(Rows(_COLUMNS, rows, _TYPES), notes=list(notes))
        self._view, self._model, self._explain = view, model, explain

    @property
    def document(self) -> tuple[str, ...]:
        """The words of the document, as they were aligned."""
        return self._view.pair.document

    @property
    def abstract(self) -> tuple[str, ...]:
        """The words of the abstract, as they were aligned."""
        return self._view.pair.abstract

    @property
    def words(self) -> Table:
        """A row for each word of the abstract: its state, and the words of the document that it comes from.

        ``place`` and ``places``, those in the document, count from 1, as ``elsewhere``, the sentences of the
        document that have a new word. ``state`` is ``same``, ``variant`` (inflected, spelled otherwise,
        derived, or a synonym), ``related`` (linked, and neither), ``changed`` (the document has something
        else in its place, which is in ``document``) or ``new`` (it comes from nothing), and ``why`` says what
        tells it. ``posterior`` is the probability of the best link, ``p_null`` that the word comes from
        nothing, where the aligner knows them.
        """
        rows = [
            (
                *(
                    position,
                    state.word,
                    state.state,
                    " ".join(self.document[d] for d in state.source) or None,
                ),
                *(
                    [d + 1 for d in state.source],
                    state.posterior,
                    state.null,
                    state.why,
                    list(state.elsewhere),
                ),
            )
            for position, state in enumerate(self._view.states, 1)
        ]
        return Table(Rows(_WORD_COLUMNS, rows), notes=self.notes)

    def json(self) -> dict[str, object]:
        """Return what ``sentgen align text --json`` prints: one object, whose offsets count words from 0."""
        return as_json(self._view, model=self._model, explain=self._explain)

    @property
    def links(self) -> list[WordLink]:
        """All pairs of words that are linked, in the order of the document."""
        pair = self._view.pair
        links = sorted(self._view.alignment.links)
        return [WordLink(d, s, pair.document[d], pair.abstract[s]) for d, s in links]

    @property
    def new(self) -> list[str]:
        """The words of the abstract that come from nothing."""
        return [self.abstract[position] for position in places_of("new", self._view.states)]

    @property
    def figures(self) -> Figures:
        """How much of the abstract is copied, and how much is new."""
        return self._view.figures

    @property
    def reasons(self) -> Table:
        """What links were chosen among, with ``explain=True``: a row a word link, the best of a word first.

        ``shares`` are what a posterior is made of, by name; ``directions`` the posteriors in each direction;
        ``weights`` those of a tuned model; ``runner_up`` is the best other word of the document. A word that
        nothing comes near has a row without a link.

        Raises:
            InputError: the texts were aligned without ``explain``, or the aligner has no posteriors.
        """
        weighed = self._view.alignment.weighed
        if weighed is None:
            raise InputError("no reasons; align with explain=True, and with the phrase-based HMM or a model")
        return Table(Rows(_REASON_COLUMNS, list(self._reasons())), notes=self.notes)

    def _reasons(self) -> Iterator[tuple[object, ...]]:
        pair = self._view.pair
        for reason in self._view.reasons():
            other = reason.rival
            if reason.link is None and other is not None:  # looked up; the links that it could have follow
                continue
            rival = (None, None) if other is None else (pair.document[other.document], other.posterior)
            known = reason.number, reason.abstract + 1, pair.abstract[reason.abstract]
            if reason.link is None:
                yield (*known, *[None] * 6, *rival, reason.null)
                continue
            link = reason.link
            weights = {f"{feature}: {value}": weight for feature, value, weight in link.weights}
            made = link.posterior, list(link.directions), dict(link.shares), weights
            yield (*known, link.document + 1, pair.document[link.document], *made, *rival, reason.null)

    def pharaoh(self) -> str:
        """Return the links as ``i-j``: document word and abstract word, from 0."""
        return self._view.alignment.pharaoh()

    def html(self) -> str:
        """Return a page with both texts that stands alone."""
        return page(self._view, title="Aligned texts", model=f"Aligned by {self._model}")

    def _repr_html_(self) -> str:
        # Ids are distinct among alignments in a notebook, and the same when the notebook is run again.
        texts = repr((self._view.pair, self.pharaoh(), self._model)).encode()
        shown = fragment(self._view, prefix=f"a{crc32(texts):08x}{next(_SHOWN):x}-")
        return f"<style>{notebook_style()}</style>{shown}<script>{script()}</script>"


class CheckedSummary(Table):
    """A row a verb argument of a summary, and what supports it; of texts without trees, a row a word."""

    def __init__(self, check: SupportCheck) -> None:
        super().__init__(check.table(), notes=[*check.figures(), *check.notes])
        self._check = check

    @property
    def claims(self) -> list[Claim]:
        """The verb arguments, in the order of the summary."""
        return list(self._check.claims)

    @property
    def supported(self) -> int:
        """How many have support."""
        return self._check.supported

    @property
    def precision(self) -> float | None:
        """The share that has support; none of a summary without verb arguments, or without trees."""
        return self._check.precision

    @property
    def words(self) -> Table:
        """A row a word: its state, what stands there in the source, in which of its sentences, and why."""
        return Table(self._check.word_table(), notes=self.notes)


def align(
    session: StoreSession, document: str | Path, abstract: str | Path, options: AlignOptions
) -> AlignedTexts:
    """Align two texts, with a model of the store if one is named."""
    given: dict[str, object] = {**options}
    form = options.get("format")
    given.pop("format", None)
    with (
        session.read() as store,
        as_file(document, "document") as first,
        as_file(abstract, "abstract") as second,
    ):
        choice = declare(Choice, given)
        budget = Budget.of_limit(session.memory, share=_SHARE)
        aligner, name = choice.aligner(lambda: store, budget=budget)
        with steps("aligning"):
            view = align_texts(first, second, aligner, form=form, budget=budget)
        return AlignedTexts(view, name, choice.notes([view.alignment]), explain=choice.explain)


def check(
    session: StoreSession, summary: str | Path, against: str | Path, options: CheckOptions
) -> CheckedSummary:
    """Check which words and verb arguments of a summary have support in its sources."""
    with as_file(summary, "summary") as first, as_file(against, "against") as second:
        given: dict[str, object] = {**options, "summary": first, "against": second}
        given.pop("parser", None)
        parser = parser_of(options.get("parser"))
        limits = WordLimits(Budget.of_limit(session.memory, share=_SHARE))
        checked = declare(CheckRequest, given).check(parser, limits=limits)
    # As for errors, without the path of a temporary file.
    texts = {first: "summary"} if isinstance(summary, str) else {}
    texts |= {second: "against"} if isinstance(against, str) else {}
    for path, name in texts.items():
        checked = replace(checked, notes=[note.replace(path, name) for note in checked.notes])
    return CheckedSummary(checked)


def parser_of(name: str | None) -> Parser | None:
    """Return the parser of a name, if there is one."""
    return None if name is None else open_parser(name)


def train_alignment(session: StoreSession, pairs: str, model: str, options: TrainOptions) -> None:
    """Train a model on pairs, iteration by iteration."""
    given: dict[str, Any] = {**options}
    chosen = {name: given.pop(name) for name in _SETTINGS if name in given}
    if isinstance(chosen.get("setting"), str):
        chosen["setting"] = [chosen["setting"]]
    settings = PbhmmSettings.for_training(**chosen)
    plan = replace(declare(TrainingPlan, given), memory=session.memory)
    directions = DIRECTIONS if settings.both else DIRECTIONS[:1]
    with session.write() as store, training_bar(plan.iterations, directions) as report:
        for _ in train_model(store, pairs, _require_name(model), settings, plan, progress=report):
            pass


def tune_alignment(session: StoreSession, name: str, gold: str | Path, options: TuneOptions) -> Table:
    """Tune a model on links that people drew."""
    plan_names = {part.name for part in parameters_of(TuningPlan)}
    given: dict[str, Any] = {**options}
    plan = declare(TuningPlan, {key: given.pop(key) for key in plan_names & given.keys()})
    with session.write() as store, counting_bars() as report:
        examples = declare(GoldPairs, {**given, "gold": str(gold)}).examples()
        budget = Budget.to_align(session.memory, with_store=True)
        source = Path(gold).name
        made = tune_model(store, _require_name(name), examples, source, plan, budget=budget, progress=report)
    rows = [
        (direction, part.iterations, decimal(part.before), decimal(part.after), part.seconds)
        for direction, part in zip(DIRECTIONS, made.directions, strict=True)
    ]
    return Table(Rows(_TUNED_COLUMNS, [(*row, made.settings.threshold) for row in rows]))


def align_pairs(
    session: StoreSession, pairs: str, model: str | None, options: ApplyOptions
) -> ApplicationSummary:
    """Align a corpus of pairs."""
    with session.write() as store, counting_bar("pairs") as report:
        choice = declare(Choice, {**options, "model": model})
        with store.begin():  # for writing before pairs are read, as batches are stored during the reading
            pass
        budget = Budget.to_align(session.memory, with_store=True)
        return choice.apply(store, pairs, budget=budget, progress=report)


def _require_name(name: str) -> str:
    if not name.strip():
        raise InputError("a model needs a name; give one, such as news")
    return name
