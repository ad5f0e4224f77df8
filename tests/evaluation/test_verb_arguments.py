"""The verb-argument measure: relations, matches, precision and recall, worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import (
    FORMS,
    KINDS,
    RelationKey,
    SourceArguments,
    Spelling,
    arguments,
    verbs,
)


def tree(text: str) -> Sentence:
    """Read `form/TAG/head` triples."""
    triples = [token.split("/") for token in text.split()]
    forms, tags, heads = zip(*triples, strict=True)
    return Sentence(list(forms), upos=list(tags), heads=[int(head) for head in heads])


#: workers -> distributed <- food, hungry; the auxiliary hangs on the verb.
RELIEF = tree(
    "The/DET/3 relief/NOUN/3 workers/NOUN/5 have/AUX/5 distributed/VERB/0 food/NOUN/5 to/ADP/8 all/PRON/5 ./PUNCT/5"
)
UN = tree("The/DET/3 UN/PROPN/3 workers/NOUN/4 requested/VERB/0 medicine/NOUN/4 and/CCONJ/6 blankets/NOUN/5")


def keys(sentence: Sentence, spelling: Spelling = FORMS) -> list[tuple[str, str, bool]]:
    return [tuple(argument.key) for argument in arguments(sentence, spelling)]


def test_relations_are_those_whose_head_is_a_verb() -> None:
    """Modifiers of nouns and punctuation do not count; the order of the two words is part of a relation."""
    assert keys(RELIEF) == [
        ("distributed", "workers", False),
        ("distributed", "have", False),
        ("distributed", "food", True),
        ("distributed", "all", True),
    ]
    assert [argument.adjacent for argument in arguments(RELIEF)] == [False, True, True, False]


@pytest.mark.parametrize("column", ["upos", "xpos"])
def test_tags_of_both_kinds_tell_verbs(column: str) -> None:
    """VBD and VERB are verbs; the universal tag goes before the other one."""
    tags = {"upos": ["PRON", "VERB"], "xpos": ["PRP", "VBD"]}
    sentence = Sentence(["He", "ate"], heads=[2, 0])
    setattr(sentence, column, tags[column])

    assert keys(sentence) == [("ate", "he", False)]
    assert verbs(Sentence(["building"], upos=["NOUN"], xpos=["VBG"])) == set()


def test_punctuation_of_the_penn_treebank_is_no_argument() -> None:
    """Punctuation is recognized by its relation or by its tag."""
    sentence = Sentence(
        ["Go", ".", "x"], xpos=["VB", ".", "SYM"], heads=[0, 1, 1], deprels=["root", "_", "punct"]
    )

    assert keys(sentence) == []


def test_spelling() -> None:
    """Case is folded unless it matters; lemmas make inflected forms equal."""
    sentence = Sentence(["He", "ate"], lemmas=["_", "eat"], upos=["PRON", "VERB"], heads=[2, 0])

    assert keys(sentence, Spelling(match_case=True)) == [("ate", "He", False)]
    assert keys(sentence, Spelling(lemmas=True)) == [("eat", "he", False)]


def test_precision_and_recall_by_hand() -> None:
    """The UN workers distributed blankets: one relation of two is in the source, of four of `distributed`.

    Output: (distributed, workers, False) is in the source, adjacent in the output; (distributed, blankets, True)
    is not, adjacent. Source relations of `distributed`, the only verb of the output: 4, of which `have` and `food`
    are adjacent; recalled is the one of `workers`, long-distance in the source. `requested` does not occur.
    """
    output = tree("UN/PROPN/2 workers/NOUN/3 distributed/VERB/0 blankets/NOUN/3")
    found = SourceArguments([RELIEF, UN]).compare([output])

    assert (found["all"].precision, found["all"].recall) == (1 / 2, 1 / 4)
    assert (found["adjacent"].matched, found["adjacent"].generated) == (1, 2)
    assert (found["adjacent"].recalled, found["adjacent"].source) == (0, 2)
    assert math.isnan(found["long"].precision)
    assert (found["long"].recalled, found["long"].source) == (1, 2)


def test_the_order_of_the_words_counts() -> None:
    """`food distributed` is not `distributed food`."""
    output = tree("food/NOUN/2 distributed/VERB/0")

    assert SourceArguments([RELIEF]).compare([output])["all"].precision == 0


def test_occurrences_are_counted_on_both_sides() -> None:
    """A true relation that is repeated is right twice; one that the source repeats is recalled twice."""
    said = tree("workers/NOUN/2 ate/VERB/0")
    source = SourceArguments([said, said, tree("dogs/NOUN/2 ate/VERB/0")])
    found = source.compare([said, said])["all"]

    assert (found.matched, found.generated, found.recalled, found.source) == (2, 2, 2, 3)


def test_no_verbs_no_figures() -> None:
    """Without verbs, precision and recall are undefined."""
    found = SourceArguments([RELIEF]).compare([tree("food/NOUN/0")])["all"]

    assert math.isnan(found.precision)
    assert math.isnan(found.recall)


def test_a_sentence_without_a_tree_is_refused() -> None:
    """A sentence without a tree is refused, as its relations are unknown."""
    with pytest.raises(InputError, match="`parser`"):
        arguments(Sentence(["He", "ate"], upos=["PRON", "VERB"]))


_TREES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["VERB", "NOUN"])), min_size=1, max_size=6
).flatmap(
    lambda words: st.tuples(*(st.integers(0, i) for i in range(len(words)))).map(
        # heads to the left, word 1 the root, is enough for a tree
        lambda heads: Sentence([w for w, _ in words], upos=[t for _, t in words], heads=list(heads))
    )
)


@given(st.lists(_TREES, max_size=3), st.lists(_TREES, min_size=1, max_size=3))
def test_kinds_add_up_and_a_text_agrees_with_itself(output: list[Sentence], source: list[Sentence]) -> None:
    """Adjacent and long-distance relations add up to all; a text recalls all of its own relations."""
    found = SourceArguments(source).compare(output)
    itself = SourceArguments(source).compare(source)["all"]

    for name in ("generated", "matched", "source", "recalled"):
        assert getattr(found["all"], name) == sum(getattr(found[kind], name) for kind in KINDS[1:])
    assert itself.generated == itself.matched == itself.source == itself.recalled


@given(_TREES, _TREES)
def test_counts_are_those_of_the_definition(output: Sentence, source: Sentence) -> None:
    """Counts equal those of the definition, applied to one relation at a time."""

    def relations(sentence: Sentence) -> list[RelationKey]:
        assert sentence.heads is not None
        assert sentence.upos is not None
        found = []
        for i, head in enumerate(sentence.heads):
            if head > 0 and sentence.upos[head - 1] == "VERB":
                found.append(RelationKey(sentence.forms[head - 1], sentence.forms[i], head - 1 < i))
        return found

    found = SourceArguments([source]).compare([output])["all"]
    occurring = [form for form, tag in zip(output.forms, output.upos or [], strict=True) if tag == "VERB"]
    relevant = [key for key in relations(source) if key.head in occurring]

    assert found.matched == len([key for key in relations(output) if key in relations(source)])
    assert found.source == len(relevant)
    assert found.recalled == len([key for key in relevant if key in relations(output)])
