"""Names and their short forms in two texts, and words that are names by their writing."""

from __future__ import annotations

import gzip
import json
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment.words.names import FirstLetters, lower_words, name_like, same_names
from sentgen.corpus.tokenizer import tokenize


def found(abstract: str, document: str) -> list[tuple[str, str]]:
    """Return the names of abstract and document that are the same."""
    left, right = tokenize(abstract), tokenize(document)
    return [
        (" ".join(left[slice(*one)]), " ".join(right[slice(*other)]))
        for one, other in same_names(left, right)
    ]


@pytest.mark.parametrize(
    ("abstract", "document", "names"),
    [
        # In brackets, in either order, in either text, by initials or other letters.
        ("IBM hired.", "International Business Machines (IBM) did.", [("IBM", "International Business Machines")]),
        ("IBM hired.", "IBM (International Business Machines) did.", [("IBM", "International Business Machines")]),
        ("We use LSTMs.", "A long short-term memory (LSTM) is used.", [("LSTMs", "long short-term memory"), ("LSTMs", "LSTM")]),
        ("We use a long short-term memory.", "A long short-term memory (LSTM). An LSTM!", [("long short-term memory", "LSTM")] * 2),
        ("Hydrogen chloride (HCL) is bad.", "HCL is bad.", [("Hydrogen chloride", "HCL")]),
        ("GANs are nets.", "A generative adversarial network (GAN) is a net.", [("GANs", "generative adversarial network"), ("GANs", "GAN")]),
        ("Adversarial network. Generative adversarial networks!", "A generative adversarial network (GAN).", [("Generative adversarial networks", "GAN")]),
        # In lower case, where so short a text has no such words by chance.
        ("CNNs are nets.", "We train convolutional neural networks.", [("CNNs", "convolutional neural networks")]),
        ("AI is nice.", "We train an automatic investor.", []),
        ("CNNs are nets.", "We train convolutional, neural networks.", []),
        # By the initials of a name in capitals, with and without those of function words.
        ("The DOJ sued.", "The Department of Justice sued.", [("DOJ", "Department of Justice")]),
        ("The Voice of America said so.", "VOA said so.", [("Voice of America", "VOA")]),
        ("The ran dog.", "RD is a rich dog.", []),
        # An ambiguous short form matches nothing, unless the text explains it.
        ("MS is large.", "Mary Smith and Micro Soft are large.", []),
        ("MS is large.", "Mary Smith of Micro Soft (MS) is large.", [("MS", "Micro Soft")]),
        # Short forms of our own list.
        ("In the US.", "In the United States of America.", [("US", "United States of America")]),
        ("In the United States.", "In the U.S. of late.", [("United States", "U.S.")]),
        ("UK and Britain", "The United Kingdom", [("UK", "United Kingdom"), ("Britain", "United Kingdom")]),
        ("They told us.", "In the United States it is hot.", []),
        ("Is it IT?", "It is Information Technology.", [("IT", "Information Technology")]),
        # The same name is not written otherwise.
        ("The LHC ran.", "The LHC ran.", []),
        # Without case, names are found by brackets and by our own list.
        ("the voa said so", "the voice of america ( voa ) said so", [("voa", "voice of america")]),
        ("the voa said so", "the voice of america said so", []),
        ("in the united states", "the usa won", [("united states", "usa")]),
        ("the cat ( left )", "left", []),
        ("", "IBM", []),
    ],
)  # fmt: skip
def test_names_written_otherwise(abstract: str, document: str, names: list[tuple[str, str]]) -> None:
    """Other spellings of names are found in both directions."""
    assert found(abstract, document) == names
    assert sorted(found(document, abstract)) == sorted((other, one) for one, other in names)


def test_initials_of_words_without_punctuation() -> None:
    """A punctuation mark between the words prevents initials."""
    text = FirstLetters(["the", "(", "European", "Union", "of", ",", "States"])

    assert text.spelled_out("eu") == [(2, 3)]
    assert text.spelled_out("euo") == [(2, 3, 4)]
    assert text.spelled_out("us") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The firm hired Berlin engineers. Paris hired them.", ["Berlin", "Paris"]),
        ("Engineers of Berlin left. The engineers came.", ["Berlin"]),
        ('She said: "Dogs bark." The dogs of IBM bark.', ["IBM"]),
        ("THE RESULTS: the results of IBM and the US", ["IBM", "US"]),
        ("I think He knows", []),
        ("BERLIN HIRED ENGINEERS", []),
        ("berlin hired engineers", []),
    ],
)
def test_words_that_are_names(text: str, names: list[str]) -> None:
    """A capital makes a name, unless it begins a sentence, or the text is all in capitals or in none."""
    words = tokenize(text)
    lower = lower_words(words)

    assert [word for place, word in enumerate(words) if name_like(words, place, lower)] == names


WORDS = (
    "( ) [ ] IBM US us U.S. United States of America america the LSTM long-short-term memory . , A I usa s"
)
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=9)


@given(TEXTS, TEXTS)
def test_spans_lie_in_the_texts_and_are_exchanged_with_them(abstract: list[str], document: list[str]) -> None:
    """Spans are within the texts for any words; of nested names the longer one counts."""
    names = same_names(abstract, document)
    sides = {one for one, _ in names}, {other for _, other in names}

    assert sorted((other, one) for one, other in same_names(document, abstract)) == names
    for spans, words in zip(sides, (abstract, document), strict=True):
        assert all(0 <= start < end <= len(words) for start, end in spans)
        assert all(
            one == other or one[1] <= other[0] or other[1] <= one[0] for one, other in product(spans, spans)
        )


@pytest.mark.data
def test_short_forms_in_real_texts(data_dir: Path) -> None:
    """In a tenth of the papers, the summary has another form of a name in brackets, never a long one."""
    with gzip.open(data_dir / "pairs" / "scitldr-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in islice(lines, 150)]
    pairs = [(tokenize(one["target"][0]), tokenize(" ".join(one["source"]))) for one in papers]
    names = [same_names(*pair) for pair in pairs]

    assert sum(map(bool, names)) > 15
    assert all(end - start < 8 for one in names for spans in one for start, end in spans)
