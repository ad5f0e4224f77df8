"""Ends of sentences: quotes and brackets neither end a sentence nor hide an end."""

from __future__ import annotations

import textwrap
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sentgen.corpus.readers import text
from sentgen.corpus.readers.text import split_sentences
from sentgen.corpus.sentence import Sentence

#: Words of a sentence before its full stop, with signs that come in pairs or alone.
PLAIN = (
    "The guard waved",
    "A man got out",
    "It cost $3.88 at 5.30",
    "Dr. Smith's dogs' bowls fell",
    "Nobody knew",
)
SIGNS = (
    '"{}."',
    "“{}.”",
    "‘{}.’",
    "'{}.'",
    "({}.)",
    "[{}.]",
    "«{}.»",
    '5" {}.',
    "{}.",
    "({}.",
    '"{}.',
    "{}.”",
    "{}?",
)


def sentences(given: str, language: str = "en") -> list[str]:
    return [sentence for _, sentence in split_sentences(given, language)]


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ['He said: "It is so.', "I saw it.", 'Go."', "Then he left."]),
        ("en", ["They met (on a Monday.", "It rained.) and left."]),
        ("en", ["They met (on a Monday.", "It rained.)", "They left."]),
        ("en", ['A 5" pipe burst.', 'It was a 7" pipe.', "It was mended."]),
        ("en", ["The dogs' bowls fell.", "The cats' did, too.", "'Oh,' he said."]),
        ("en", ['"Really?" he asked.', '"No!"', "He left."]),
        ("en", ['He said "no".', "Then he left (for the U.S.).", "It was so."]),
        ("en", ["J.\u00a0R.\u00a0Smith came.", "It was p.\u00a05."]),
        ("en", ["It was told before.[12]", "Others say so, too.[3][4]", "They do."]),
        ("en", ["1. The beginning was good.", "It went on."]),
        ("en", ["He fell.", "“Help!", "Where are you?”", "(He was ill.)", "‘Go.’"]),
        ("fr", ["« Oui !", "Non. » dit-il.", "M. Dupont part."]),
        ("fr", ["« Oui ! »", "Il part.", "« Non. »"]),
        ("de", ["„Ja.", "Nein!“, sagte er.", "»Gut.«", "Er ging am 3. Mai."]),
        ("es", ["«¿Qué?", "No sé.»", "¡Vete!"]),
        ("ru", ["«Это так.", "И вот».", "Да."]),
        ("ar", ["قال: «نعم.", "لا.»", "ثم ذهب."]),
    ],
)
def test_sentences_end_inside_of_quotes_and_brackets(language: str, parts: list[str]) -> None:
    """A closing sign belongs to the sentence before it, an opening one to the next sentence."""
    assert sentences(" ".join(parts), language) == parts


def test_scripts_without_blanks() -> None:
    """Quotes and brackets of theirs, too."""
    assert sentences("他说：“好。走吧。”我走了。（他来了。）", "zh") == [
        "他说：“好。",
        "走吧。”",
        "我走了。",
        "（他来了。）",
    ]
    assert sentences("「はい。行きます。」彼は来た。", "ja") == ["「はい。", "行きます。」", "彼は来た。"]


SIGNED = st.builds(lambda sign, words: sign.format(words), st.sampled_from(SIGNS), st.sampled_from(PLAIN))


@given(st.lists(SIGNED, min_size=1, max_size=12))
def test_each_is_found_whatever_signs_stand_around(parts: list[str]) -> None:
    """Balanced or not."""
    assert sentences(" ".join(parts)) == parts


@given(
    st.lists(
        st.sampled_from([*".!?\"'()[]“”‘’«»。 \t\n\u00a0\u2028aB1é", "Mr.", "J.", "[1]", "No.", "U.S."]),
        max_size=40,
    ),
    st.sampled_from(["en", "fr", "de", "zh", "hi", "xx"]),
)
def test_no_character_is_lost_and_none_comes_twice(pieces: list[str], language: str) -> None:
    """Sentences with their offsets are the whole text without the blanks between them."""
    given = "".join(pieces)
    found = list(split_sentences(given, language))

    assert "".join("".join(one.split()) for _, one in found) == "".join(given.split())
    assert all(given.startswith(one, place) and one == one.strip() for place, one in found)


@given(st.lists(SIGNED, min_size=8, max_size=16), st.integers(40, 100))
def test_wrapped_text_has_the_sentences_of_its_paragraphs(parts: list[str], width: int) -> None:
    """Whatever the width, and so do its tokens."""
    paragraphs = [" ".join(parts[:5]), " ".join(parts[5:])]
    wrapped = "\n\n".join(textwrap.fill(one, width, break_on_hyphens=False) for one in paragraphs).split("\n")
    assume(sum(1 for _ in text.read_raw(wrapped, path="x")) == len(paragraphs))

    assert _tokens(wrapped) == _tokens(paragraphs)


def _tokens(lines: list[str]) -> list[list[str]]:
    return [one.forms for one in text.read(lines, path="x") if isinstance(one, Sentence)]


@pytest.mark.parametrize(
    "repeated", ['He said: "It is (so. ', "我喜欢狗。", '"', "(", '." ', "a.", "A man (he. ", "a' "]
)
def test_time_is_linear(repeated: str) -> None:
    """Also in what takes the segmenter quadratic time: ten times as much takes no more than thirty times as long."""
    times = []
    for size in (10_000, 100_000):
        written = repeated * (size // len(repeated))
        began = time.process_time()
        sum(1 for _ in split_sentences(written, "en"))
        times.append(time.process_time() - began)

    assert times[1] < 30 * times[0] + 0.2


def test_windows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences do not depend on the windows in which the text is segmented."""
    written = " ".join(sign.format(words) for sign in SIGNS for words in PLAIN)
    whole = sentences(written * 3)
    for size in range(300, 340):
        monkeypatch.setattr("sentgen.corpus.readers.text._WINDOW", size)
        monkeypatch.setattr("sentgen.corpus.readers.text._AHEAD", 100)

        assert sentences(written * 3) == whole


def test_a_long_paragraph_is_cut_behind_a_sentence() -> None:
    """A sentence is not cut in two."""
    lines = [*["He was there and saw the whole of it while others", "did not. They went home."] * 6_000]
    found = [one.text for one in text.read(lines, path="x") if isinstance(one, Sentence)]

    assert len(found) == 12_000
    assert set(found[::2]) == {"He was there and saw the whole of it while others did not."}
