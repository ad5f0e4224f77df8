"""Words that are related: by spelling, and in a WordNet of four files made by hand."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from whole_pairs import link_posteriors

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.emission import rewriting
from sentgen.alignment.phrase_hmm.lexicon import Lexicon
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import LINK_TEMPLATES, LinkCounts, find_clues
from sentgen.alignment.words.kinship import GROUPED, NONE, RELATED, SIMILAR, SYNONYM, Kinship, related_by
from sentgen.alignment.words.word_classes import is_function_word
from sentgen.alignment.words.wordnet import WordNet, find_wordnet
from sentgen.errors import InputError

KIN = PbhmmSettings(stems="equal", similar=0.5, synonym=0.3, related=0.1, null_function=0.2, mixed=0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """car = auto, both vehicles; to run is to move; good is similar to fine."""
    files = {
        "data.noun": "  license\n"
        "00000010 06 n 02 car 0 auto 0 001 @ 00000020 n 0000 | a motor vehicle\n"
        "00000020 06 n 01 vehicle 0 000 | a car or what transports\n",
        "index.noun": "  license\n"
        "auto n 1 1 @ 1 0 00000010\ncar n 1 1 @ 1 0 00000010\nvehicle n 1 0 1 0 00000020\n",
        "noun.exc": "oxen ox\n",
        "data.verb": "00000030 38 v 01 run 0 001 @ 00000040 v 0000 01 + 01 00 | move fast\n"
        "00000040 38 v 01 move 0 000 01 + 01 00 | change place\n",
        "index.verb": "move v 1 0 1 0 00000040\nrun v 1 1 @ 1 0 00000030\n",
        "verb.exc": "ran run\n",
        "data.adj": "00000050 00 a 01 good 0 001 & 00000060 s 0000 | well\n"
        "00000060 00 s 01 fine 0 001 & 00000050 a 0000 | very well\n",
        "index.adj": "fine s 1 1 & 1 0 00000060\ngood a 1 1 & 1 0 00000050\n",
        "adj.exc": "",
        "data.adv": "",
        "index.adv": "",
        "adv.exc": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_synsets_of_inflected_words(folder: Path) -> None:
    """Endings are taken off, and irregular forms looked up."""
    net = WordNet(folder)

    assert net.synsets("autos") == {("n", 10)}
    assert net.synsets("ran") == {("v", 30)}
    assert net.synsets("unheard") == frozenset()
    assert net.neighbors(("n", 10)) == {("n", 20)}
    assert net.neighbors(("a", 50)) == {("a", 60)}


def test_kinds_of_kinship(folder: Path) -> None:
    """Synonyms share a synset, related words are one step apart in either direction, and spelling is closest."""
    found = Kinship.between(
        ("cars", "vehicle", "ran", "threaten", "u.s.a.", "the"),
        ("auto", "moves", "threats", "usa", "then", "cars"),
        wordnet=folder,
    )

    wanted = np.full((6, 6), NONE)
    wanted[0, 0] = SYNONYM
    wanted[0, 5] = SIMILAR
    wanted[1, 0] = wanted[1, 5] = wanted[2, 1] = RELATED
    wanted[3, 2] = wanted[4, 3] = SIMILAR
    assert found.kinds.tolist() == wanted.tolist()
    assert found.abstract.tolist() == [False] * 5 + [True]
    assert found.swap_texts().kinds.tolist() == wanted.T.tolist()


def test_words_that_explain_each_other(folder: Path) -> None:
    """Words are related by stems of their definitions, else by steps in WordNet; function words are not."""
    found = related_by(folder, ("Car", "ran", "the", "good"), ("vehicles", "moved", "fine", "fast", "the"))

    assert found.tolist() == [[3, 0, 0, 0, 0], [0, 2, 0, 2, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert related_by(None, ("car",), ("vehicle",)).tolist() == [[0]]
    pair, lexicon = Pair("1", ("the", "vehicle"), ("car",)), Lexicon()
    ids = lexicon.with_kinship(lexicon.encode(pair), wordnet=folder)
    clues = find_clues(pair, ids, LinkCounts.none(), folder)
    (place,) = (n for n, one in enumerate(LINK_TEMPLATES) if one.name == "related in WordNet")
    seen = [LINK_TEMPLATES[place].values[value] for value in clues.links[place, 0].tolist()]
    assert seen == ["other words, not related", "akin words, each explains the other"]
    assert related_by(folder, (), ("vehicle",)).shape == (0, 1)


def test_a_text_without_words_has_no_kin(folder: Path) -> None:
    """A text without words has no related words, on either side."""
    assert Kinship.between(("dog",), (), wordnet=folder).kinds.shape == (1, 0)
    assert Kinship.between((), ("dog",), wordnet=folder).kinds.shape == (0, 1)


@pytest.mark.parametrize(
    ("one", "other", "akin"),
    [
        ("jde", "j.d.e.", True),  # the same without punctuation
        ("threaten", "threats", True),  # 6 of 8 letters at the beginning
        ("northwood", "northwoods", True),
        ("mecca", "meccan", True),
        ("cat", "cats", False),  # too short
        ("contract", "contrast", True),  # 6 of 8 as well: spelling is not sense
        ("conference", "confine", False),
        ("--", ",", False),
    ],
)
def test_similar_spelling(one: str, other: str, akin: bool) -> None:
    """Words of four letters or more that begin alike or share most pairs of letters are similar."""
    assert bool(Kinship.between((one,), (other,), wordnet=None).kinds[0, 0]) is akin


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("two", "2", SIMILAR),
        ("twenty-fifth", "25th", SIMILAR),
        ("third", "3rd", SIMILAR),
        ("twenty-first", "21st", SIMILAR),
        ("third", "4th", NONE),
        ("Jan.", "January", SIMILAR),
        ("%", "percent", SIMILAR),
        ("US$", "dollars", SIMILAR),
        ("pre-war", "prewar", SIMILAR),
        ("a", "The", GROUPED),
        ("was", "is", GROUPED),
        ("of", "'s", GROUPED),
        ("however", "but", GROUPED),
        ("a", "of", NONE),
        (".", "!", GROUPED),
        (".", "the", NONE),
        ("killed", "murder", SYNONYM),
        ("Thailand", "Thais", SYNONYM),
        ("France", "French", SYNONYM),
        ("dog", "window", NONE),
    ],
)
def test_kinds_without_wordnet(one: str, other: str, kind: int) -> None:
    """Spellings of a word, groups of function words, and our own synonyms are related in both directions."""
    assert Kinship.between((one,), (other,), wordnet=None).kinds.tolist() == [[kind]]
    assert Kinship.between((other,), (one,), wordnet=None).kinds.tolist() == [[kind]]


def test_initials_of_the_words_of_a_phrase() -> None:
    """Function words have an initial or are skipped; the words must follow each other."""
    phrase = "the Voice of America in the United States of America and the union of European workers"
    text = phrase.split()
    words = list(dict.fromkeys(text))
    short = ("VOA", "U.S.A.", "eu", "it")
    found = Kinship.between(short, words, wordnet=None, texts=(short, text)).kinds == SIMILAR
    swapped = Kinship.between(words, short, wordnet=None, texts=(text, short)).kinds == SIMILAR

    named = [{word for word, yes in zip(words, row, strict=True) if yes} for row in found.tolist()]
    assert named == [{"Voice", "of", "America"}, {"United", "States", "America"}, set(), set()]
    assert swapped.T.tolist() == found.tolist()


def test_function_words_have_no_letters_or_are_listed() -> None:
    """Case does not matter; digits make a content word."""
    assert [is_function_word(word) for word in ("The", "n't", "...", "3", "dog")] == [True] * 3 + [False] * 2


def test_components_of_words_that_are_akin() -> None:
    """The second component is the constant of the kind; null emits function words by its setting."""
    lexicon = Lexicon()
    ids = lexicon.encode(Pair("1", ("the", "threats"), ("threaten", "the", "dog")))
    akin = lexicon.with_kinship(ids, wordnet=None)
    parameters = RewriteParameters.prior(KIN)
    plain, found = rewriting(ids, parameters, KIN), rewriting(akin, parameters, KIN)
    threaten, the, dog = found.emission.abstract.tolist()
    article, threats = found.emission.document.tolist()
    assert found.all_parts is not None
    assert plain.all_parts is not None
    parts, plain_parts = (one.components.parts.reshape(3, 3, 2) for one in (found.all_parts, plain.all_parts))

    assert parts[1, threaten, threats] == 0.5
    assert plain_parts[1, threaten, threats] == 0  # their stems are threaten and threat
    assert parts[0, the, threats] == pytest.approx(0.01 / 20_000)
    assert parts[0, dog, threats] == pytest.approx(1 / 20_000)
    assert plain_parts[0, the, threats] == pytest.approx(1 / 20_000)
    assert parts[2, the, article] == 1
    assert found.emission.null == pytest.approx([1 / 20_000, 0.2, 1 / 20_000])


def test_aligner_uses_kinship(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A synonym is aligned with its synonym, and not without WordNet."""
    monkeypatch.setenv("SENTGEN_WORDNET", str(folder))
    settings = replace(KIN, decode="posterior", both=True, threshold=0.4, p0=0.5, normalization="position")
    pair = Pair("1", ("auto", "deal", "ever", "seen", "now"), ("car",))
    model = PhraseHmm("x", settings, RewriteParameters.prior(settings), Lexicon())
    with_net = next(model.align([pair]))
    monkeypatch.setattr("sentgen.alignment.phrase_hmm.pbhmm.find_wordnet", lambda: None)

    assert with_net.links == {(0, 0)}
    assert not next(model.align([pair])).links


