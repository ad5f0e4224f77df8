"""A document and an abstract as texts: read, aligned, and written as JSON or in the format of Pharaoh."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

from sentgen.alignment.pairs.alignment import Aligner, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.systems import ensure_fits
from sentgen.alignment.view.view import PairView, SentenceSource, places_of
from sentgen.alignment.words.states import WordState
from sentgen.corpus.pair_readers import PairFile, PairSettings
from sentgen.corpus.paths import expand
from sentgen.corpus.reading import sentences_of
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, Rejection
from sentgen.output.display import decimal
from sentgen.output.tabular import jsonable


def read_pairs(*paths: str, settings: PairSettings | None = None) -> Iterator[Pair]:
    """Yield the pairs of files, as `sentgen pairs ingest` would store them.

    Args:
        paths: JSON Lines, two parallel files, a folder, or CoNLL-U; see `sentgen.corpus.pair_readers`.
        settings: how pairs are found and how texts become words.

    Raises:
        InputError: something is wrong with a file, with file and line.
    """
    settings = settings or PairSettings()
    for file in PairFile.of_paths(paths):
        for raw in file.read(settings):
            pair = raw if isinstance(raw, Rejection) else raw.tokenize(settings)
            if isinstance(pair, Rejection):
                raise pair.as_error("pair")
            yield Pair.of_sentences(pair.key, pair.document, pair.abstract)


#: Version of the objects of `as_json`: one more when a key is added, removed or changes its meaning.
JSON_VERSION = 2


def align_texts(
    document: str, abstract: str, aligner: Aligner, *, form: str | None = None, budget: Budget = UNBOUNDED
) -> PairView:
    """Align two texts and return their alignment with what is needed to show it.

    Args:
        document: a file, a folder, an archive or standard input, as `sentgen ingest` reads it.
        abstract: the abstract, read in the same way.
        aligner: the aligner.
        form: the format of both; detected if not given.
        budget: memory for aligning.

    Raises:
        InputError: there is no such file or format, a sentence is broken, or there are no words.
        MemoryLimitError: the aligner takes more memory than the budget has.
    """
    documents, abstracts = (read_sentences(path, form=form) for path in (document, abstract))
    pair = Pair.of_sentences("", documents, abstracts)
    ensure_fits(aligner.name, pair, budget)
    (alignment,) = aligner.align([pair])
    return PairView.make(
        pair,
        alignment,
        document_spaces=list(_spaces(documents)),
        abstract_spaces=list(_spaces(abstracts)),
    )


def read_sentences(path: str, *, form: str | None = None) -> list[Sentence]:
    """Return the sentences of a file, a folder, an archive or standard input.

    Raises:
        InputError: there is no such file or format, a sentence is broken, or there are no words.
    """
    sentences = list(sentences_of(expand([path]), form=form))
    if not sentences:
        raise InputError("has no words to align", path=path)
    return sentences


def as_json(shown: PairView, *, model: str, explain: bool = False) -> dict[str, object]:
    """Return an alignment as a JSON object; offsets count words from 0, spans exclude their end.

    `json_schema` describes the object; ``model`` is the name of the aligner or model. With ``explain`` it has
    ``reasons``, which are null where the aligner has no posteriors.
    """
    pair, alignment = shown.pair, shown.alignment
    numbers = {phrase: block.number for block in shown.blocks for phrase in block.phrases}
    result: dict[str, object] = {
        "version": JSON_VERSION,
        "model": model,
        "document": pair.document,
        "abstract": pair.abstract,
        "document_starts": pair.document_starts,
        "abstract_starts": pair.abstract_starts,
        "phrases": [asdict(phrase) | {"phrase": numbers.get(phrase)} for phrase in alignment.phrases],
        "words": [_word(state) for state in shown.states],
        "sentences": [
            {"words": words, "from": [asdict(state) for state in sources]}
            for words, sources in SentenceSource.of_pair(pair, shown.states)
        ],
        "new": places_of("new", shown.states),
        "null": alignment.null,
        "logp": alignment.logp,
        "log10": None if alignment.logp is None else decimal(alignment.logp),
        "figures": asdict(shown.figures),
    }
    if explain:
        result["reasons"] = _reasons(shown)
    return {name: jsonable(value) for name, value in result.items()}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the object that `as_json` returns."""
    text = resources.files("sentgen.alignment.view").joinpath("align-text.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _word(state: WordState) -> dict[str, object]:
    return {
        "word": state.word,
        "state": state.state,
        "from": state.source,
        "posterior": state.posterior,
        "p_null": state.null,
        "why": state.why,
        "elsewhere": state.elsewhere,
    }


def _reasons(shown: PairView) -> dict[str, object] | None:
    """Return the candidate links, each with its shares and its runner-up."""
    weighed = shown.alignment.weighed
    if weighed is None:
        return None
    links = [
        {
            "abstract": link.abstract,
            "document": link.document,
            "posterior": link.posterior,
            "chosen": reason.chosen,
            "phrase": reason.number,
            "directions": link.directions,
            "shares": dict(link.shares),
            "weights": [
                {"feature": feature, "value": value, "weight": weight}
                for feature, value, weight in link.weights
            ],
            "runner_up": None
            if reason.rival is None
            else {"document": reason.rival.document, "posterior": reason.rival.posterior},
        }
        for reason in shown.reasons()
        if (link := reason.link) is not None
    ]
    return {"floor": weighed.floor, "threshold": weighed.threshold, "links": links}


def _spaces(sentences: Sequence[Sentence]) -> Iterator[bool]:
    """Yield for each word whether a blank follows it; at the end of a sentence it always does."""
    for sentence in sentences:
        spaces = sentence.space_after or [True] * len(sentence.forms)
        yield from (*spaces[:-1], True)
