"""Check of a summary: claims with and without support, the reasons, and the page."""

from __future__ import annotations

import re

import pytest

from sentgen.alignment.words.states import State, WordState
from sentgen.corpus.sentence import Sentence
from sentgen.errors import MemoryLimitError
from sentgen.evaluation.check.check import CheckedWord, SupportCheck, WordLimits, check, check_words
from sentgen.evaluation.check.page import page
from sentgen.evaluation.check.verb_arguments import Spelling


def tree(text: str) -> Sentence:
    """Read `form/TAG/head` triples."""
    triples = [token.split("/") for token in text.split()]
    forms, tags, heads = zip(*triples, strict=True)
    return Sentence(list(forms), upos=list(tags), heads=[int(head) for head in heads])


SOURCE = [
    tree("Workers/NOUN/2 sent/VERB/0 food/NOUN/2"),
    tree("They/PRON/2 sent/VERB/0 food/NOUN/2"),
    tree("The/DET/2 blankets/NOUN/3 came/VERB/0"),
]


def test_a_claim_knows_where_its_support_is() -> None:
    """A claim has the numbers of its source sentences, each once; case does not matter."""
    (claim,) = check([tree("sent/VERB/0 Food/NOUN/1")], SOURCE).claims

    assert claim.support == (1, 2)
    assert (claim.why, claim.instead) == ("", ())


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ("sent/VERB/0 blankets/NOUN/1", "not related in the source"),
        ("food/NOUN/2 sent/VERB/0", "in the source the other way around"),
        ("sent/VERB/0 money/NOUN/1", "not in the source: money"),
        ("gave/VERB/0 money/NOUN/1", "not in the source: gave and money"),
    ],
)
def test_a_claim_without_support_says_why(summary: str, why: str) -> None:
    """The reason is a missing word, another order, or that the words are no relation in the source."""
    (claim,) = check([tree(summary)], SOURCE).claims

    assert not claim.supported
    assert claim.why == why


def test_a_claim_without_support_tells_what_the_verb_has_instead() -> None:
    """A claim lists the arguments of its verb in the source, by frequency, then alphabetically."""
    (claim,) = check([tree("sent/VERB/0 blankets/NOUN/1")], SOURCE).claims

    assert claim.instead == ("food", "they", "workers")  # 2, 1 and 1 times


def test_precision_is_the_share_with_support() -> None:
    """Two claims of three have support; a sentence without verbs has no claims."""
    found = check([tree("Workers/NOUN/2 sent/VERB/0 food/NOUN/2 quickly/ADV/2"), tree("Food/NOUN/0")], SOURCE)

    assert (found.supported, len(found.claims)) == (2, 3)
    assert found.precision == 2 / 3
    assert found.claims_of(2) == []
    assert check([tree("Food/NOUN/0")], SOURCE).precision is None


def test_lemmas_match_other_forms() -> None:
    """`sends food` has support of `sent food` if lemmas are compared."""
    source = Sentence(["sent", "food"], lemmas=["send", "food"], upos=["VERB", "NOUN"], heads=[0, 1])
    summary = Sentence(["sends", "food"], lemmas=["send", "food"], upos=["VERB", "NOUN"], heads=[0, 1])

    assert check([summary], [source]).precision == 0
    assert check([summary], [source], spelling=Spelling(lemmas=True)).precision == 1


def _with(found: SupportCheck, word: str, *, state: State = "changed") -> SupportCheck:
    """Return a check in which one word is changed or new, and all others are the same."""
    words = [
        CheckedWord(1, place, WordState(form, state if form == word else "same"), "there", (1,))
        for place, form in enumerate(found.summary[0].forms)
    ]
    return found.with_words(words)


