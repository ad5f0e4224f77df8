"""The benchmark of planted changes plants what it says: one change a sentence, all other words copied."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sentgen.alignment.words.states import WordState
from sentgen.corpus.sentence import Sentence

#: A sentence a line; of each word its form, parts of speech, head and relation.
TEXT = """
The|DET|DT|2|det firm|NOUN|NN|5|nsubj did|AUX|VBD|5|aux not|PART|RB|5|advmod hire|VERB|VB|0|root \
twelve|NUM|CD|8|nummod new|ADJ|JJ|8|amod men|NOUN|NNS|5|obj on|ADP|IN|10|case Monday|PROPN|NNP|5|obl .|PUNCT|.|5|punct
Anna|PROPN|NNP|2|nsubj sold|VERB|VBD|0|root forty|NUM|CD|5|nummod old|ADJ|JJ|5|amod trucks|NOUN|NNS|2|obj \
to|ADP|IN|8|case a|DET|DT|8|det bank|NOUN|NN|2|obl on|ADP|IN|10|case Friday|PROPN|NNP|2|obl .|PUNCT|.|2|punct
The|DET|DT|2|det driver|NOUN|NN|4|nsubj has|AUX|VBZ|4|aux seen|VERB|VBN|0|root a|DET|DT|7|det \
small|ADJ|JJ|7|amod house|NOUN|NN|4|obj near|ADP|IN|9|case Paris|PROPN|NNP|4|obl .|PUNCT|.|4|punct
Now|ADV|RB|4|advmod the|DET|DT|3|det river|NOUN|NN|4|nsubj left|VERB|VBD|0|root its|PRON|PRP$|6|nmod:poss \
bed|NOUN|NN|4|obj again|ADV|RB|4|advmod .|PUNCT|.|4|punct
"""
OTHER = """
Seven|NUM|CD|3|nummod large|ADJ|JJ|3|amod ships|NOUN|NNS|4|nsubj reached|VERB|VBD|0|root the|DET|DT|6|det \
port|NOUN|NN|4|obj of|ADP|IN|8|case Berlin|PROPN|NNP|6|nmod .|PUNCT|.|4|punct
"""
ADVERBIAL = """
In|ADP|IN|2|case June|PROPN|NNP|6|obl ,|PUNCT|,|6|punct a|DET|DT|5|det fire|NOUN|NN|6|nsubj broke|VERB|VBD|0|root \
out|ADP|RP|6|compound:prt at|ADP|IN|10|case the|DET|DT|10|det port|NOUN|NN|6|obl .|PUNCT|.|6|punct
"""
#: Words and their replacements; other words are replaced by any of their kind.
SAME = {
    "number": {("twelve", "forty"), ("twelve", "40"), ("forty", "twelve"), ("forty", "12")},
    "name": {("Anna", "Paris"), ("Paris", "Anna")},
    "date": {("Monday", "Friday"), ("Friday", "Monday")},
}
SINGULAR, PLURAL = {"firm", "bank", "driver", "house", "river", "bed"}, {"men", "trucks"}
ANOTHER = {
    "number": {"Seven", "seven", "7"},
    "name": {"Berlin"},
    "noun": {"ships", "port"},
    "verb": {"reached"},
}


@pytest.fixture(scope="module")
def benchmark() -> Iterator[Any]:
    """The names in the modules of the benchmark."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    names = "planted_changes", "planted_report", "planted_rewordings", "planted_texts", "planting"
    modules = [vars(importlib.import_module(name)) for name in names]
    yield SimpleNamespace(**{name: value for module in modules for name, value in module.items()})
    sys.path.remove(folder)


def sentences(text: str) -> tuple[Sentence, ...]:
    found = []
    for line in text.strip().splitlines():
        forms, upos, xpos, heads, deprels = zip(*(word.split("|") for word in line.split()), strict=True)
        sentence = Sentence(list(forms), [form.lower() for form in forms], list(upos), list(xpos))
        sentence.heads, sentence.deprels = [int(head) for head in heads], list(deprels)
        found.append(sentence)
    return tuple(found)


@pytest.fixture(scope="module")
def planter(benchmark: Any) -> Any:
    return planter_of(benchmark, seed=1)


def planter_of(benchmark: Any, *, seed: int) -> Any:
    texts = [benchmark.Text(str(number), sentences(text)) for number, text in enumerate((TEXT, OTHER))]
    return benchmark.Planter(texts, wordnet=None, seed=seed)


def planted(planter: Any) -> list[Any]:
    """Return the changed sentences of all summaries of the first text."""
    found = [one for summary in planter.summaries(0) for one in summary.sentences]
    return [one for one in found if one.kind != "verbatim"]


