"""Words with the same collocates, against Lin's formula computed pair by pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from math import log
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.base import tokens
from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.lookups.statistics.relations import FUNCTION
from sentgen.lookups.statistics.thesaurus import Thesaurus
from sentgen.schema import Store

#: A token: sentence, position, word, lemma, tag, head and relation.
Token = tuple[int, int, str, str, str, int, str]
_TOKENS = """\
select t.sentence_id, t.position, w.form, l.form, x.name, t.head, r.name
from token as t
join word as w on w.id = t.word_id
join word as l on l.id = t.lemma_id
join tag as x on x.id = t.upos_id
join tag as r on r.id = t.deprel_id"""


def alike(
    tokens: list[Token], of: tuple[str, str], unit: Callable[[Token], str], *, function: bool, least: int
) -> dict[str, tuple[float, int, int]]:
    """Return similarity, shared collocates and frequency of every word with enough shared collocates."""
    word, tag = of
    at = {token[:2]: token for token in tokens}
    count: Counter[tuple[str, str, str, str]] = Counter()
    for token in tokens:
        sentence, _, _, _, _, head, relation = token
        hidden = relation in FUNCTION or relation.partition(":")[0] in FUNCTION
        if not head or (hidden and not function):
            continue
        for one, other, role in (
            (token, at[sentence, head], "head"),
            (at[sentence, head], token, "modifier"),
        ):
            plain = all(any(map(str.isalnum, unit(each))) for each in (one, other))
            if one[4] == tag and (plain or function):
                count[unit(one), relation, role, unit(other)] += 1
    told: dict[str, dict[tuple[str, str, str], float]] = defaultdict(dict)
    for (item, *context), found in count.items():
        relation, role, other = context
        every = sum(n for key, n in count.items() if key[1:3] == (relation, role))
        of_item = sum(n for key, n in count.items() if key[:3] == (item, relation, role))
        of_other = sum(n for key, n in count.items() if key[1:] == (relation, role, other))
        if (information := log(found * every / (of_item * of_other))) > 1e-12:
            told[item][relation, role, other] = information
    rows = {}
    for item, contexts in told.items():
        shared = contexts.keys() & told[word].keys()
        if item != word and len(shared) >= least:
            common = sum(contexts[one] + told[word][one] for one in shared)
            whole = sum(contexts.values()) + sum(told[word].values())
            frequency = sum(1 for token in tokens if unit(token) == item and token[4] == tag)
            rows[item] = (pytest.approx(common / whole), len(shared), frequency)
    return rows


def found(connection: Connection, **asked: object) -> dict[str, tuple[float, int, int]]:
    rows = Thesaurus(limit=0, **asked).ask(connection).table.to_pylist()  # type: ignore[arg-type]
    keys = [(-row["similarity"], row["word"]) for row in rows]
    assert [key[0] for key in keys] == sorted(key[0] for key in keys)
    return {row["word"]: (row["similarity"], row["shared"], row["frequency"]) for row in rows}


def tokens_of(connection: Connection) -> list[Token]:
    return [tuple(row) for row in connection.exec_driver_sql(_TOKENS).fetchall()]  # type: ignore[misc]


@pytest.mark.parametrize("function", [False, True])
@pytest.mark.parametrize("word", ["fall", "rise", "stock", "price"])
def test_similarities_are_those_of_the_formula(connection: Connection, word: str, function: bool) -> None:
    tokens = tokens_of(connection)
    tag = next(token[4] for token in tokens if token[3] == word)
    expected = alike(tokens, (word, tag), lambda token: token[3], function=function, least=1)
    assert found(connection, word=f"lemma:{word}", min_count=1, function_words=function) == expected
    # No word in these sentences shares collocates with *stock*.
    assert expected or not function or word == "stock"


def test_blocks_of_a_few_sentences_make_no_difference(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = found(connection, word="fell", by=CollocateUnit.WORD, min_count=1)
    expected = alike(tokens_of(connection), ("fell", "VERB"), lambda token: token[2], function=False, least=1)
    assert whole == expected != {}
    monkeypatch.setattr(tokens, "SIZE", 20)
    assert found(connection, word="fell", by=CollocateUnit.WORD, min_count=1) == whole


def tree(*lines: str) -> str:
    return "\n".join(f"{n}\t{line}\t_\t_" for n, line in enumerate(lines, 1)) + "\n\n"


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of nouns, and of a verb with the form of one, with their verbs; and of a corpus of plain text."""
    folder = tmp_path_factory.mktemp("thesaurus")
    text, path = folder / "trees.conllu", folder / "trees.duckdb"
    pairs = ["eat apple", "eat apple", "eat pear", "peel apple", "Peel Pear", "drive car", "wash car"]
    nouns = ("apple", "pear", "car")
    sentences = [
        tree(
            f"{verb}\t{verb}\tVERB\t_\t_\t0\troot",
            f"{noun}\t{noun}\tNOUN\t_\t_\t1\tobj",
            "!\t!\tPUNCT\t_\t_\t1\tpunct",
        )
        for verb, noun in (pair.split() for pair in pairs)
    ]
    sentences += [
        tree("car\tcar\tVERB\t_\t_\t0\troot", f"{noun}\t{noun}\tNOUN\t_\t_\t1\tobj") for noun in nouns
    ]
    text.write_text("".join(sentences))
    # Penn tags, and no universal ones.
    penn = folder / "penn.conllu"
    tagged = "".join(sentences).replace("\tVERB\t_", "\t_\tVBZ").replace("\tPUNCT\t_", "\t_\t.")
    penn.write_text(tagged.replace("pear\tNOUN\t_", "pear\t_\tNNS").replace("\tNOUN\t_", "\t_\tNN"))
    plain = folder / "plain.txt"
    plain.write_text("An apple a day.\n")
    with Store(path, create=True) as store:
        ingest(store, [str(text)], Settings("trees", order=1))
        ingest(store, [str(penn)], Settings("penn", order=1))
        ingest(store, [str(plain)], Settings("plain", order=1))
    return path


