"""Fusion: additions to a key sentence, their places, and the origin of each word."""

from __future__ import annotations

from collections import Counter

import pytest
from global_revision import CONDITION, CONFLICT, KEY
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.reading import read_trees
from sentgen.corpus.sentence import Sentence
from sentgen.demo import TREEBANK
from sentgen.errors import InputError
from sentgen.generation.fusion.answer import FusedSentence, FusionAnswer, FusionRequest
from sentgen.generation.fusion.fuse import FusionContent, fused_sentences, of_sentences
from sentgen.generation.fusion.revising import revised_keys
from sentgen.generation.fusion.word_bag import WordBag

DEMO = list(read_trees(str(TREEBANK)))


def tree(text: str) -> Sentence:
    """Read `form/TAG/head/relation` quadruples, with `UPOS-XPOS` for a tag; lemmas are forms."""
    rows = [token.rsplit("/", 3) for token in text.split()]
    forms, tags, heads, relations = (list(column) for column in zip(*rows, strict=True))
    upos, _, xpos = (list(column) for column in zip(*(tag.partition("-") for tag in tags), strict=True))
    fine = [one or two for one, two in zip(xpos, upos, strict=True)]
    return Sentence(forms, upos=upos, xpos=fine, heads=[int(head) for head in heads], deprels=relations)


def fuse(key: Sentence, *related: Sentence, **asked: object) -> FusionAnswer:
    """Return the answer of revision."""
    return fused_sentences(key, related, FusionRequest(**asked))  # type: ignore[arg-type]


