"""The phrase-based HMM as an aligner: settings, keys, tables, decoding."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.inference import jump_cells
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, Words, phrase_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable, support
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm, align
from sentgen.alignment.phrase_hmm.settings import PRESETS, PbhmmSettings
from sentgen.arrays import Ints
from sentgen.errors import InputError


def words_of(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PAIR = Pair(
    "mac",
    words_of("Connecting Point Systems tripled its sales of Apple Macintosh systems since last January ."),
    words_of("Connecting Point tripled its Macintosh sales ."),
)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_untrained_aligner_finds_copies(name: str) -> None:
    """With priors only, each preset links copied words, and returns an alignment a pair."""
    answers = list(PhraseHmm.untrained(name).align([PAIR, PAIR]))
    links = answers[0].links

    assert len(answers) == 2
    assert answers[0] == answers[1]
    assert {(0, 0), (1, 1), (3, 2), (4, 3), (8, 4), (5, 5), (13, 6)} <= links
    assert answers[0].logp is not None
    assert answers[0].logp < 0
    assert answers[0].null is not None
    assert len(answers[0].null) == len(PAIR.abstract)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_different_words_are_looked_for_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Budget, kinship, full stops and both directions look for the different words of a pair only once."""
    seen: list[int] = []
    look = Words.of_text

    def counted(text: Ints, stems: Ints) -> Words:
        seen.append(len(text))
        return look(text, stems)

    monkeypatch.setattr(Words, "of_text", counted)
    list(PhraseHmm.untrained(name).align([PAIR]))

    assert seen == [len(PAIR.document), len(PAIR.abstract)]


def test_best_path_gives_phrases_with_posteriors() -> None:
    """A copied run is one phrase link, and carries the posterior of its event."""
    settings = replace(PbhmmSettings.preset("paper"), decode="viterbi")
    model = PhraseHmm("x", settings, RewriteParameters.prior(settings), Lexicon())
    phrases = next(model.align([PAIR])).phrases

    assert phrases[0].abstract == (0, 2)
    assert phrases[0].document == (0, 2)
    assert phrases[0].posterior is not None
    assert 0 < phrases[0].posterior <= 1


def test_posterior_decoding_in_one_direction() -> None:
    """The links are those whose posterior reaches the threshold, and fall with it."""
    settings = PbhmmSettings(decode="posterior", threshold=0.2, stems="equal")
    lexicon = Lexicon()
    ids = lexicon.encode(Pair("1", ("a", "b", "c", "b", "d"), ("b", "e", "d")))
    low = align(ids, RewriteParameters.prior(settings), settings)
    high = align(ids, RewriteParameters.prior(settings), replace(settings, threshold=0.9))

    assert high.links < low.links
    assert all(phrase.posterior is not None and phrase.posterior >= 0.2 for phrase in low.phrases)


def test_both_directions_agree_with_exchanging_the_texts() -> None:
    """Posteriors in both directions are symmetric: exchanging the texts turns the links around."""
    settings = PbhmmSettings.preset("best")
    ids = Lexicon().encode(PAIR)
    one = align(ids, RewriteParameters.prior(settings), settings).links
    other = align(ids.swap_texts(), RewriteParameters.prior(settings), settings).links

    assert one == {(i, j) for j, i in other}


def test_case_matters_only_where_it_should() -> None:
    """``fold`` makes words of different case one word."""
    pair = Pair("1", ("Apple",), ("apple",))

    assert len(Lexicon(["Apple", "apple"])) == 1
    assert len(Lexicon(["Apple", "apple"], fold=False)) == 2
    assert Lexicon().encode(pair).document.tolist() == Lexicon().encode(pair).abstract.tolist()


def test_phrase_keys_tell_phrases_apart() -> None:
    """Words are their ids; phrases are negative, the same for the same words, and depend on their order."""
    words = np.array([1, 2, 1, 2, 0], np.int32)

    assert phrase_keys(words, 1).tolist() == [1, 2, 1, 2, 0]
    two = phrase_keys(words, 2)
    assert two[0] == two[2]
    assert len({*two.tolist()}) == 3
    assert (two < 0).all()
    assert len(phrase_keys(words, 6)) == 0
    assert phrase_keys(np.array([0, 0], np.int32), 2) != phrase_keys(np.array([0, 0, 0], np.int32), 3)


def test_no_phrase_hides_its_first_word() -> None:
    """All phrases of two to four of the first nine words have keys of their own."""
    phrases = [list(phrase) for length in (2, 3, 4) for phrase in product(range(9), repeat=length)]
    keys = {int(phrase_keys(np.array(phrase, np.int32), len(phrase))[0]) for phrase in phrases}

    assert len(keys) == len(phrases) == 9**2 + 9**3 + 9**4