def test_each_kind_is_planted_once(benchmark: Any) -> None:
    """Each kind has a change by a word of the same document and one by a word of another, for any seed."""
    kinds = [
        (kind, origin)
        for kind in ("number", "name", "date", "noun", "verb", "adjective")
        for origin in ("same", "another")
    ]
    kinds += [("polarity", "put in"), ("polarity", "taken out"), ("swapped", "")]
    for seed in range(5):
        changes = planted(planter_of(benchmark, seed=seed))
        by_kind = {(one.kind, one.origin): (one.before, one.after) for one in changes}

        assert sorted((one.kind, one.origin) for one in changes) == sorted(kinds)
        assert all(by_kind[kind, "same"] in words for kind, words in SAME.items())
        assert any(set(by_kind["noun", "same"]) <= nouns for nouns in (SINGULAR, PLURAL))
        assert all(by_kind[kind, "another"][1] in words for kind, words in ANOTHER.items())
        assert by_kind["date", "another"][1].endswith("day")
        assert by_kind["polarity", "put in"] == ("", "not")
        assert by_kind["polarity", "taken out"] == ("not", "")
        assert set(by_kind["swapped", ""]) in (
            {"firm", "men"},
            {"Anna", "trucks"},
            {"driver", "house"},
            {"river", "bed"},
        )


def test_all_other_words_are_copied(planter: Any) -> None:
    """Without the new words, a sentence is the document sentence without the replaced words."""
    for one in planted(planter):
        forms = planter.texts[0].sentences[one.sentence].forms
        copied = [word for word in one.words if word.source is not None]
        gone = [form for at, form in enumerate(forms) if at not in {word.source for word in copied}]

        assert [word.form for word in copied] == [forms[word.source] for word in copied]
        assert [word.source for word in copied] == sorted({word.source for word in copied})
        put = [word.form for word in one.words if word.source is None]
        if one.kind == "swapped":
            assert [one.after.lower(), one.before.lower()] == [form.lower() for form in put]
            assert gone == [one.before, one.after]
        else:
            assert (" ".join(gone), " ".join(put)) == (one.before, one.after)


def test_a_summary_has_a_copy_beside_three_changes(planter: Any) -> None:
    """No sentence of a document is twice in a summary, and one is there without a change if any is left."""
    for summary in planter.summaries(0):
        places = [one.sentence for one in summary.sentences]

        assert places == sorted(set(places))
        assert [one.kind for one in summary.sentences].count("verbatim") == 1
        assert len(summary.pair("").abstract) == sum(len(one.words) for one in summary.sentences)


def test_a_seed_always_plants_the_same(benchmark: Any, planter: Any) -> None:
    """The same seed gives the same summaries, whatever kinds are asked for; another seed gives others."""
    again = planter_of(benchmark, seed=1)
    nouns = [one for summary in again.summaries(0, ["noun"]) for one in summary.sentences]

    assert planter_of(benchmark, seed=1).summaries(0) == planter.summaries(0)
    assert planter_of(benchmark, seed=2).summaries(0) != planter.summaries(0)
    assert all(one in planted(planter) for one in nouns if one.kind == "noun")


def test_synonyms_are_left_out(benchmark: Any) -> None:
    """A synonym is not planted as a change, but counted."""
    text = "The|DET|DT|2|det {}|NOUN|NN|3|nsubj {}|VERB|VBZ|0|root in|ADP|IN|6|case the|DET|DT|6|det yard|NOUN|NNS|3|obl .|PUNCT|.|3|punct"
    both = "\n".join(text.format(*words) for words in (("race", "starts"), ("film", "begins")))
    planter = benchmark.Planter([benchmark.Text("", sentences(both))], wordnet=None)

    assert not planter.summaries(0, ["verb"])
    assert planter.drawn["verb", "synonym"] == 2


def test_rewording_keeps_the_change(benchmark: Any, planter: Any) -> None:
    """Clauses are cut off the ends, function words change; the words of the change stay, and no copy changes."""
    for summary in planter.summaries(0):
        for one, other in zip(summary.sentences, benchmark.reworded(summary).sentences, strict=True):
            forms = planter.texts[0].sentences[one.sentence].forms

            assert [w.form.lower() for w in one.words if w.mark] == [
                w.form.lower() for w in other.words if w.mark not in ("", "reworded")
            ]
            for word in other.words:
                assert word.source is None or word.form.lower() == forms[word.source].lower()


def test_adverbials_are_cut_off(benchmark: Any) -> None:
    """An adverbial at the beginning goes with its comma, one at the end as a whole."""
    text = benchmark.Text("", sentences(ADVERBIAL))
    copy = benchmark.verbatim(text, 0)
    (reworded,) = benchmark.reworded(benchmark.Summary(text, (copy,))).sentences

    told = " ".join(word.form for word in reworded.words)
    assert told in ("A fire broke out .", "The fire broke out .")


def test_told_words_are_counted(benchmark: Any, planter: Any) -> None:
    """A change is found if one of its words is reported; reported words without a change are false alarms."""
    change = next(one for one in planted(planter) if one.kind == "number")
    place = next(at for at, word in enumerate(change.words) if word.mark == "put")
    states = [WordState(word.form, "same") for word in change.words]

    assert (benchmark.shown(change, states), benchmark.accused(change, states)) == ("", [])
    states[place] = WordState("", "changed")
    states[0] = WordState("", "new")
    expected = [] if place == 0 else [0]
    assert (benchmark.shown(change, states), benchmark.accused(change, states)) == ("changed", expected)
