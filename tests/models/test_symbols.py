"""Models over tags, classes and items: those of a text in which the symbols stand in place of words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import text
from stored import model_problems
from toy_corpus import add_corpus, assert_sums_to_one, ngrams
from typer.testing import CliRunner

from sentgen.cli import build as commands
from sentgen.errors import InputError, ModelError
from sentgen.generation import parse_bag, regenerate
from sentgen.models import build, export_arpa, find, import_arpa
from sentgen.models.base.registry import overview
from sentgen.models.base.symbols import Symbols
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

#: Words with tags, and the numbers of their base noun phrases; "it" is one of one word, and two stand side by side.
SENTENCES = [
    ("the/D dog/N saw/V the/D cat/N", [1, 1, 0, 2, 2]),
    ("it/P gave/V a/D dog/N the/D cat/N", [1, 0, 2, 2, 3, 3]),
    ("a/D Big/A dog/N barks/V", [1, 1, 1, 0]),
    ("it/P saw/V it/P", [1, 0, 2]),
]
TAGGED = [
    "<tag:D> <tag:N> <tag:V> <tag:D> <tag:N>",
    "<tag:P> <tag:V> <tag:D> <tag:N> <tag:D> <tag:N>",
    "<tag:D> <tag:A> <tag:N> <tag:V>",
    "<tag:P> <tag:V> <tag:P>",
]
BRACKETED = [
    "<np> <tag:D> <tag:N> </np> <tag:V> <np> <tag:D> <tag:N> </np>",
    "<tag:P> <tag:V> <np> <tag:D> <tag:N> </np> <np> <tag:D> <tag:N> </np>",
    "<np> <tag:D> <tag:A> <tag:N> </np> <tag:V>",
    TAGGED[3],
]
#: dog, it and the occur three times; cat, which comes before saw, would be the fourth.
CLASSED = [
    "the dog <tag:V> the <tag:N>",
    "it <tag:V> <tag:D> dog the <tag:N>",
    "<tag:D> <tag:A> dog <tag:V>",
    "it <tag:V> it",
]
ITEMIZED = ["<np:N> <tag:V> <np:N>", "it <tag:V> <np:N> <np:N>", "<np:N> <tag:V>", "it <tag:V> it"]
BARE = ["<np:N> <tag:V> <np:N>", "<tag:P> <tag:V> <np:N> <np:N>", "<np:N> <tag:V>", "<tag:P> <tag:V> <tag:P>"]
CASES = [
    (Symbols("tags"), False, TAGGED),
    (Symbols("tags"), True, BRACKETED),
    (Symbols("classes", 3), False, CLASSED),
    (Symbols("classes", 0), False, TAGGED),
    (Symbols("items", 3), False, ITEMIZED),
    (Symbols("items", 0), False, BARE),
]


def add_phrases(store: Store, name: str = "trees", sentences: Sequence[str] | None = None) -> None:
    """Store the sentences with tags and base noun phrases."""
    add_corpus(store, name, sentences or [sentence for sentence, _ in SENTENCES], tags="xpos_id")
    rows = [(i, k, n) for i, (_, found) in enumerate(SENTENCES) for k, n in enumerate(found, 1)]
    update = "update token set np = :np where sentence_id = :sentence + 1 and position = :position"
    with store.begin() as connection:
        for sentence, position, number in rows:
            connection.execute(text(update), {"np": number, "sentence": sentence, "position": position})


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("smoothing", ["kneser-ney", "katz"])
@pytest.mark.parametrize(("made_of", "brackets", "written"), CASES, ids=str)
def test_it_is_the_model_of_a_text_of_symbols(
    store: Store, smoothing: str, made_of: Symbols, brackets: bool, written: list[str]
) -> None:
    """N-grams, probabilities and weights are those of a text of symbols, to the last bit."""
    add_phrases(store)
    model = build(store, "m", ["trees"], order=3, smoothing=smoothing, brackets=brackets, symbols=made_of)
    add_corpus(store, "written", written)
    expected = build(store, "e", ["written"], order=3, smoothing=smoothing)

    found = ngrams(store, model)
    assert found == ngrams(store, expected)
    assert_sums_to_one(found, 3)
    assert (model.symbols, model.brackets) == (made_of, brackets)


def test_the_universal_tag_stands_in_for_the_other(store: Store) -> None:
    add_corpus(store, "trees", ["the/DET dog/NOUN"], tags="upos_id")
    with store.begin() as connection:
        connection.execute(text("insert into tag values (99, 'DT')"))
        connection.execute(text("update token set xpos_id = 99 where position = 1"))
    model = build(store, "m", ["trees"], order=2, symbols=Symbols("tags"))

    assert ("<tag:DT>", "<tag:NOUN>") in ngrams(store, model)


def test_models_say_what_they_are_over(store: Store) -> None:
    add_phrases(store)
    build(store, "words", ["trees"], order=2)
    build(store, "tags", ["trees"], order=2, symbols=Symbols("tags"))
    build(store, "items", ["trees"], order=2, symbols=Symbols("items", 2))

    assert [row[-2] for row in overview(store).rows] == ["items (2)", "tags", "words"]
    assert [find(store, name).size.split()[1] for name in ("words", "tags", "items")] == [
        "words",
        "tags",
        "items",
    ]
    rows = {name: find(store, name).describe(store) for name in ("words", "items")}
    assert ("over", None, "items (2)") in rows["items"]
    assert "over" not in [row[0].split(":")[0] for row in rows["words"]]
    assert [row[0].split(":")[0] for row in rows["items"]].count("over") == 1


@pytest.mark.nightly
def test_they_are_counted_again(store: Store) -> None:
    """Checks count the symbols again: they pass, and find damage."""
    add_phrases(store)
    for made_of, brackets, _ in CASES:
        build(store, "m", ["trees"], order=3, brackets=brackets, symbols=made_of)
    assert model_problems(store) == {}

    with store.begin() as connection:
        connection.execute(text("update model_parameter set value = 2 where name = 'over: classes'"))
    assert list(model_problems(store)) == ["m@3: n-grams recounted", "m@4: n-grams recounted"]


def test_arpa_files_say_what_they_are_over(store: Store, tmp_path: Path) -> None:
    add_phrases(store)
    model = build(store, "m", ["trees"], order=2, symbols=Symbols("classes", 3))
    export_arpa(store, model, tmp_path / "m.arpa")

    assert (tmp_path / "m.arpa").read_text().startswith("# over: classes 3\n\\data\\\n")
    again = import_arpa(store, "m", tmp_path / "m.arpa")
    assert again.symbols == model.symbols
    assert ngrams(store, again).keys() == ngrams(store, model).keys()


def test_symbols_are_scored_as_words(store: Store) -> None:
    """Symbols are scored as words, and never lower-cased, even if words are."""
    add_phrases(store)
    model = build(store, "m", ["trees"], order=3, symbols=Symbols("classes", 3))
    add_corpus(store, "written", CLASSED)
    expected = build(store, "e", ["written"], order=3)
    sentences = [line.split() for line in CLASSED]
    (one,) = score_sentences(store, model, [["THE", "<tag:N>"]], lowercase=True)

    assert list(score_sentences(store, model, sentences)) == list(score_sentences(store, expected, sentences))
    assert one.oov == 0


@pytest.mark.parametrize("made_of", [Symbols("tags"), Symbols("classes", 1), Symbols("items", 1)], ids=str)
def test_plain_text_is_refused(store: Store, made_of: Symbols) -> None:
    add_corpus(store, "plain", ["the dog saw", "the dog"])

    with pytest.raises(
        ModelError, match=r"plain: (words have no tags|base noun phrases are not known) there"
    ):
        build(store, "m", ["plain"], order=2, symbols=made_of)


def test_symbols_in_the_text_are_refused(store: Store) -> None:
    """Symbols in a text are refused where words are kept; elsewhere they become tags as all words do."""
    add_corpus(store, "odd", ["<tag:N>/D dog/N"], tags="xpos_id")

    with pytest.raises(ModelError, match="contains the word <tag:N>, which is a symbol"):
        build(store, "m", ["odd"], order=2, symbols=Symbols("classes", 9))
    assert ("<tag:D>", "<tag:N>") in ngrams(
        store, build(store, "m", ["odd"], order=2, symbols=Symbols("tags"))
    )


@pytest.mark.parametrize(
    ("over", "settings", "message"),
    [
        ("tags", {"smoothing": "stupid-backoff"}, "reads counts as they are"),
        ("classes", {"unknown": "tag"}, "knows rare words by their tags already"),
        ("items", {"brackets": True}, "a phrase is one item"),
    ],
)
def test_settings_that_contradict_each_other(
    store: Store, over: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        build(store, "m", ["c"], order=2, symbols=Symbols.checked(over, None), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("over", "kept", "message"),
    [
        ("lemmas", None, "no model is over 'lemmas'"),
        ("tags", 3, "leave `classes` out"),
        ("items", -1, "0 or more"),
    ],
)
def test_kinds_are_checked(over: str, kept: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Symbols.checked(over, kept)


def test_sentences_are_not_made_of_symbols(store: Store) -> None:
    add_phrases(store)
    model = build(store, "m", ["trees"], order=2, symbols=Symbols("tags"))

    with pytest.raises(ModelError, match="m is a model over tags, which knows no words"):
        next(regenerate(store, model, [parse_bag("the dog")]))


def test_commands(tmp_path: Path) -> None:
    """The default keeps 150 words; `score` says what to write."""
    db = str(tmp_path / "cli.duckdb")
    with Store(db, create=True) as store:
        add_phrases(store)

    def run(*arguments: str) -> tuple[str, str]:
        result = CliRunner().invoke(commands(), [*arguments, "--db", db], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout, result.stderr

    run("models", "build", "i", "--corpus", "trees", "--over", "items")
    run("models", "build", "t", "--corpus", "trees", "--over", "tags", "--brackets")

    assert "over,,items (150)" in run("models", "show", "i", "--csv")[0]
    assert "write tags as <tag:NN>" in run("score", "--model", "t", "<np> <tag:D> <tag:N> </np>", "--csv")[1]