def test_support_is_words_together_and_phrases_seen_twice() -> None:
    """All word pairs of a pair are cells; phrase pairs only if two pairs have them."""
    lexicon = Lexicon()
    pairs = [
        lexicon.encode(pair)
        for pair in (Pair("1", ("a", "b"), ("x", "y")), Pair("2", ("a", "b"), ("x", "z")))
    ]
    settings = PbhmmSettings(max_abstract_phrase=1)
    table = support(pairs, lexicon.stem_of, settings)
    phrase = int(phrase_keys(pairs[0].document, 2)[0])
    a, b, x, y, z = (lexicon.ids([word])[0] for word in "abxyz")

    cells = set(zip(table.document.tolist(), table.abstract.tolist(), strict=True))
    assert cells == {(a, x), (a, y), (a, z), (b, x), (b, y), (b, z), (phrase, x)}
    assert table.fake.tolist() == [0, 2, 2, 2, 2, 2, 2]


def test_phrases_equal_up_to_the_stem_have_their_fake_counts() -> None:
    """A phrase pair is identical (4), equal up to the stem (3), or neither (0)."""
    lexicon = Lexicon()
    pairs = [lexicon.encode(Pair("1", ("old", "cats"), ("old", "cats", "old", "cat")))]
    table = support(pairs, lexicon.stem_of, PbhmmSettings(min_documents=1, max_abstract_phrase=2))
    left, right = (phrase_keys(lexicon.ids(words), 2)[0] for words in (["old", "cats"], ["old", "cat"]))
    fakes = dict(
        zip(zip(table.document.tolist(), table.abstract.tolist(), strict=True), table.fake, strict=True)
    )

    assert fakes[left, left] == 4
    assert fakes[left, right] == 3
    assert fakes[left, phrase_keys(lexicon.ids(["cats", "old"]), 2)[0]] == 0


def test_rows_of_a_table() -> None:
    """Rows are found by their document key; counts are normalized by row, one without counts is kept."""
    table = RewriteTable.of_cells(
        np.array([3, 3, 7]), np.array([1, 2, 1]), np.array([0.5, 0.5, 1.0]), np.zeros(3)
    )

    assert table.rows.tolist() == [3, 7]
    assert table.starts.tolist() == [0, 2, 3]
    assert table.normalized(np.array([1.0, 3.0, 0.0])).tolist() == [0.25, 0.75, 1.0]
    assert len(RewriteTable.none().normalized(np.empty(0))) == 0
    assert RewriteTable.none().rows.tolist() == []


def test_jump_cells_cover_each_distance_once() -> None:
    """Cells are disjoint, in order, without gaps; those beyond the window double."""
    cells = jump_cells(4, 32)

    assert (cells.first[1:] == cells.last[:-1] + 1).all()
    assert cells.sizes.tolist() == [16, 8, 4, *[1] * 9, 4, 8, 16]
    # (1 + |d - 1|) ** -1 at d = 1 is greatest.
    assert cells.first[cells.prior(1.0)[: 3 + 9].argmax()] == 1
    assert cells.prior(1.0).sum() == pytest.approx(1)
    assert jump_cells(None, 5).sizes.tolist() == [1] * 11


def test_trained_model_takes_words_that_it_has_never_seen() -> None:
    """A copied word that is not in the training data is aligned."""
    lexicon = Lexicon()
    ids = [lexicon.encode(PAIR)]
    settings = PbhmmSettings.preset("best")
    parameters = RewriteParameters.initial(ids, lexicon.stem_of, settings)
    model = PhraseHmm("trained", settings, parameters, lexicon, parameters)
    links = next(model.align([Pair("new", ("quite", "unheard", "words"), ("unheard", "words"))])).links

    assert links == {(1, 0), (2, 1)}


def test_longer_abstracts_have_more_null_words() -> None:
    """With ten words for a document of four, P(not null) is at most four tenths of the setting."""
    settings = PbhmmSettings(p0=0.1, null_excess=True, fixed=frozenset({"null"}))
    parameters = RewriteParameters.prior(settings)

    # 1 - 0.9 * 4 / 10
    assert parameters.chain(settings, 4, 10).p0 == pytest.approx(0.64)
    assert parameters.chain(settings, 10, 4).p0 == 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p0": 0.0}, "P\\(null\\)"),
        ({"weights": (0.5, 0.5, 0.5)}, "mixture weights"),
        ({"max_abstract_phrase": 0}, "at least one word"),
        ({"window": 0}, "window"),
        ({"null_excess": True}, "fixed P\\(null\\)"),
    ],
)
def test_settings_without_meaning_are_refused(change: dict[str, object], message: str) -> None:
    """The message says which setting is wrong."""
    with pytest.raises(InputError, match=message):
        PbhmmSettings(**change)  # type: ignore[arg-type]


def test_unknown_presets_are_refused() -> None:
    """The message lists the presets there are."""
    with pytest.raises(InputError, match="best, paper"):
        PbhmmSettings.preset("faithful")
