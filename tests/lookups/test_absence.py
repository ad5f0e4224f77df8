"""An empty answer names the part of the question that never occurs, and similar words that do."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from all_counts import CONLLU
from sqlalchemy import Connection

from sentgen.case_folding import fold
from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups import dependency_search
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies, Level
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.search.absence import PARSE, pieces
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.output.wording import looks
from sentgen.schema import Store
from sentgen.schema.engine import raw

_BY_XPOS = "is a tag of upos, and these corpora count dependencies by xpos, did you mean"


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        # Tags: in another case, with similar letters, of the other tag set.
        (Kwic(pattern="upos:noun"), "did you mean upos:NOUN?"),
        (Kwic(pattern="upos:v*"), "did you mean upos:VERB?"),
        (Kwic(pattern="the upos:noun"), "upos:noun never occurs, did you mean upos:NOUN?"),
        (Kwic(pattern="xpos:VERB"), "VERB is a tag of upos, did you mean upos:VERB?"),
        (Kwic(pattern="upos:VBD"), "VBD is a tag of xpos, did you mean xpos:VBD?"),
        (Kwic(pattern="fell/vbd"), "did you mean fell/VBD?"),
        (Collocations(word="fell", dependency="subj"), "subj never occurs, did you mean nsubj?"),
        (Frequencies(by=["upos"], pattern="noun"), "did you mean NOUN?"),
        (Frequencies(by=["upos"], pattern="VBD"), "VBD is a tag of xpos, did you mean `by` xpos?"),
        # Dependencies have the tags by which they were counted: 8 of the verbs are VBD, and no other tag.
        (Dependencies(head="VERB", level=Level.TAG_WORD), f"VERB {_BY_XPOS} VBD?"),
        (Arguments(word="fell", tag="VERB"), f"VERB {_BY_XPOS} VBD?"),
        (Dependencies(head="fell", tag="vbd"), "vbd never occurs, did you mean VBD?"),
        # Words: in another case, with one wrong letter, or two in long words.
        (Ngrams(pattern="go *"), "did you mean Go or `ignore_case`?"),
        (Ngrams(pattern="the pirces"), "pirces never occurs, did you mean prices?"),
        (Kwic(pattern="zebra dow"), "zebra never occurs"),
        (Dependencies(head="sharpply"), "did you mean sharply?"),
        (Kwic(pattern="lemma:biy"), ""),
        (Collocations(word="lemma:falll"), "lemma:falll never occurs, did you mean lemma:fall?"),
        (Sketch(word="zebra"), "zebra never occurs"),
        (Collocations(word="fell", min_count=99), ""),
        # A form for a lemma gets its own lemma, not a similar one. Another letter in a short word, or another first
        # letter, does not count as a slip.
        (Kwic(pattern="lemma:fell"), "did you mean lemma:fall?"),
        (Kwic(cql='[lemma="ROSE"]'), "did you mean lemma=rise?"),
        (Kwic(pattern="roso"), ""),
        (Kwic(pattern="brices"), ""),
        (Kwic(pattern="fel"), ""),
        # If all words occur, but not in this sequence, no word is proposed.
        (Kwic(pattern="rose the"), ""),
        (Ngrams(pattern="<s> fell"), ""),
        (Ngrams(pattern="fell", min_count=99), ""),
        (Kwic(pattern="12345"), ""),
    ],
    ids=str,
)
def test_hints(question: Any, hint: str, connection: Connection) -> None:
    """The note on standard error and in answers of the API names the missing word, then similar ones."""
    answer = question.ask(connection)

    assert answer.rows.num_rows == 0
    assert answer.notes[-1] == f"no {answer.missing}" + (f"; {hint}" if hint else "")


@pytest.mark.parametrize(
    ("question", "near"),
    [
        (Kwic(pattern="the upos:noun"), {"noun": ["NOUN"]}),
        (Kwic(cql='[word="sharpply"]'), {"sharpply": ["sharply"]}),
        (Ngrams(pattern="go *"), {"go": ["Go", "--ignore-case"]}),
        # Questions for which another value in the same place is not enough.
        (Kwic(pattern="upos:VBD"), {}),
        (Frequencies(by=["upos"], pattern="VBD"), {}),
        (Kwic(pattern="zebra dow"), {}),
    ],
    ids=str,
)
def test_what_may_be_meant_can_be_put_in_its_place(
    question: Any, near: dict[str, list[str]], connection: Connection
) -> None:
    """Pages and programs get proposals by the value that never occurs, without the attribute before it."""
    assert question.ask(connection).near == near


def test_only_the_corpora_asked_for_are_looked_at(connection: Connection) -> None:
    """VBZ is a tag of the corpus other only; values outside of the selected corpora are not proposed."""
    assert Kwic(pattern="xpos:vbz").ask(connection).hints == ("did you mean xpos:VBZ?",)
    assert Kwic(pattern="Barks", corpus=["toy"]).ask(connection).hints == ()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with lines of words and a treebank."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "a.txt").write_text("the dog barks .\n", "utf-8")
    (folder / "a.conllu").write_text(CONLLU, "utf-8")
    with Store(folder / "a.duckdb", create=True) as store:
        ingest(store, [str(folder / "a.txt")], Settings("plain", format="lines"))
        ingest(store, [str(folder / "a.conllu")], Settings("trees"))
    with Store(folder / "a.duckdb", read_only=True) as store, store.connect() as connection:
        yield connection


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [("upos:NOUN", "these corpora have no upos"), ("lemma:dog", "these corpora have no lemma")],
)
def test_a_corpus_without_annotation_says_so(pattern: str, hint: str, plain: Connection) -> None:
    """A corpus without tags or lemmas has no similar ones; the answer says so."""
    assert Kwic(pattern=pattern, corpus=["plain"]).ask(plain).hints == (f"{hint}; {PARSE}",)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        (Sketch(word="dog", by="word"), f"no trees in these corpora; {PARSE}"),
        (Sketch(word="lemma:dog"), f"no trees in these corpora; {PARSE}"),
        (Dependencies(head="dog"), f"no trees in these corpora; {PARSE}"),
        (Arguments(word="dog"), f"no trees in these corpora; {PARSE}"),
        (Collocations(word="dog", dependency="nsubj"), f"no trees in these corpora; {PARSE}"),
        (Match(request="pattern { V -[nsubj]-> S }"), f"no trees in these corpora; {PARSE}"),
        (Frequencies(by=["lemma"]), f"no lemma to count; these corpora have no lemma; {PARSE}"),
        (Frequencies(by=["xpos"]), f"no xpos to count; these corpora have no xpos; {PARSE}"),
    ],
    ids=str,
)
def test_what_a_parser_gives_is_missed_by_name(question: Any, note: str, plain: Connection) -> None:
    """The answer names missing trees, not a frequent collocate; a missing layer, not its values."""
    assert replace(question, corpus=["plain"]).ask(plain).notes == [note]


def test_the_way_to_a_parser_is_named() -> None:
    """Who has none learns how one is made of a treebank, and then how it is used."""
    made, used = PARSE.index("sentgen parser train PARSER --corpus"), PARSE.index("sentgen ingest PATH")
    assert made < used
    assert PARSE.endswith("--parser PARSER")


def test_trees_that_are_missing_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a read-only store without trees, one query finds that; later questions need none, and have their own notes."""
    (tmp_path / "a.txt").write_text("the dog barks .\n", "utf-8")
    with Store(tmp_path / "a.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "a.txt")], Settings("plain", format="lines"))
        with store.connect() as connection:
            expected = [one.ask(connection) for one in _OF_TREES]
    asked, ask = list[str](), dependency_search.limited_answer

    def limited(*given: Any) -> Answer:
        asked.append(given[1].text)
        return ask(*given)

    monkeypatch.setattr(dependency_search, "limited_answer", limited)
    with Store(tmp_path / "a.duckdb", read_only=True) as store, store.connect() as connection:
        found = [one.ask(connection) for one in _OF_TREES]

    assert found == expected
    assert len(asked) == 2


_OF_TREES = (
    Dependencies(head="dog"),
    Dependencies(head="barks", reverse=True),
    Arguments(word="dog", limit=20),
    Arguments(word="barks", limit=20),
)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        (
            Frequencies(where="corpus = plan"),
            "no sentence that meets the condition; corpus is never 'plan', did you mean plain?",
        ),
        (Frequencies(where="length > 100"), "no sentence that meets the condition"),
        (
            Kwic(pattern="dgo", where="length > 100"),
            "no occurrence of 'dgo'; no sentence meets the condition",
        ),
        (Sketch(word="dog", where="length > 100"), "; no sentence meets the condition"),
    ],
    ids=str,
)
def test_a_condition_that_no_sentence_meets_is_the_reason(
    question: Any, note: str, plain: Connection
) -> None:
    """The reason is the condition, not words, layers and trees that other sentences have."""
    assert question.ask(plain).notes[-1].endswith(note)


