"""Display of the states of words: blocks that end at them, the same figures in table, page and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from chosen_states import LINKED, PAIR, changed, choose, contradicted
from hypothesis import given
from hypothesis import strategies as st
from test_alignment_views import HOSTILE, Tags, word

from sentgen.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.pairs.alignment import Weighed, WeighedLink
from sentgen.alignment.texts import as_json
from sentgen.alignment.view.html import fragment, page
from sentgen.alignment.view.view import APART, AlignedBlock, PairView
from sentgen.alignment.words.states import STATES, WordState


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> PairView:
    """The example with five changed words, one new, one inflected, and one related word."""
    others = {
        10: WordState("the", "new", elsewhere=(2,)),
        12: WordState("rose", "variant", (12,), why="inflected"),
        14: WordState("percent", "related", (14,)),
    }
    choose(monkeypatch, contradicted() | others)
    return PairView.make(PAIR, LINKED)


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8),
    st.lists(st.sampled_from(STATES), min_size=5, max_size=5),
)
def test_a_block_has_words_of_one_kind(links: set[tuple[int, int]], states: list[str]) -> None:
    """Changed words are blocks of one link, links of new words no blocks; all others are in one block."""
    told = [
        WordState("w", state, () if state == "new" else tuple(d for s, d in sorted(links) if s == word))  # type: ignore[arg-type]
        for word, state in enumerate(states)
    ]
    found = AlignedBlock.of_alignment(Alignment(tuple(word(s, d) for s, d in links)), told)
    cells = []
    for block in found:
        words = range(*block.abstract)
        cells += list(zip(words, range(*block.document), strict=True))
        assert len(words) == 1 or not any(states[s] in APART for s in words)

    assert sorted(cells) == sorted((word, place) for word, place in links if states[word] != "new")


def test_a_phrase_ends_at_a_changed_word(shown: PairView) -> None:
    """Posterior and P(null) of a row are those of its words: a changed word takes nothing from its neighbours."""
    rows = {row.abstract[0]: row for row in shown.phrases()}

    assert list(rows)[:5] == ["The club hired", "21", "cooks in", "Oslo", ". Shares of"]
    first, number = rows["The club hired"], rows["21"]
    assert (first.posterior, first.null, first.state, first.why) == (1.0, 0.0, "same", "")
    assert (number.document, number.posterior, number.null) == (("12", (3, 4)), 0.8, 0.2)
    assert (number.state, number.why) == ("changed", "another number: 12")
    # Words of other states stay in their phrase, which says of which of them.
    akin = rows["rose"], rows["percent on"]
    assert [(row.state, row.why) for row in akin] == [
        ("variant", "inflected"),
        ("related", "percent: related"),
    ]
    assert shown.alignment.pharaoh() == " ".join(f"{k}-{k}" for k in range(18))


def test_a_phrase_of_the_aligner_says_which_word_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three words linked as one with two cannot be told apart: the row has the worst state, and the word."""
    pair = Pair("1", ("a", "big", "club", "rose"), ("one", "large", "team", "rose"))
    choose(monkeypatch, {2: changed("team", 2, "another noun: club")})
    of = PairView.make(pair, Alignment((PhraseLink((0, 3), (1, 3), 0.7), word(3, 3, 0.9))))
    first, second = of.phrases()
    marked = [segment.state for sentence in of.sentences("abstract") for segment in sentence]

    assert (first.abstract[0], first.state, first.posterior) == ("one large team", "changed", 0.7)
    assert first.why.split("; ")[-1] == "team: another noun: club"
    # No block continues after the phrase.
    assert (second.abstract[0], second.posterior) == ("rose", 0.9)
    assert marked[-2:] == ["changed", "same"]
    assert 'aria-label="team, changed, the document has club, another noun: club"' in fragment(of)


def test_numbers_agree(shown: PairView) -> None:
    """A phrase has one number in table, page and JSON; counts are those of the states everywhere."""
    found = json.loads(json.dumps(as_json(shown, model="")))
    # Links of new words belong to no block.
    of_links = {one["phrase"] for one in found["phrases"]} - {None}
    text = fragment(shown)
    on_page = {int(n) for at in re.findall(r'data-b="([\d ]+)"', text) for n in at.split()}
    in_table = {row.number for row in shown.phrases()} - {None}

    assert of_links == on_page == in_table == set(range(1, len(shown.blocks) + 1))
    counts = dict(re.findall(r'<span class="\w+">(\w+)</span> <b>(\d+)</b>', text))
    states = [one["state"] for one in found["words"]]
    assert counts == {state: str(states.count(state)) for state in STATES} | {"changed": "5", "new": "1"}
    assert "<b>5</b>changed of 18 words" in text
    assert found["figures"]["changed"] * 18 == pytest.approx(5)


