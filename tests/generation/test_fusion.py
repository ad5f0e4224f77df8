"""Fusion: what is added to a key sentence, and what comes out."""

from __future__ import annotations

from collections import Counter

import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.corpus.sentences import read_trees
from sentgen.demo import TREEBANK
from sentgen.errors import InputError
from sentgen.generation.clusters.casing import capitalized, lower_initials
from sentgen.generation.fusion.selecting import fuse_by_insertion, fuse_by_search, select
from sentgen.generation.fusion.inserting import Insertion, Ordered, insertions


def tree(text: str) -> Sentence:
    """Read `form/TAG/head/relation` quadruples; lemmas are forms."""
    rows = [token.split("/") for token in text.split()]
    forms, tags, heads, relations = (list(column) for column in zip(*rows, strict=True))
    return Sentence(forms, upos=tags, heads=[int(head) for head in heads], deprels=relations)


KEY = tree("Rains/NOUN/2/nsubj flooded/VERB/0/root villages/NOUN/2/obj ./PUNCT/2/punct")
#: villages in Lomani province, on Monday; the verb has another subject and object.
RELATED = tree(
    "Rivers/NOUN/2/nsubj flooded/VERB/0/root forty/NUM/4/nummod villages/NOUN/2/obj in/ADP/7/case"
    " Lomani/PROPN/7/compound province/NOUN/4/nmod on/ADP/9/case Monday/PROPN/2/obl ./PUNCT/2/punct"
)


def test_modifiers_of_shared_words_are_added_as_whole_phrases() -> None:
    """Neither another subject or object is added nor a number; shorter phrases first, as salience is equal."""
    found = select(KEY, [RELATED]).phrases

    assert [(phrase.text, phrase.anchor) for phrase in found] == [
        ("on Monday", "flooded"),
        ("in Lomani province", "villages"),
    ]


def test_the_most_salient_phrase_comes_first_and_room_is_kept() -> None:
    """`province` and `Lomani` are in two sentences, `Monday` in one; three words have room for one phrase."""
    other = tree("Lomani/PROPN/2/compound province/NOUN/0/root")

    found = select(KEY, [RELATED, other], words=3).phrases

    assert [phrase.text for phrase in found] == ["in Lomani province"]
    assert select(KEY, [RELATED], words=0).phrases == []


def test_nothing_is_said_twice() -> None:
    """The same phrase of two sentences is added once."""
    assert len(select(KEY, [RELATED, RELATED]).phrases) == 2


def test_all_words_of_the_key_are_selected() -> None:
    """The first word loses its capital; phrases stay units."""
    selection = select(KEY, [RELATED])

    assert [str(unit) for unit in selection.units()] == [
        "rains",
        "flooded",
        "villages",
        ".",
        "on",
        "Monday",
        "in",
        "[Lomani province]",
    ]


def test_names_keep_their_capital() -> None:
    """So does `I`."""
    key = tree("Monday/PROPN/2/nsubj came/VERB/0/root")

    assert [str(unit) for unit in select(key, []).units()] == ["Monday", "came"]


def test_the_search_uses_every_selected_word_once() -> None:
    """On the demo: what comes out is new, and a permutation of what was selected."""
    sentences = [sentence for sentence, _ in zip(read_trees(str(TREEBANK)), range(5), strict=False)]
    selection = select(sentences[0], sentences[1:])
    found = fuse_by_search(selection, nbest=2)

    assert selection.phrases
    assert len(found) == 2
    for one in found:
        assert Counter(map(str.lower, one.words)) == Counter(map(str.lower, selection.words()))
        assert set(one.words) & {"Heavy", "Floods", "The"} == set()
        assert one.text[0].isupper()
        assert one.text.lower() not in {" ".join(sentence.forms).lower() for sentence in sentences}
    assert found == fuse_by_search(selection, nbest=2)


def test_insertion_keeps_the_key_in_order() -> None:
    """On the demo: the words of the key in their order, every phrase whole, and nothing else."""
    sentences = [sentence for sentence, _ in zip(read_trees(str(TREEBANK)), range(5), strict=False)]
    selection = select(sentences[0], sentences[1:])
    found = fuse_by_insertion(selection, nbest=2)

    assert len(found) == 2
    for one in found:
        assert Counter(map(str.lower, one.words)) == Counter(map(str.lower, selection.words()))
        assert all(phrase.text in one.text for phrase in selection.phrases)
        rest = one.text.lower()
        for phrase in selection.phrases:
            rest = rest.replace(f"{phrase.text} ", "", 1)
        assert rest == " ".join(sentences[0].forms).lower()
    assert found[0].score >= found[1].score