def test_kinship_is_exchanged_with_the_texts() -> None:
    """The posteriors of the exchanged pair use the same kinship."""
    lexicon = Lexicon()
    ids = lexicon.encode(Pair("1", ("a", "threat"), ("threats", "b")))
    akin = lexicon.with_kinship(ids, wordnet=None).swap_texts()
    links, _ = link_posteriors(akin, RewriteParameters.prior(KIN), KIN)

    assert links.shape == (2, 2)
    assert links[1, 0] > 0.5
    assert ids.swap_texts().kinship is None


def test_folder_without_wordnet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what is missing."""
    monkeypatch.setenv("SENTGEN_WORDNET", str(tmp_path))
    with pytest.raises(InputError, match=r"no data\.noun"):
        find_wordnet()


def test_wordnet_is_found_in_its_package(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no folder is named, WordNet is looked for in the package `wn`, which may be missing."""
    monkeypatch.delenv("SENTGEN_WORDNET", raising=False)
    package = folder / "wn"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(folder))
    # Others may have it on this machine.
    monkeypatch.setattr("sentgen.alignment.words.wordnet.DEBIAN", tmp_path / "none")
    monkeypatch.setattr("sentgen.alignment.words.wordnet._ROOTS", ())
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv("NLTK_DATA", raising=False)
    assert find_wordnet() is None

    (package / "data" / "wordnet-3.0").mkdir()
    (package / "data" / "wordnet-3.0" / "data.noun").write_text("")
    assert find_wordnet() == package / "data" / "wordnet-3.0"
    monkeypatch.setattr("sentgen.alignment.words.wordnet.find_spec", lambda name: None)
    assert find_wordnet() is None


@pytest.mark.parametrize("place", ["folder", "archive", "debian"])
def test_wordnet_is_found_where_others_have_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """WordNet is found in NLTK's folder, unpacked or zipped, and in Debian's, and its words are used."""
    monkeypatch.delenv("SENTGEN_WORDNET", raising=False)
    monkeypatch.setattr("sentgen.alignment.words.wordnet.DEBIAN", folder if place == "debian" else tmp_path)
    monkeypatch.setattr("sentgen.alignment.words.wordnet._ROOTS", ())
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "data"))
    corpora = tmp_path / "data" / "corpora"
    if place == "folder":
        shutil.copytree(folder, corpora / "wordnet")
    elif place == "archive":
        shutil.copytree(folder, tmp_path / "packed" / "wordnet")
        corpora.mkdir(parents=True)
        shutil.make_archive(str(corpora / "wordnet"), "zip", tmp_path / "packed")

    found = find_wordnet()

    assert found is not None
    assert WordNet(found).synsets("car") == WordNet(folder).synsets("car") != frozenset()
