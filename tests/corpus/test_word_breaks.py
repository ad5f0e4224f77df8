"""Tokenisation of raw text in other languages than English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import sentencex
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.formats import READERS
from sentgen.corpus.parsers import Parser
from sentgen.corpus.readers.text import read as read_text
from sentgen.corpus.readers.text import split_sentences
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.word_breaks import split_words
from sentgen.counts.ingestion import ingest
from sentgen.counts.settings import Settings
from sentgen.errors import InputError
from sentgen.schema import Store


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("fr", "L'homme, dit-il aujourd'hui...", "L' homme , dit-il aujourd'hui ..."),
        ("fr", "« Qu’il vienne ! » 3,5 km", "« Qu’ il vienne ! » 3,5 km"),
        ("it", "Dell'arte e un'altra", "Dell' arte e un' altra"),
        ("de", "Er kam um 5.30 Uhr -- und ging (schnell).", "Er kam um 5.30 Uhr -- und ging ( schnell ) ."),
        ("de", "Ein- und Ausgang", "Ein - und Ausgang"),
        ("fi", "EU:n linja-auto", "EU:n linja-auto"),
        ("ar", "هل أنت بخير؟ نعم، شكرًا", "هل أنت بخير ؟ نعم ، شكرًا"),
        ("hi", "नमस्ते दुनिया। क्या", "नमस्ते दुनिया । क्या"),
        ("zh", "我喜欢狗。", "我 喜 欢 狗 。"),
        (
            "es",
            "¿Qué? Escribe a ana.b@x.org, o https://x.org/a?b=1.",
            "¿ Qué ? Escribe a ana.b@x.org , o https://x.org/a?b=1 .",
        ),
    ],
)
def test_words(language: str, text: str, words: str) -> None:
    """Punctuation stands alone; what belongs together in the language stays together."""
    assert split_words(text, language) == words.split()


def test_accents_stay_with_their_letters() -> None:
    """Accents stay with their letters, whether precomposed or combining."""
    assert split_words("l'e\u0301tude na\u00efve", "fr") == ["l'", "e\u0301tude", "na\u00efve"]


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40),
    st.sampled_from(["fr", "zh", "ar", "it"]),
)
def test_nothing_is_lost(text: str, language: str) -> None:
    """The words are the text without its blanks."""
    assert "".join(split_words(text, language)) == "".join(text.split())


def read(text: str, language: str) -> Iterator[Sentence]:
    for found in read_text([text], path="p", language=language):
        assert isinstance(found, Sentence)
        yield found


def test_sentences_end_as_the_language_ends_them() -> None:
    """And what follows a word in the text is known."""
    found = list(read("我喜欢狗。你呢?", "zh"))

    assert ["".join(sentence.forms) for sentence in found] == ["我喜欢狗。", "你呢?"]
    assert found[0].space_after == [False] * 4 + [True]
    assert [sentence.text for sentence in read("هل أنت بخير؟ نعم.", "ar")] == ["هل أنت بخير؟", "نعم."]


def test_english_is_as_it_was() -> None:
    """The default: Penn Treebank."""
    reader = READERS["text"]

    assert reader.with_settings({}) is reader
    assert reader.with_settings({"language": "fr"}).version != reader.version
    assert READERS["conllu"].with_settings({"language": "fr"}) is READERS["conllu"]


def test_a_text_in_another_language_is_another_source(empty_store: Path, tmp_path: Path) -> None:
    """Read again in the same one, it is unchanged; a lake reads JSON Lines alike."""
    (tmp_path / "a.jsonl").write_text('{"text": "L\'homme est venu."}\n', "utf-8")
    with Store(tmp_path / "s.duckdb", create=True) as store:
        for language, added in (("fr", 1), ("fr", 0), ("en", 1)):
            assert (
                ingest(store, [str(tmp_path / "a.jsonl")], Settings("c", language=language)).sources == added
            )
        with store.connect() as connection:
            forms = connection.exec_driver_sql(
                "select form from v_tokens where position = 1 order by all"
            ).scalars()

            assert list(forms) == ["L'", "L'homme"]


def test_what_is_no_code_is_refused() -> None:
    """In one line, with examples."""
    with pytest.raises(InputError, match="no language 'french'; give a code"):
        Settings("c", language="french")


def test_a_parser_knows_its_own_language(empty_store: Path, tmp_path: Path) -> None:
    """So that both cannot be asked for."""
    with (
        Store(tmp_path / "s.duckdb", create=True) as store,
        pytest.raises(InputError, match="either `language` or `parser`"),
    ):
        ingest(store, [__file__], Settings("c", language="fr"), parser=cast("Parser", object()))


def test_titles_end_no_sentence() -> None:
    """Each sentence is where it stands in the text; what only ends like a title ends a sentence."""
    text = "M. Dupont et Mme. Durand viennent.  Le Dr. Noir aussi. Aide-M. Et X."
    found = list(split_sentences(text, "fr"))

    assert [one for _, one in found] == [
        "M. Dupont et Mme. Durand viennent.",
        "Le Dr. Noir aussi.",
        "Aide-M.",
        "Et X.",
    ]
    assert all(text.startswith(one, place) for place, one in found)
    assert len(list(sentencex.segment("fr", text))) > len(found)


def test_a_title_at_the_end_is_a_sentence() -> None:
    """Nothing is lost where no name follows."""
    assert list(split_sentences("Il y va. Avec M.", "fr")) == [(0, "Il y va."), (9, "Avec M.")]