@pytest.mark.parametrize(("corpus", "tag"), [("trees", "NOUN"), ("penn", "NN")])
def test_words_of_one_class_are_compared(treebank: Path, corpus: str, tag: str) -> None:
    """By hand, of 10 pairs: 4 with an apple, 3 with a pear, 3 with eat, 2 with peel."""
    with Store(treebank, read_only=True) as store, store.connect() as opened:
        answer = Thesaurus(word="apple", min_count=1, ignore_case=True, corpus=[corpus]).ask(opened)
        assert answer.remarks == (f"compared with apple, {tag}, which has 4 occurrences",)
        (row,) = answer.table.to_pylist()
        eat_apple, eat_pear = log(2 * 10 / (4 * 3)), log(1 * 10 / (3 * 3))
        peel_apple, peel_pear = log(1 * 10 / (4 * 2)), log(1 * 10 / (3 * 2))
        car_pear = log(1 * 10 / (3 * 3))
        common = eat_apple + eat_pear + peel_apple + peel_pear
        assert row["similarity"] == pytest.approx(common / (common + car_pear))
        assert (row["word"], row["shared"], row["frequency"]) == ("pear", 2, 3)


def test_what_cannot_be_compared_is_refused(treebank: Path) -> None:
    with Store(treebank, read_only=True) as store, store.connect() as opened:
        with pytest.raises(InputError, match="these corpora have no trees"):
            Thesaurus(word="apple", corpus=["plain"]).ask(opened)
        with pytest.raises(InputError, match="collocations are those of one word"):
            Thesaurus(word="eat apple").ask(opened)
        notes = Thesaurus(word="appel").ask(opened).notes
        assert notes[0].startswith("no 'appel' in these corpora")
        assert "apple" in notes[0]
        alone = Thesaurus(word="apple", min_count=9).ask(opened).notes
        assert alone[-1] == "no word that shares 9 collocates or more with 'apple'"
