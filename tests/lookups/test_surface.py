"""Surface text: words of several tokens are shown and found as they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.base.attributes import Value
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.base.tokens import Block
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.cql.dialects import Dialect
from sentgen.lookups.cql.written import ways_to_write
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow


def sentence(*words: str, heads: str = "") -> str:
    """Return rows of words, `du=de+le` for a range, with `~` before a word that follows without a space."""
    rows: list[str] = []
    position = 0
    for number, word in enumerate(words):
        glued = number + 1 < len(words) and words[number + 1].startswith("~")
        misc = "SpaceAfter=No" if glued else "_"
        form, _, tokens = word.removeprefix("~").partition("=")
        parts = tokens.split("+") if tokens else [form]
        if tokens:
            rows.append(f"{position + 1}-{position + len(parts)}\t{form}" + "\t_" * 7 + f"\t{misc}")
        for part in parts:
            position += 1
            rows.append(f"{position}\t{part}" + "\t_" * 7 + f"\t{'_' if tokens else misc}")
    return "\n".join([*rows, "", ""])


#: Name of a sentence to its words, for `sentence`, and to its text.
TEXTS = {
    "a": (("Le", "prix", "du=de+le", "pain", "~."), "Le prix du pain."),
    "b": (("Du=De+le", "~,", "puis", "aux=à+les", "~!"), "Du, puis aux!"),
    "c": (("de", "le", "dire", "du=du"), "de le dire du"),
}
#: Words of several tokens, each with its tokens, a token beside it, and its own sentence.
SPOKEN = {
    "zum": ("zu dem", "fährt", ("Er", "fährt", "zum=zu+dem", "Bahnhof", "~.")),
    "won't": ("wo n't", "They", ("They", "wo", "~n't", "wait", "~.")),
    "Mary's": ("Mary 's", "aunt", ("Mary", "~'s", "aunt", "came", "~.")),
    "l'été": ("l' été", "dit", ("dit", "l'", "~été")),
    "Dámelo": ("Da me lo", "ya", ("Dámelo=Da+me+lo", "ya")),
    "«Aux": ("« À les", "armes", ("«", "~Aux=À+les", "armes", "~»")),
    "وبالكتاب": ("و ب الكتاب", "قرأ", ("قرأ", "وبالكتاب=و+ب+الكتاب", "~.")),
    "ובבית": ("ו ב ה בית", "גר", ("גר", "ובבית=ו+ב+ה+בית", "~.")),
    "北京大学": ("北京 大学", "很", ("北京", "~大学", "~很", "~大", "~。")),
}


def filled(folder: Path, empty_store: Path, texts: dict[str, tuple[str, ...]]) -> Path:
    """Return the path of a store with sentences of texts by their names."""
    (folder / "t.conllu").write_text(
        "".join(f"# sent_id = {name}\n{sentence(*words)}" for name, words in texts.items()), encoding="utf-8"
    )
    (folder / "s.duckdb").write_bytes(empty_store.read_bytes())
    with Store(folder / "s.duckdb") as store:
        ingest(store, [str(folder / "t.conllu")], Settings("t"))
    return folder / "s.duckdb"


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    texts = {name: words for name, (words, _) in TEXTS.items()}
    path = filled(tmp_path_factory.mktemp("surface"), empty_store, texts)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    """A store of the sentences of `SPOKEN`."""
    texts = {word: words for word, (_, _, words) in SPOKEN.items()}
    path = filled(tmp_path_factory.mktemp("spoken"), empty_store, texts)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def lines(connection: Connection, pattern: str, **options: object) -> list[tuple[str, ...]]:
    found = Kwic(pattern=pattern, **options).ask(connection).table  # type: ignore[arg-type]
    names = ("sent_id", "left", "node", "right")
    return list(zip(*(found[name].to_pylist() for name in names), strict=True))


def test_sentences_are_as_they_are_written(connection: Connection) -> None:
    texts = fetch_arrow(connection, "select text from v_sentences order by id")["text"].to_pylist()

    assert texts == [text for _, text in TEXTS.values()]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        # A word of several tokens is the node as a whole, though no token has its form; one of one token is found once.
        ("du", [("a", "Le prix", "du", "pain."), ("c", "de le dire", "du", "")]),
        ("du pain", [("a", "Le prix", "du pain", ".")]),
        ("prix du * .", [("a", "Le", "prix du pain.", "")]),
        ("* aux", [("b", "Du,", "puis aux", "!")]),
        # A hit in a token of a word shows the whole word; other tokens are shown as they are.
        (
            "le",
            [("a", "Le prix", "du", "pain."), ("b", "", "Du", ", puis aux!"), ("c", "de", "le", "dire du")],
        ),
        ("le pain", [("a", "Le prix", "du pain", ".")]),
        ("de le", [("a", "Le prix", "du", "pain."), ("c", "", "de le", "dire du")]),
        # Wildcards match tokens only.
        (
            "d?",
            [("a", "Le prix", "du", "pain."), ("c", "", "de", "le dire du"), ("c", "de le dire", "du", "")],
        ),
    ],
)
def test_words_are_found_as_they_are_written(
    connection: Connection, pattern: str, found: list[tuple[str, ...]]
) -> None:
    assert lines(connection, pattern) == found
    assert lines(connection, pattern, limit=0) == found
    assert Kwic(pattern=pattern, limit=1).ask(connection).total in (len(found), None)


def test_case_and_order(connection: Connection) -> None:
    assert [line[0] for line in lines(connection, "DU", ignore_case=True)] == ["a", "b", "c"]
    assert [line[0] for line in lines(connection, "du", sort="right", ignore_case=True)] == [
        "c",
        "b",
        "a",
    ]
    drawn = lines(connection, "du", random=3, limit=2)
    assert sorted(drawn) == lines(connection, "du")


def test_a_context_that_begins_within_a_word_has_all_of_it(connection: Connection) -> None:
    # One token before "pain" is "le", and one after "puis" is "à".
    assert lines(connection, "pain", context=1) == [("a", "du", "pain", ".")]
    assert lines(connection, "puis", context=1) == [("b", ",", "puis", "aux")]


def test_pairs_of_words_are_lines_of_surface_text(connection: Connection) -> None:
    answer = PairLines(word="prix", other="le", role="collocate", window="2").ask(connection)

    assert answer.table.select(["left", "node", "right"]).to_pylist() == [
        {"left": "Le", "node": "prix du", "right": "pain."}
    ]


#: Questions about a word and a token beside it, each with one line for an answer.
LINES: dict[str, Callable[[str, str], Kwic]] = {
    "a pattern": lambda word, _: Kwic(pattern=word),
    "a pattern, case ignored": lambda word, _: Kwic(pattern=word.upper(), ignore_case=True),
    "CQL": lambda word, _: Kwic(cql=f'"{word}"'),
    "CQL with a label": lambda word, _: Kwic(cql=f'a:[word="{word}"] :: a.word != "beside"'),
    "CQL within a sentence": lambda word, _: Kwic(cql=f'"{word}" within s'),
    "CQL, case ignored": lambda word, _: Kwic(cql=f'"{word.upper()}"%c'),
    "CQL as CQP has it": lambda word, _: Kwic(pattern=f'"{word}"', dialect=Dialect.CQP),
    "CQL as BlackLab has it": lambda word, _: Kwic(pattern=f'"{word}"', dialect=Dialect.BLACKLAB),
    "CQL that meets": lambda word, beside: Kwic(cql=f'MU(meet "{word}" "{beside}" s)'),
    "over the ends of sentences": lambda word, _: Kwic(pattern=word, across=True),
    "any number of times": lambda word, _: Kwic(cql=f'"{word}"+'),
}


@pytest.mark.nightly(by_day=5)
@pytest.mark.parametrize("word", SPOKEN)
def test_words_of_several_tokens_are_found_by_all_questions(spoken: Connection, word: str) -> None:
    """All languages find words as written; lookups that count tokens use their tokens."""
    tokens, beside, _ = SPOKEN[word]
    for told, question in LINES.items():
        found = question(word, beside).ask(spoken).table.to_pylist()
        assert [(row["sent_id"], row["node"]) for row in found] == [(word, word)], told

    near = Kwic(pattern=beside, filter=[word]).ask(spoken).table["sent_id"].to_pylist()
    assert near == [word]
    for query in (word, f'"{word}"'):
        counted = Frequencies(query=query).ask(spoken).table
        assert counted.select(["word", "count"]).to_pylist() == [{"word": tokens, "count": 1}]
    collocates = Collocations(word=word, min_count=1).ask(spoken).table["collocate"].to_pylist()
    assert beside in collocates
    assert not set(tokens.split()) & set(collocates)
    answer = PairLines(word=word, other=beside, role="collocate").ask(spoken)
    assert answer.table["sent_id"].to_pylist() == [word]


OF_TOKENS: dict[str, Callable[[str], Sketch | Thesaurus | Collocations]] = {
    "sketch": lambda word: Sketch(word=word),
    "thesaurus": lambda word: Thesaurus(word=word),
    "collocations": lambda word: Collocations(word=word, dependency="*"),
}
LISTS: dict[str, Callable[[str], Ngrams | Frequencies]] = {
    "n-grams": lambda word: Ngrams(pattern=word),
    "frequencies": lambda word: Frequencies(pattern=word),
}


@pytest.mark.parametrize("word", SPOKEN)
def test_where_tokens_are_meant_the_answer_names_them(spoken: Connection, word: str) -> None:
    tokens = SPOKEN[word][0]
    for ask in OF_TOKENS.values():
        with pytest.raises(InputError, match=f"several tokens, {tokens},"):
            ask(word).ask(spoken)
    for listed in LISTS.values():
        answer: Answer = listed(word).ask(spoken)
        assert answer.is_empty
        assert answer.hints == (f"{word} is several tokens, and these are counted: {tokens}",)


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("won’t", "did you mean won't?"),
        ("l’été", "did you mean l'été?"),
        ("Won't", "did you mean `ignore_case`?"),
        ("won't never", "never never occurs"),
    ],
)
def test_what_may_be_meant(spoken: Connection, asked: str, hint: str) -> None:
    (told,) = Kwic(pattern=asked).ask(spoken).hints

    assert told.startswith(hint)


def test_spaces_are_looked_at_only_where_pieces_stand_side_by_side(
    spoken: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing spaces are read only if tokens that make up the word are adjacent, not for all tokens."""

    def refuse(block: Block, name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(Block, "column", refuse)
    for word in ("zu", "aunt", "zuEr", "nowhere"):
        assert ways_to_write(spoken, Value((word,)), Selection(())) == []
    # Here *wo* is before *n't*.
    with pytest.raises(AssertionError, match="unspaced"):
        ways_to_write(spoken, Value(("won't",), ignore_accents=True), Selection(()))


def test_words_do_not_go_over_spaces(spoken: Connection) -> None:
    """Tokens with a space between them are not one word, and parts of tokens are none."""
    for pattern in ("dit l'été", "ditl'été", "n'twait", "北", "zudem"):
        found = Kwic(pattern=pattern).ask(spoken).table["node"].to_pylist()
        assert found == ([pattern] if " " in pattern else [])