def told(key: str, *related: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the best sentence, and its changes by kind, text and neighbour; "" for none."""
    answer = fuse(tree(key), *map(tree, related))
    text = answer.sentences[0].text if answer.sentences else ""
    return text, [(change.kind, change.text, change.beside) for change in answer.changes]


def test_figure_1_of_the_paper() -> None:
    """The first related sentence is conjoined by *while*, and `conflict areas` replaces `inaccessible areas`.

    The abstractor wrote "while it is estimated that 200,000 people are left behind in conflict areas with
    inadequate access to food or shelter": other words for the same, which revision does not find. It keeps
    the clause of its source instead, whose subject is the condition of these people.
    """
    answer = fuse(KEY, CONDITION, CONFLICT)

    assert [one.text for one in answer.sentences] == [
        "There are presently an estimated 130,000 internally displaced persons ( IDPs ) in established camps ,"
        " while the condition of an estimated 200,000 people left behind in conflict areas with inadequate"
        " access to food or shelter is much worse ."
    ]
    conjoined, replaced = answer.changes
    assert (conjoined.kind, conjoined.sentence, conjoined.beside, conjoined.marker) == (
        "conjoined",
        1,
        "are",
        ", while",
    )
    assert (replaced.kind, replaced.sentence, replaced.text, replaced.beside) == (
        "replaced",
        2,
        "conflict areas",
        "inaccessible areas",
    )


def test_figure_1_in_any_order() -> None:
    """The related sentences may come in another order; without the second one nothing is replaced."""
    (text,) = (one.text for one in fuse(KEY, CONDITION, CONFLICT).sentences)

    assert [one.text for one in fuse(KEY, CONFLICT, CONDITION).sentences] == [text]
    (alone,) = (one.text for one in fuse(KEY, CONDITION).sentences)
    assert alone == text.replace("conflict areas", "inaccessible areas")


FLOODED = "Rains/NOUN-NNS/2/nsubj flooded/VERB-VBD/0/root villages/NOUN-NNS/2/obj ./PUNCT/2/punct"


def test_a_phrase_stands_behind_the_word_that_it_stood_behind() -> None:
    """*In Lomani* is added behind *villages*, where its neighbors are those of its sentence."""
    other = (
        "Rains/NOUN-NNS/2/nsubj flooded/VERB-VBD/0/root villages/NOUN-NNS/2/obj in/ADP-IN/5/case"
        " Lomani/PROPN-NNP/3/nmod ./PUNCT/2/punct"
    )

    assert told(FLOODED, other) == (
        "",
        [("added", "in Lomani", "villages")],
    ), "all of it came in as the related sentence"
    longer = FLOODED.replace("flooded/VERB-VBD", "soon/ADV-RB/3/advmod flooded/VERB-VBD").replace("2/", "3/")
    assert told(longer, other) == (
        "Rains soon flooded villages in Lomani .",
        [("added", "in Lomani", "villages")],
    )


def test_what_the_key_says_otherwise_is_not_said_again() -> None:
    """*Mountain* is not added to *rural villages*, as it may mean the same, unless a sentence has both."""
    key = FLOODED.replace("villages/NOUN-NNS/2/obj", "rural/ADJ-JJ/4/amod villages/NOUN-NNS/2/obj")
    mountain = "Rains/NOUN-NNS/2/nsubj flooded/VERB-VBD/0/root {}mountain/NOUN-NN/{}/compound villages/NOUN-NNS/2/obj"

    assert told(key, mountain.format("", 4)) == ("", [])
    both = mountain.format("rural/ADJ-JJ/5/amod ", 5)
    assert told(key, both)[0] == "Rains flooded rural mountain villages ."


def test_an_article_comes_with_its_phrase() -> None:
    """*An old* replaces *a*, but nothing replaces *this*; if articles agree, one word is added."""
    key = "Men/NOUN-NNS/2/nsubj built/VERB-VBD/0/root a/DET-DT/4/det bridge/NOUN-NN/2/obj ./PUNCT/2/punct"
    other = "Men/NOUN-NNS/2/nsubj left/VERB-VBD/0/root {}/DET-DT/5/det {}/ADJ-JJ/5/amod bridge/NOUN-NN/2/obj"

    assert told(key, other.format("a", "new")) == ("Men built a new bridge .", [("added", "new", "bridge")])
    assert told(key, other.format("an", "old")) == (
        "Men built an old bridge .",
        [("replaced", "an old bridge", "a bridge")],
    )
    the = key.replace("a/DET", "the/DET")
    assert told(the, other.format("the", "next")) == (
        "Men built the next bridge .",
        [("added", "next", "bridge")],
    )
    this = key.replace("a/DET", "this/DET")
    assert told(this, other.format("the", "next")) == ("", [])


def test_words_that_are_read_otherwise_elsewhere_are_not_trusted() -> None:
    """A word that is an adverb in one sentence and a noun in another, by an error of the tagger, is not added."""
    key = "Ding/NOUN-NN/2/nsubj left/VERB-VBD/0/root school/NOUN-NN/2/obj ./PUNCT/2/punct"
    guessed = "Ding/NOUN-NN/3/nsubj hao/ADV-RB/3/advmod left/VERB-VBD/0/root school/NOUN-NN/3/obj"
    noun = "Hao/NOUN-NN/2/nsubj left/VERB-VBD/0/root school/NOUN-NN/2/obj"

    assert told(key, guessed)[1] == [("added", "hao", "left")]
    assert told(key, guessed, noun) == ("", [])


def test_an_abbreviation_is_nothing_new() -> None:
    """Neither an abbreviation nor its full form is added beside the other."""
    un = "UN/PROPN-NNP/2/compound leaders/NOUN-NNS/3/nsubj met/VERB-VBD/0/root guests/NOUN-NNS/3/obj"
    nations = (
        "Leaders/NOUN-NNS/5/nsubj of/ADP-IN/4/case United/PROPN-NNP/4/compound Nations/PROPN-NNPS/1/nmod"
        " met/VERB-VBD/0/root friends/NOUN-NNS/5/obj"
    )

    assert told(un.replace("UN", "Old"), nations)[1] == [("added", "of United Nations", "leaders")]
    assert told(un, nations)[1] == told(nations, un)[1] == []


def test_a_clause_with_the_same_subject_loses_it() -> None:
    """If the subjects agree, *and*, a word of no sentence, joins the verbs."""
    key = "The/DET-DT/2/det army/NOUN-NN/3/nsubj took/VERB-VBD/0/root towns/NOUN-NNS/3/obj ./PUNCT/3/punct"
    other = (
        "The/DET-DT/2/det army/NOUN-NN/3/nsubj lost/VERB-VBD/0/root ten/NUM-CD/5/nummod tanks/NOUN-NNS/3/obj"
        " near/ADP-IN/8/case a/DET-DT/8/det river/NOUN-NN/3/obl yesterday/NOUN-NN/3/obl ./PUNCT/3/punct"
    )
    answer = fuse(
        tree(
            key.replace("towns", "some/DET-DT/5/det towns").replace(
                "3/obj", "3/obj north/ADV-RB/5/advmod of/ADP-IN/8/case lakes/NOUN-NNS/6/obl"
            )
        ),
        tree(other),
    )

    assert answer.sentences[0].text == (
        "The army took some towns north of lakes and lost ten tanks near a river yesterday ."
    )
    assert answer.sentences[0].origins[8] is None
    assert [(change.kind, change.marker) for change in answer.changes] == [("conjoined", "and")]


SAT = "The/DET-DT/2/det board/NOUN-NN/3/nsubj met/VERB-VBD/0/root leaders/NOUN-NNS/3/obj {}./PUNCT/3/punct"


def test_what_stands_before_a_subject_comes_with_its_comma() -> None:
    """A phrase before the subject is added if the key begins with its subject and lacks its preposition."""
    other = (
        "At/ADP-IN/3/case the/DET-DT/3/det summit/NOUN-NN/7/obl ,/PUNCT/7/punct the/DET-DT/6/det"
        " board/NOUN-NN/7/nsubj met/VERB-VBD/0/root friends/NOUN-NNS/7/obj ./PUNCT/7/punct"
    )
    noon = "at/ADP-IN/6/case noon/NOUN-NN/3/obl "

    assert told(SAT.format(""), other)[0] == "At the summit , the board met leaders ."
    assert told(SAT.format(noon), other)[0] == ""


def test_what_stands_between_the_same_words_goes_between_them() -> None:
    """A phrase goes between the same words, even if its head in the parse is not in the key."""
    other = (
        "The/DET-DT/2/det board/NOUN-NN/5/nsubj finally/ADV-RB/5/advmod met/VERB-VBD/5/amod"
        " leaders/NOUN-NNS/0/root ./PUNCT/5/punct"
    )

    noon = SAT.format("at/ADP-IN/6/case noon/NOUN-NN/3/obl ")

    assert told(noon, other) == (
        "The board finally met leaders at noon .",
        [("added", "finally", "met")],
    )


def test_who_says_so_is_put_before_the_same_clause() -> None:
    """*It is known that* is added before a clause with the same first word and the same verb."""
    clause = (
        "the/DET-DT/6/det board/NOUN-NN/7/nsubj {}/VERB-VBD/3/ccomp people/NOUN-NNS/7/obj ./PUNCT/3/punct"
    )
    known = "It/PRON-PRP/3/expl is/AUX-VBZ/3/cop known/VERB-VBN/0/root that/SCONJ-IN/7/mark "

    assert told(SAT.format(""), known + clause.format("met"))[0] == (
        "It is known that the board met leaders ."
    )
    assert told(SAT.format(""), known + clause.format("saw"))[0] == ""


def test_a_subject_takes_the_place_of_its_pronoun() -> None:
    """A subject replaces a pronoun of the same number, if the verbs are the same and share another word."""
    key = "They/PRON-PRP/2/nsubj met/VERB-VBD/0/root leaders/NOUN-NNS/2/obj today/ADV-RB/2/advmod"
    other = "Two/NUM-CD/2/nummod men/NOUN-NN{}/3/nsubj met/VERB-VBD/0/root {}/NOUN-NNS/3/obj"

    assert told(key, other.format("S", "leaders")) == (
        "Two men met leaders today",
        [("replaced", "two men", "they")],
    )
    assert told(key, other.format("", "leaders")) == ("", [])
    assert told(key, other.format("S", "friends")) == ("", [])


def test_a_second_verb_is_conjoined_where_subjects_agree() -> None:
    """A second verb comes with the *and* of its sentence, in versions of one sentence, too."""
    other = (
        "The/DET-DT/2/det board/NOUN-NN/3/nsubj met/VERB-VBD/0/root guests/NOUN-NNS/3/obj and/CCONJ-CC/6/cc"
        " praised/VERB-VBD/3/conj farmers/NOUN-NNS/6/obj ./PUNCT/3/punct"
    )
    answer = fuse(tree(SAT.format("")), tree(other))

    assert answer.sentences[0].text == "The board met leaders and praised farmers ."
    assert [(change.kind, change.marker) for change in answer.changes] == [("conjoined", "")]
    assert None not in answer.sentences[0].origins


def test_questions_and_talk_are_not_conjoined() -> None:
    """Clauses are not conjoined with a pronoun as subject, without a finite verb, or on other subjects."""
    for form, other in (("worse", "?"), ("condition", "it"), ("is", "being"), ("estimated", "clever")):
        changed = Sentence(
            [other if word == form else word for word in CONDITION.forms],
            lemmas=[
                other if word == form else lemma
                for word, lemma in zip(CONDITION.forms, CONDITION.lemmas or [], strict=True)
            ],
            upos=[
                "PRON" if other == "it" and word == form else tag
                for word, tag in zip(CONDITION.forms, CONDITION.upos or [], strict=True)
            ],
            xpos=[
                "VBG" if other == "being" and word == form else tag
                for word, tag in zip(CONDITION.forms, CONDITION.xpos or [], strict=True)
            ],
            heads=CONDITION.heads,
            deprels=CONDITION.deprels,
        )

        assert fuse(KEY, changed).sentences == (), other


def test_room_is_kept() -> None:
    """The clause of Figure 1 takes 22 words of the limit, a replacement of two words by two none."""
    assert fuse(KEY, CONDITION, CONFLICT, words=21).sentences == ()
    assert len(fuse(KEY, CONDITION, CONFLICT, words=22).changes) == 2


def test_trees_without_names_of_relations() -> None:
    """Tags of the Penn Treebank say what the relations are; prepositions govern their nouns."""

    def penn(words: str, tags: str, heads: list[int]) -> Sentence:
        return Sentence(words.split(), xpos=tags.split(), heads=heads)

    key = penn("Men built the bridge .", "NNS VBD DT NN .", [2, 0, 4, 2, 2])
    other = penn("Men saw the stone bridge .", "NNS VBD DT NN NN .", [2, 0, 5, 5, 2, 2])

    assert fuse(key, other).sentences[0].text == "Men built the stone bridge ."


def test_nothing_to_add_is_no_sentence() -> None:
    """There is no answer if nothing fits or no related sentence is given."""
    assert told(FLOODED, "Dogs/NOUN/2/nsubj bark/VERB/0/root") == ("", [])
    assert told(FLOODED) == ("", [])


def test_a_sentence_without_a_tree_is_refused() -> None:
    """A sentence without a tree, in which phrases have no heads, is refused."""
    with pytest.raises(InputError, match="`parser`"):
        fuse(Sentence(["Rains"], upos=["NOUN"]))


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("It/PRON-PRP/2/nsubj that/VERB-VBD/0/root", "It/PRON/2/nsubj is/AUX/0/root that/VERB/2/ccomp"),
        ("$/SYM-NN/2/nsubj -/VERB-VBD/0/root now/ADV/2/advmod", "$/SYM-NN/2/nsubj -/VERB-VBD/0/root"),
    ],
)
def test_odd_sentences_add_nothing(key: str, other: str) -> None:
    """A clause of *that* alone, and a sentence without a letter or a digit."""
    assert told(key, other) == ("", [])


def test_too_many_words_are_refused() -> None:
    """Too many words are refused, since the trigrams need a square matrix of bigrams."""
    long = Sentence([f"w{i}" for i in range(2001)], upos=["X"] * 2001, heads=[0, *range(1, 2001)])

    with pytest.raises(InputError, match="limit"):
        fuse(tree(FLOODED), long)


def is_projective(sentence: Sentence) -> bool:
    """Return whether no two links cross."""
    links = [tuple(sorted((n, head))) for n, head in enumerate(sentence.heads or [], 1) if head]
    return not any(a < c < b < d for a, b in links for c, d in links)


@given(st.integers(0, len(DEMO) - 1), st.integers(1, 4))
def test_what_comes_out_is_a_projective_tree(key: int, count: int) -> None:
    """From projective trees comes a projective tree with one root."""
    sentences = [one for one in DEMO[key : key + count] if is_projective(one)]
    bag = WordBag.of_sentences(sentences or DEMO[:1])
    for found in revised_keys(bag, *of_sentences(bag), words=24, nbest=2):
        sentence = FusionContent(sentences, bag, found).sentence()
        heads = sentence.heads or []

        assert is_projective(sentence), " ".join(sentence.forms)
        assert heads.count(0) == 1
        for at in range(1, len(heads) + 1):
            for _ in heads:
                at = heads[at - 1] if at else 0
            assert at == 0


def check(answer: FusionAnswer, one: FusedSentence) -> None:
    """Each word is from a sentence or a marker, and those of the key are there, but for what was replaced."""
    sentences = [answer.key, *answer.related]
    placed = [origin for origin in one.origins if origin is not None]

    for word, origin in zip(one.words, one.origins, strict=True):
        if origin is None:
            assert word in (",", "while", "and")
        else:
            assert word.lower() == sentences[origin.sentence].forms[origin.place].lower()
    assert len(set(placed)) == len(placed)
    gone = Counter(word.lower() for c in one.changes if c.kind == "replaced" for word in c.beside.split())
    missing = set(range(len(answer.key.forms))) - {o.place for o in placed if o.sentence == 0}
    assert not Counter(answer.key.forms[at].lower() for at in missing) - gone
    assert sorted(o.place for o in placed if o.sentence == 0) == [o.place for o in placed if o.sentence == 0]


@given(st.integers(0, len(DEMO) - 1), st.lists(st.integers(0, len(DEMO) - 1), max_size=3), st.integers(1, 30))
def test_words_are_from_sentences_and_keep_their_order(key: int, related: list[int], words: int) -> None:
    """In the demo, answers have words of the sentences only, are reproducible, and keep the limit of words."""
    chosen = [DEMO[number] for number in related if number != key]
    answer = fuse(DEMO[key], *chosen, words=words, nbest=3)

    for one in answer.sentences:
        check(answer, one)
        assert len(one.words) - sum(origin is None for origin in one.origins) <= len(DEMO[key].forms) + words
    assert len({one.text for one in answer.sentences}) == len(answer.sentences)
    assert fuse(DEMO[key], *chosen, words=words, nbest=3) == answer


def test_sentences_that_say_the_same_make_one() -> None:
    """A related sentence that is given twice counts once."""
    once, twice = (fuse(DEMO[7], *related, words=2, nbest=3) for related in ([DEMO[5]], [DEMO[5]] * 2))

    assert [made.text for made in twice.sentences] == [made.text for made in once.sentences]


def test_the_search_of_2005_uses_the_same_words() -> None:
    """The search of 2005 uses the same words but for markers, which are in no sentence."""
    key, *related = DEMO[7], *DEMO[5:7], *DEMO[8:10]
    answer = fuse(key, *related, algorithm="depviterbi", nbest=2)
    (revised, *_) = fuse(key, *related).sentences

    assert len(answer.sentences) == 2
    for one in answer.sentences:
        assert Counter(one.origins) == Counter(origin for origin in revised.origins if origin is not None)
