"""Check a summary: what has support, what has not and why, and the page that shows it."""

from __future__ import annotations

import re

import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check.check import check
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
    """By the numbers of the sentences of the source, each once; case does not matter."""
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
    """A word is missing, the order is another, or the two words do not belong together."""
    (claim,) = check([tree(summary)], SOURCE).claims

    assert not claim.supported
    assert claim.why == why


def test_a_claim_without_support_tells_what_the_verb_has_instead() -> None:
    """The most frequent arguments first, equals in the order of the alphabet."""
    (claim,) = check([tree("sent/VERB/0 blankets/NOUN/1")], SOURCE).claims

    assert claim.instead == ("food", "they", "workers")  # 2, 1 and 1 times


def test_precision_is_the_share_with_support() -> None:
    """Two of three; nothing is claimed by a sentence without verbs."""
    found = check([tree("Workers/NOUN/2 sent/VERB/0 food/NOUN/2 quickly/ADV/2"), tree("Food/NOUN/0")], SOURCE)

    assert (found.supported, len(found.claims)) == (2, 3)
    assert found.precision == 2 / 3
    assert found.of(2) == []
    assert check([tree("Food/NOUN/0")], SOURCE).precision is None


def test_lemmas_match_other_forms() -> None:
    """`sends food` has support of `sent food` if lemmas are compared."""
    source = Sentence(["sent", "food"], lemmas=["send", "food"], upos=["VERB", "NOUN"], heads=[0, 1])
    summary = Sentence(["sends", "food"], lemmas=["send", "food"], upos=["VERB", "NOUN"], heads=[0, 1])

    assert check([summary], [source]).precision == 0
    assert check([summary], [source], spelling=Spelling(lemmas=True)).precision == 1


def test_the_page_marks_both_words_of_what_has_no_support() -> None:
    """They share a number, which runs through the page; the verb is marked as such; support links to the source."""
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
    """Words, names and texts are hostile."""
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
