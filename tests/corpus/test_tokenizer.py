"""The words of raw text, compared with those of NLTK, and straight signs with curly ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from sentgen.corpus.tokenizer import tokenize
from sentgen.corpus.word_breaks import split_words

PIECES = [
    *(
        "'s",
        "n't",
        "'LL",
        "'re ",
        "d'",
        "cannot",
        "gimme",
        "Gonna",
        "wanna ",
        "d'ye",
        "more'n",
        "lemme",
    ),
    *("''", "``", "--", "...", "..", "U.S.", "3,4", "10:30", "\u00a0", "é", "ß"),
    *" \t\n\"'`.,:;!?()[]{}<>*-–—«»“”„@#$%&aB1",
]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Mr. Smith isn't here.", "Mr. Smith is n't here ."),
        ('He said "go" (and "stay").', 'He said " go " ( and " stay " ) .'),
        ("They'd paid $3.88, or 3,36 euros: 5% at 10:30.", "They 'd paid $ 3.88 , or 3,36 euros : 5 % at 10:30 ."),
        ("'Tis said 'twas so; the dogs' bowls aren't James's.", "'T is said 't was so ; the dogs ' bowls are n't James 's ."),
        ("I cannot -- gimme more'n that; d'ye wanna go?", "I can not -- gim me more 'n that ; d 'ye wan na go ?"),
        ("“Wait…” he said... ‘Why?!’", "“ Wait … ” he said ... ‘ Why ? ! ’"),
        ("Gonna, gotta, lemme: LEMME!", "Gon na , got ta , lem me : LEM ME !"),
        ("rock 'n' roll, the '90s, 'em", "rock 'n' roll , the '90s , 'em"),
        ("x@y.org & a/b * #1 {a} <b> [c]", "x @ y.org & a/b * # 1 { a } < b > [ c ]"),
        ("the U.S. (1990-95).'", "the U.S. ( 1990-95 ) . '"),
        ("He'll, we've, THEY'RE, CAN'T, I'm", "He 'll , we 've , THEY 'RE , CA N'T , I 'm"),
        ("pages 10–12 «so» ''quoted'' ``here``", "pages 10 – 12 « so » '' quoted '' `` here ``"),
        ("wanna", "wan na"),
        ("", ""),
    ],
)  # fmt: skip
def test_words_of_sentences(sentence: str, words: str) -> None:
    assert tokenize(sentence) == words.split()


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_words_are_those_of_nltk(sentence: str) -> None:
    """Combining accents beside apostrophes apart, which the expressions of NLTK take for letters."""
    # What opens behind the last full stop ends a sentence for us, as what closes does.
    assume(not re.search(r"""\.[^.]*[ (\[{<]("|'')\W*$""", sentence))

    assert _alike(tokenize(sentence)) == _alike(NLTKWordTokenizer().tokenize(sentence))


def _alike(words: list[str]) -> list[str]:
    """Return words with one sign for all double quotes: NLTK tells those that open from those that close."""
    return ['"' if word in ("``", "''") else word for word in words]


#: An apostrophe that looks otherwise.
CURLY = "‘’‛＇ʼ"
CONTRACTIONS = (
    *("don't", "Mary's", "I'm", "they're", "we've", "HE'LL", "she'd", "can't", "d'ye", "more'n", "ma'am"),
    *("dogs'", "James'", "O'Brien", "o'clock", "rock'n'roll", "'n'", "'tis", "'Twas", "'em", "'90s", "'til"),
    *("'so'", "('so')", "'so',", "'It's so.'", "l'été", "y'all", "'", "''", "s'", "'s"),
)


@given(
    st.lists(st.sampled_from((*CONTRACTIONS, "the", "cat.", '"Yes,"', "-", "(no)")), max_size=8).map(
        " ".join
    ),
    st.sampled_from(CURLY),
)
def test_curly_apostrophes_are_cut_as_straight_ones(sentence: str, sign: str) -> None:
    """And stay what they are."""
    assert tokenize(sentence.replace("'", sign)) == [word.replace("'", sign) for word in tokenize(sentence)]


@given(
    st.lists(st.sampled_from((*PIECES, *CONTRACTIONS, *CURLY, "＂", "′", "´", "ʻ")), max_size=14).map("".join)
)
def test_words_are_the_text_without_its_blanks(sentence: str) -> None:
    """Whatever signs it has."""
    assert "".join(tokenize(sentence)) == "".join(sentence.split())


@pytest.mark.parametrize("sign", [*CURLY, *"`´′ʻ՚"])
@pytest.mark.parametrize("word", ["don't", "Mary's", "I'm", "O'Brien", "we've"])
def test_signs_within_a_word_are_apostrophes(word: str, sign: str) -> None:
    """Also those that are something else at its ends."""
    assert tokenize(word.replace("'", sign)) == [one.replace("'", sign) for one in tokenize(word)]


@pytest.mark.parametrize("sign", [*CURLY, *"`´′ʻ՚"])
@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("fr", "L'été, c'est aujourd'hui qu'il vient.", "L' été , c' est aujourd'hui qu' il vient ."),
        ("it", "Dell'arte, un'altra", "Dell' arte , un' altra"),
        ("ca", "l'home d'aquí", "l' home d' aquí"),
        ("uk", "м'ята і п'ять", "м'ята і п'ять"),
        ("br", "c'hoar", "c'hoar"),
    ],
)
def test_signs_within_words_of_other_languages(language: str, text: str, words: str, sign: str) -> None:
    """Words that lose their vowel stand alone, and others stay whole, whatever the sign is."""
    assert split_words(text.replace("'", sign), language) == words.replace("'", sign).split()