_LETTERS = "abcdeAßİé"


def _edited(word: str) -> list[str]:
    """Return all words that differ from a word by one slip, with one letter for others."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    shorter = [left + right[1:] for left, right in cuts if right]
    others = [left + "x" + right[size:] for left, right in cuts for size in (0, 1)]
    return [*shorter, *others, *(left + right[1::-1] + right[2:] for left, right in cuts if right[1:])]


@pytest.mark.parametrize("word", ["abcd", "abcde", "abcdef", "abcdefg", "abcdefgh", "aabbaabba"])
def test_words_a_few_slips_away_have_a_piece(word: str) -> None:
    """Words within two slips are found, also if letters are swapped between the pieces that are looked up."""
    once = _edited(word)
    twice = [one for edited in once for one in _edited(edited)]

    assert all(re.search(pieces(word, 1), one) for one in once)
    assert len(word) < 6 or all(re.search(pieces(word, 2), one) for one in twice)


def _slipped(word: str, draw: random.Random) -> str:
    """Return a word with up to three slips."""
    for _ in range(draw.randint(0, 3)):
        at, other = draw.randrange(len(word)), draw.choice(_LETTERS)
        edited = [
            word[:at] + word[at + 1 :],
            word[:at] + other + word[at:],
            word[:at] + other + word[at + 1 :],
        ]
        edited.append(word[:at] + word[at : at + 2][::-1] + word[at + 2 :])
        word = draw.choice([one for one in edited if one])
    return word


def _meant(asked: str, forms: Sequence[str]) -> list[str]:
    """Return the words that may be meant by one that never occurs, in the order of the store."""
    folded = {form: fold(form) for form in forms}
    if alike := [
        one for one in forms if fold(looks(one)) == fold(looks(asked)) and folded[one] != fold(asked)
    ]:
        return alike[:3]
    if same := [form for form in forms if folded[form] == fold(asked)]:
        return [*same[:3], "--ignore-case"]
    text = "select damerau_levenshtein(one, $asked) from (select unnest($folded) as one)"
    given = {"asked": fold(asked), "folded": list(folded.values())}
    slips = [number for (number,) in duckdb.execute(text, given).fetchall()]
    near = [
        (number, place, form)
        for place, (form, number) in enumerate(zip(forms, slips, strict=True))
        if len(asked) > 3
        and number <= (2 if len(asked) > 5 else 1)
        and (
            len(form) != len(asked)
            or sorted(folded[form]) == sorted(fold(asked))
            or (len(asked) > 4 and folded[form][0] == fold(asked)[0])
        )
    ]
    return [form for _, _, form in sorted(near)[:3]]


def test_words_that_are_meant_are_those_with_the_fewest_slips(tmp_path: Path) -> None:
    """Proposals are those of a reference that counts slips for all words: no word was excluded wrongly before."""
    draw = random.Random(41)
    asked = ["".join(draw.choices(_LETTERS, k=draw.randint(3, 9))) for _ in range(30)]
    words = [_slipped(one, draw) for one in asked for _ in range(20)]
    (tmp_path / "a.txt").write_text("".join(f"{one}\n" for one in words), "utf-8")
    with Store(tmp_path / "a.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "a.txt")], Settings("plain", format="lines"))
        with store.connect() as connection:
            text = "select form from word where id in (select word_id from token) order by id"
            forms = [form for (form,) in raw(connection).execute(text).fetchall()]
            for one in asked:
                near = Ngrams(pattern=one).ask(connection).near
                assert list(near.get(one, [])) == ([] if one in forms else _meant(one, forms)), one