@pytest.mark.parametrize("word", ["sent", "food"])
def test_a_relation_of_a_changed_word_has_no_support(word: str) -> None:
    """A relation with a changed word has no support, nor in other words; a new word changes nothing."""
    summary = [tree("Workers/NOUN/2 sent/VERB/0 food/NOUN/2")]
    found = check(summary, SOURCE, other_words=True)
    changed = _with(found, word)

    assert (found.precision, _with(found, word, state="new").precision) == (1, 1)
    last = changed.claims[1]
    assert (last.supported, last.words, last.why) == (False, "", f"changed: {word} (there)")
    assert [claim.supported for claim in changed.claims] == [word == "food", False]
    assert changed.figures()[1] == "1 of 3 words are changed, 0 new"
    assert [one.state.word for one in changed.listed_words()] == [word]
    assert _with(found, word, state="new").listed_words() == []


def test_words_know_their_sentences() -> None:
    """Words have the numbers of their sentences, from 1, and places, from 0; without a source all are new."""
    words = check_words([tree("Food/NOUN/0"), tree("the/DET/2 blankets/NOUN/0")], SOURCE)

    assert [(one.sentence, one.place) for one in words] == [(1, 0), (2, 0), (2, 1)]
    assert (words[2].state.state, words[2].there, words[2].support) == ("same", "blankets", (3,))
    assert [one.state.state for one in check_words([tree("Food/NOUN/0")], [])] == ["new"]
    assert check_words([], SOURCE) == []


def test_texts_too_long_are_refused_before_they_are_aligned() -> None:
    """The limit is the product of the numbers of words."""
    with pytest.raises(MemoryLimitError, match=r"have 9 x 1 words; at most 8 word pairs"):
        check_words([tree("Food/NOUN/0")], SOURCE, WordLimits(cells=8))


def test_the_page_lists_what_is_changed_and_new() -> None:
    """The page lists changed words with those of the source, and new words, in no relation, too."""
    changed = page(_with(check([tree("Workers/NOUN/0")], SOURCE), "Workers"), summary="s", source="t")
    alone = SupportCheck((), [tree("Workers/NOUN/0")], SOURCE, relations=False, notes=["<no> trees"])
    new = page(_with(alone, "Workers", state="new"), summary="s", source="t")

    assert '<mark class="changed">Workers</mark>' in changed
    assert 'changed: there <b><bdi>there</bdi></b>, source <a href="#source-1">1</a>' in changed
    assert '<mark class="new">Workers</mark>' in new
    assert "&lt;no&gt; trees" in new
    assert "<title>Words of s</title>" in new
    assert "verb argument" not in new


def test_the_page_marks_both_words_of_what_has_no_support() -> None:
    """Both words have the number of the claim, and the verb a mark; support links to the source."""
    summary = [
        tree("Workers/NOUN/2 sent/VERB/0 blankets/NOUN/2"),
        tree("sent/VERB/0 the/DET/3 food/NOUN/1 away/ADV/1"),
    ]
    html = page(check(summary, SOURCE), summary="s", source="t")

    assert '<mark class="verb">sent<sup>1</sup></mark>' in html
    assert "<mark>blankets<sup>1</sup></mark>" in html
    assert "<mark>away<sup>2</sup></mark>" in html
    assert "<mark>Workers" not in html
    assert set(re.findall(r'href="#(source-\d)"', html)) == {"source-1", "source-2"}
    assert set(re.findall(r'id="(source-\d)"', html)) == {"source-1", "source-2", "source-3"}


def test_the_page_escapes_everything_and_loads_nothing() -> None:
    """Hostile words, names and texts are escaped, and the page loads nothing."""
    evil = "<script>alert(1)</script>"
    summary = Sentence([evil, "sent"], upos=["NOUN", "VERB"], heads=[2, 0])
    source = Sentence(["sent", "x"], upos=["VERB", "X"], heads=[0, 1], text=evil)
    html = page(check([summary], [source]), summary=evil, source=evil)

    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 5
    assert not re.search(r"(?:src|href)=[\"'](?!#)", html)


def test_the_page_keeps_the_spaces_of_the_text() -> None:
    """`food.` stays together where the source of the summary says so."""
    summary = Sentence(
        ["sent", "food", "."],
        upos=["VERB", "NOUN", "PUNCT"],
        heads=[0, 1, 1],
        space_after=[True, False, True],
    )
    html = page(check([summary], SOURCE), summary="s", source="t")

    assert "sent food." in html