def test_a_phrase_stands_beside_its_anchor_or_another_modifier() -> None:
    """On the side on which it was: behind the verb, or behind one of its objects with all that hangs on that."""
    relations = ("nsubj", "root", "amod", "obl", "advmod")
    key = Ordered(tuple(range(5)), (1, -1, 3, 1, 3), relations)  # it walked dark streets there
    behind, before = (Insertion((1,), (1, -1), ("case", "obl"), first) for first in (True, False))

    assert [one.order for one in insertions(key, behind)] == [(0, 1, 5, 6, 2, 3, 4), (0, 1, 2, 3, 4, 5, 6)]
    assert [one.order for one in insertions(key, before)] == [(5, 6, 0, 1, 2, 3, 4), (0, 5, 6, 1, 2, 3, 4)]
    assert {one.heads for one in insertions(key, behind)} == {(1, -1, 3, 1, 3, 6, 1)}


def test_openings_stay_outside_and_objects_inside() -> None:
    """Nothing before a preposition of the anchor, between a verb and its object, or behind a full stop."""
    key = Ordered((0, 1, 2, 3, 4, 5), (-1, 0, 4, 4, 0, 0), ("root", "obj", "case", "det", "obl", "punct"))
    on_verb = Insertion((0,), (-1,), ("advmod",), True)  # saw cats in the streets .
    on_noun = Insertion((4,), (-1,), ("amod",), False)

    assert [one.order for one in insertions(key, on_verb)] == [(0, 1, 6, 2, 3, 4, 5), (0, 1, 2, 3, 4, 6, 5)]
    assert [one.order for one in insertions(key, on_noun)] == [(0, 1, 2, 3, 6, 4, 5)]


def test_a_word_gets_no_more_modifiers_of_a_kind_than_it_has_somewhere() -> None:
    """A second adjective only if some sentence has two; another preposition is another kind."""
    key = tree("Heavy/ADJ/2/amod rains/NOUN/3/nsubj fell/VERB/0/root on/ADP/5/case Monday/PROPN/3/obl")
    great = tree("Great/ADJ/2/amod rains/NOUN/3/nsubj fell/VERB/0/root in/ADP/5/case May/PROPN/3/obl")
    three = tree("Cold/ADJ/3/amod dark/ADJ/3/amod rains/NOUN/4/nsubj fell/VERB/0/root")

    assert [phrase.text for phrase in select(key, [great]).phrases] == ["in May"]
    assert len(select(key, [great, three]).phrases) == 2


def test_a_sentence_that_came_in_does_not_come_out() -> None:
    """The best order of key and phrase is one of the related sentences; the next one is given instead."""
    on_monday = "on/ADP/5/case Monday/PROPN/2/obl"
    same = tree(f"Rains/NOUN/2/nsubj flooded/VERB/0/root villages/NOUN/2/obj {on_monday} ./PUNCT/2/punct")
    selection = select(KEY, [same])
    found = fuse_by_search(selection)

    assert [phrase.text for phrase in selection.phrases] == ["on Monday"]
    assert [sorted(one.text.lower().split()) for one in found] == [sorted(map(str.lower, same.forms))]
    assert found[0].text != "Rains flooded villages on Monday ."


def test_nothing_to_add_is_no_sentence() -> None:
    """Another order of the key alone would say nothing new."""
    selection = select(KEY, [tree("Dogs/NOUN/2/nsubj bark/VERB/0/root")])

    assert selection.phrases == []
    assert fuse_by_search(selection, nbest=3) == []


def test_capitals() -> None:
    """The first word that is no punctuation has one; names and what has one elsewhere keep theirs."""
    assert capitalized(["``", "rains", "fell", "''"]) == ["``", "Rains", "fell", "''"]
    assert capitalized(["40", "villages"]) == ["40", "villages"]
    assert capitalized([".", "?"]) == [".", "?"]
    texts = [
        '"/PUNCT/2/punct Rains/NOUN/0/root',
        "Monday/PROPN/0/root",
        "The/DET/2/det Floods/NOUN/0/root",
        "Floods/NOUN/0/root",
        "I/PRON/0/root",
        "USA/NOUN/0/root",
    ]
    assert lower_initials(map(tree, texts)) == {"Rains": "rains", "The": "the"}


def test_a_sentence_without_a_tree_is_refused() -> None:
    """There is nothing to hang a phrase on."""
    with pytest.raises(InputError, match="--parser"):
        select(Sentence(["Rains"], upos=["NOUN"]), [])
