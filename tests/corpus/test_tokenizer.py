"""The words of raw text, recorded from NLTK 3.10.4, and compared with the NLTK that is installed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from sentgen.corpus.tokenizer import tokenize

PIECES = [
    *(
        "'s",
        "n't",
        "'LL",
        "'re ",
        " 'tis",
        "cannot",
        "gimme",
        "Gonna",
        "wanna ",
        "d'ye",
        "more'n",
        "lemme",
        "'em",
    ),
    *("''", "``", "--", "...", "..", "U.S.", "3,4", "10:30", "\u00a0", "é", "ß"),
    *" \t\n\"'`.,:;!?()[]{}<>*-–—«»“”‘’„@#$%&aB1",
]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Mr. Smith isn't here.", "Mr. Smith is n't here ."),
        ('He said "go" (and "stay").', "He said `` go '' ( and `` stay '' ) ."),
        ("They'd paid $3.88, or 3,36 euros: 5% at 10:30.", "They 'd paid $ 3.88 , or 3,36 euros : 5 % at 10:30 ."),
        ("'Tis said 'twas so; the dogs' bowls aren't James's.", "' Tis said ' twas so ; the dogs ' bowls are n't James 's ."),
        ("I cannot -- gimme more'n that; d'ye wanna go?", "I can not -- gim me more 'n that ; d 'ye wan na go ?"),
        ("“Wait…” he said... ‘Why?!’", "“ Wait… ” he said ... ‘ Why ? ! ’"),
        ("Gonna, gotta, lemme: LEMME!", "Gon na , got ta , lem me : LEM ME !"),
        ("rock 'n' roll, the '90s, 'em", "rock 'n ' roll , the ' 90s , ' em"),
        ("x@y.org & a/b * #1 {a} <b> [c]", "x @ y.org & a/b * # 1 { a } < b > [ c ]"),
        ("the U.S. (1990-95).'", "the U.S. ( 1990-95 ) . '"),
        ("He'll, we've, THEY'RE, CAN'T, I'm", "He 'll , we 've , THEY 'RE , CA N'T , I 'm"),
        ("pages 10–12 «so» ''quoted'' ``here``", "pages 10 – 12 « so » `` quoted '' `` here ``"),
        ("wanna", "wan na"),
        ("", ""),
    ],
)  # fmt: skip
def test_words_of_sentences(sentence: str, words: str) -> None:
    assert tokenize(sentence) == words.split()


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_words_are_those_of_nltk(sentence: str) -> None:
    """Combining accents beside apostrophes apart, which the expressions of NLTK take for letters."""
    assert tokenize(sentence) == NLTKWordTokenizer().tokenize(sentence)