def test_the_legend_leads_to_the_first_word_of_each_state(
    shown: PairView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links lead to elements that are there, without the script too; a state that no word has leads nowhere."""
    tags = Tags(fragment(shown, prefix="x-")).found
    ids = [at["id"] for _, at in tags if "id" in at]
    legend = [str(at["href"])[1:] for tag, at in tags if tag == "a" and "data-state" in at]

    assert legend == [f"x-first-{state}" for state in ("changed", "new", "related", "variant")]
    assert len(ids) == len(set(ids))
    assert set(legend) <= set(ids)
    assert {str(at["href"])[1:] for _, at in tags if at.get("href")} <= set(ids)
    choose(monkeypatch, {k: WordState(one, "same", (k,)) for k, one in enumerate(PAIR.abstract)})
    assert "data-state" not in fragment(PairView.make(PAIR, LINKED))


def test_both_words_stand_side_by_side_as_text(shown: PairView) -> None:
    """Both words are in the tips, in the text for screen readers, and in the table."""
    text = fragment(shown)

    assert (
        'title="21 ← document: 12 (changed, another number: 12); from sentence 1, posterior 0.80; P(null) 0.20"'
        in text
    )
    assert 'aria-label="21, changed, the document has 12, another number: 12"' in text
    assert 'title="12 → summary: 21 (changed); in sentence 1 of the summary, posterior 0.80"' in text
    assert re.search(r">21</bdi></td><td[^>]*><bdi>12</bdi></td><td[^>]*><span class=\"changed\">", text)
    assert 'stands in sentence <a href="#document-2">2</a>' in text


def test_a_changed_word_without_a_link_lights_up_what_it_contradicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no number, but the same key as the word of the document, which is marked, too."""
    choose(monkeypatch, contradicted())
    of = PairView.make(PAIR, Alignment(tuple(word(k, k) for k in range(18) if k not in contradicted())))
    tags = Tags(fragment(of)).found
    together = [at["title"] for _, at in tags if at.get("data-b") == "w3"]

    assert together == [
        "21 ← document: 12 (changed, another number: 12); against sentence 1",
        "12 → summary: 21 (changed)",
    ]
    assert [(row.number, row.document) for row in of.phrases()][1] == (None, ("12", (3, 4)))


def test_new_words_do_not_hide_a_changed_one_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inserted words, which contradict no particular word, have a row of their own."""
    choose(
        monkeypatch, {k: WordState("w", "changed" if k == 1 else "new", why="not put in") for k in range(3)}
    )
    of = PairView.make(Pair("1", ("x",), ("they", "not", "slept")), Alignment(()))

    assert [(row.abstract[0], row.state) for row in of.phrases()] == [
        ("they", "new"),
        ("not", "changed"),
        ("slept", "new"),
    ]


@pytest.mark.parametrize("explain", [False, True])
def test_states_and_reasons_are_escaped(monkeypatch: pytest.MonkeyPatch, explain: bool) -> None:
    """A word that is markup stays text, and what is said of it; no attribute has style or code."""
    pair = Pair("1", (HOSTILE, "a"), (HOSTILE, "b", "c"))
    states = {
        0: changed(HOSTILE, 0, f"another name: {HOSTILE}"),
        1: WordState("b", "new", why=HOSTILE, elsewhere=(1,)),
        2: WordState("c", "related", (1,), why=HOSTILE),
    }
    choose(monkeypatch, states)
    answer = Alignment((word(0, 0, 0.5), word(2, 1, 0.5)), (0.1, 0.9, 0.1))
    links = tuple(WeighedLink(s, d, 0.5, (0.5,), ((HOSTILE, 1.0),)) for s, d in ((0, 0), (2, 1)))
    of = PairView.make(pair, replace(answer, weighed=Weighed(0.05, 0.3, links) if explain else None))
    tags = Tags(page(of, title=HOSTILE, model=HOSTILE))

    assert tags.open == []
    assert [tag for tag, _ in tags.found].count("script") == 1
    assert not any(name == "style" or name.startswith("on") for _, at in tags.found for name in at)
    assert not {"link", "img", "iframe", "b onclick"} & {tag for tag, _ in tags.found}


def test_of_many_sentences_a_few_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Table and page name five sentences, each a link, and the number of the others."""
    choose(monkeypatch, {0: WordState("The", "new", elsewhere=tuple(range(1, 9)))})
    of = PairView.make(PAIR, Alignment(()))
    row = next(of.phrases())
    text = re.sub(r"<[^>]+>", "", fragment(of))

    assert "stands in sentences 1, 2, 3, 4, 5 and 3 more" in row.why
    assert "stands in sentences 1, 2, 3, 4, 5 and 3 more" in text


def test_a_word_is_told_its_own_sentence() -> None:
    """In a phrase over the end of a sentence, a word has its own sentence, not that of the phrase's begin."""
    pair = Pair(
        "1", ("It", "rained", ".", "Nobody", "came"), ("It", "rained", ".", "Nobody", "came"), (0, 3), (0, 3)
    )
    links = Alignment((PhraseLink((0, 5), (0, 5), 0.9),))
    tips = re.findall(r'title="([^"]*)"', fragment(PairView.make(pair, links)))
    assert {"from sentence 1, posterior 0.90", "from sentence 2, posterior 0.90"} <= set(tips)
    assert {
        "in sentence 1 of the summary, posterior 0.90",
        "in sentence 2 of the summary, posterior 0.90",
    } <= set(tips)
