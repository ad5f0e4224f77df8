"""Verb arguments of outputs and originals by a parser, of which each sentence is parsed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
import toy_store
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.parsers import GoldParser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.regeneration.measures import verb_argument_figures
from sentgen.evaluation.regeneration.report import RegenerationReport
from sentgen.generation import RegeneratedSentence, Unit
from sentgen.generation.regenerate import Gold
from sentgen.schema import Store


class VerbsGovern:
    """A parser of made-up words: those with `v` are verbs; other words hang on the nearest verb to the left."""

    name, version = "near", "1"

    def __init__(self) -> None:
        self.parsed: list[Sequence[str]] = []

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        raise NotImplementedError

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        self.parsed += sentences
        for words in sentences:
            heads, verb = [], 0
            for place, word in enumerate(words, 1):
                heads.append(verb or (place - 1))
                verb = place if word.startswith("v") else verb
            tags = ["VERB" if word.startswith("v") else "NOUN" for word in words]
            yield Sentence(list(words), upos=tags, heads=heads)


def answered(*texts: str) -> list[RegeneratedSentence]:
    """Return answers that are these sentences."""

    def answer(text: str) -> RegeneratedSentence:
        units = tuple(Unit((word,)) for word in text.split())
        return RegeneratedSentence(1, 1, units, None, units, 0.0, None, 0.0, 0, 0, 0.0, 0.0)

    return [answer(text) for text in texts]


def cases(*texts: str) -> list[Gold]:
    return [Gold(tuple(Unit((word,)) for word in text.split())) for text in texts]


def test_figure_by_hand() -> None:
    """Two sentences; repeated relations match repeatedly, and each sentence is parsed once.

    Originals: v1 governs a, b and a (four words, three arguments), v2 governs c. Outputs: "a v1 b a" has v1-b and
    v1-a, both of the original; "c v2" has none. 2 * 2 / (2 + 3 + 0 + 1) = 2/3.
    """
    parser = VerbsGovern()
    found = verb_argument_figures(
        {"one": answered("a v1 b a", "c v2"), "same": answered("v1 a b a", "v2 c")},
        cases("v1 a b a", "v2 c"),
        parser,
    )

    assert found["one"].value == pytest.approx(2 / 3)
    assert found["same"].value == 1
    assert found["one"].signature == "verb arguments, F1|word:form|case:lc|parser:near@1|sentences:2/2"
    assert sorted(parser.parsed) == parser.parsed
    assert len(parser.parsed) == 4


def test_order_matters() -> None:
    """A word on the other side of its verb is another argument."""

    class Always(VerbsGovern):
        def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
            for words in sentences:
                verb = words.index("v") + 1
                heads = [0 if place == verb else verb for place in range(1, len(words) + 1)]
                tags = ["VERB" if place == verb else "NOUN" for place in range(1, len(words) + 1)]
                yield Sentence(list(words), upos=tags, heads=heads)

    figure = verb_argument_figures({"s": answered("b v a")}, cases("a v b"), Always())

    assert figure["s"].value == 0


def test_sentences_without_verbs_say_nothing() -> None:
    """Sentences without verbs do not count; if no sentence has one, there is no figure."""
    found = verb_argument_figures({"s": answered("b a", "v a", "")}, cases("a b", "v a", ""), VerbsGovern())

    assert found["s"].value == 1
    assert found["s"].signature.endswith("sentences:1/3")
    assert verb_argument_figures({"s": answered("b a")}, cases("a b"), VerbsGovern()) == {}


@given(st.lists(st.permutations(["v1", "v2", "a", "b", "a"]), min_size=1, max_size=4))
def test_it_is_a_share_and_one_for_the_original(sentences: list[list[str]]) -> None:
    texts = [" ".join(words) for words in sentences]
    found = verb_argument_figures(
        {"same": answered(*texts), "back": answered(*(" ".join(words[::-1]) for words in sentences))},
        cases(*texts),
        VerbsGovern(),
    )

    for name, figure in found.items():
        assert 0 <= figure.value <= 1
        assert figure.value == 1 or name == "back"


Toy = tuple[Store, toy_store.ToyModel]


def test_a_run_with_a_parser(toy: Toy) -> None:
    """The figure has an interval, and report and record name the parser."""
    test = [Sentence(["a", "vat", "sees", "the", "mat"])]
    result = evaluate_regeneration(*toy, test, ["lmo"], parser=VerbsGovern())
    (system,) = result.systems

    low, high = system.intervals["verb-arguments"].low, system.intervals["verb-arguments"].high
    assert low <= system.value("verb-arguments") <= high
    assert result.parameters["parser"] == "near@1"
    assert "verb arguments, %" in RegenerationReport(result).report().shown["figures"].columns
    assert "verb-arguments" not in evaluate_regeneration(*toy, test, ["lmo"]).systems[0].measurements


def test_a_parser_that_parses_nothing(toy: Toy) -> None:
    with pytest.raises(InputError, match="no tree here"):
        evaluate_regeneration(*toy, [Sentence(["a", "dog"])], ["lmo"], parser=GoldParser())
