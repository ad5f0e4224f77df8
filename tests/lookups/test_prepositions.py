"""Links through prepositions, against walks through random trees of three annotation schemes."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.base import tokens
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.lookups.statistics.relations import NAME, NAMED
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.schema import Store

#: Relations of Universal Dependencies, of SUD, and of Stanford and Penn, mixed.
_RELATIONS = (
    *("obl", "nmod", "nmod:poss", "obl:arg", "obl:agent", "case", "case", "case", "fixed", "fixed", "nsubj"),
    *("conj", "udep", "comp:obj", "prep", "pobj", "PMOD", "LOC"),
)
_WORDS = ("camp", "Camp", "live", "go", "in", "In", "of")
_NO_LINK = ("conj", "CONJ", "COORD")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a random sentence; ``head`` is the position of its head, 0 for the root."""

    form: str
    upos: str
    head: int
    relation: str


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc or link that a sketch counts; ``preposition`` is empty for an arc of the tree."""

    head: str
    modifier: str
    relation: str
    preposition: str


def random_sentence(draw: random.Random) -> list[Token]:
    """Draw a tree of up to nine tokens."""
    size = draw.randint(2, 9)
    order = draw.sample(range(1, size + 1), size)
    heads = {order[0]: 0} | {one: draw.choice(order[:n]) for n, one in enumerate(order) if n}
    return [
        Token(
            draw.choice(_WORDS),
            draw.choice(("ADP", "NOUN")),
            heads[n],
            draw.choice(_RELATIONS) if heads[n] else "root",
        )
        for n in range(1, size + 1)
    ]


def arcs_of(sentence: list[Token]) -> Iterator[Arc]:
    """Yield the arcs of a sentence, and its links through prepositions."""
    at = dict(enumerate(sentence, 1))
    for place, one in at.items():
        if not one.head:
            continue
        head = at[one.head]
        yield Arc(head.form, one.form, one.relation, "")
        if one.relation in ("obl", "nmod", "obl:arg"):
            for below, other in at.items():
                if (other.head, other.relation) == (place, "case"):
                    rest = [t.form for t in sentence if (t.head, t.relation) == (below, "fixed")]
                    yield Arc(head.form, one.form, one.relation, " ".join([other.form, *rest]).lower())
        object_of = one.relation in ("pobj", "PMOD") or (one.relation == "comp:obj" and head.upos == "ADP")
        if object_of and head.head and head.relation not in _NO_LINK:
            yield Arc(at[head.head].form, one.form, head.relation, head.form.lower())


SENTENCES = [random_sentence(random.Random(seed)) for seed in range(100)]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store of the sentences, in which lemmas are equal to words."""
    folder = tmp_path_factory.mktemp("prepositions")
    lines = [
        f"{n}\t{t.form}\t{t.form}\t{t.upos}\t_\t_\t{t.head}\t{t.relation}\t_\t_" + "\n" * (1 + (n == len(s)))
        for s in SENTENCES
        for n, t in enumerate(s, 1)
    ]
    (folder / "trees.conllu").write_text("".join(lines), "utf-8")
    with Store(folder / "trees.duckdb", create=True) as store:
        ingest(store, [str(folder / "trees.conllu")], Settings("trees", order=1))
    with Store(folder / "trees.duckdb", read_only=True) as store, store.connect() as connection:
        yield connection


def rows_of(connection: Connection, word: str, *, ignore_case: bool) -> list[dict[str, Any]]:
    asked = Sketch(word=word, min_count=1, limit=0, function_words=True, ignore_case=ignore_case)
    return asked.ask(connection).table.to_pylist()


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("word", ["camp", "live", "in"])
def test_links_are_counted_as_one_counts_them_by_hand(
    trees: Connection, word: str, ignore_case: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs, frequencies and measures agree with the reference, in a store of one block and of several."""
    arcs = [arc for sentence in SENTENCES for arc in arcs_of(sentence)]
    if ignore_case:
        arcs = [Arc(a.head.lower(), a.modifier.lower(), a.relation, a.preposition) for a in arcs]
    pairs = Counter(
        (role, arc.relation, arc.preposition, getattr(arc, role))
        for role, other in (("modifier", "head"), ("head", "modifier"))
        for arc in arcs
        if getattr(arc, other) == word
    )
    alone = Counter(
        (role, a.relation, a.preposition, getattr(a, role)) for a in arcs for role in ("head", "modifier")
    )
    every = Counter((arc.relation, arc.preposition) for arc in arcs)
    with_node: Counter[tuple[str, ...]] = Counter()
    for key, count in pairs.items():
        with_node[key[:3]] += count
    expected = {
        key: (
            count,
            alone[key],
            with_node[key[:3]],
            pytest.approx(math.log2(count * every[key[1:3]] / (with_node[key[:3]] * alone[key]))),
        )
        for key, count in pairs.items()
    }
    for most in (tokens.SIZE, 150):
        monkeypatch.setattr(tokens, "SIZE", most)
        # Counts are cached with the connection.
        trees.info.clear()
        found = {
            (row["role"], row["relation"], row["preposition"] or "", row["collocate"]): (
                *(row["count"], row["frequency"], row["pairs"], row["pmi"]),
            )
            for row in rows_of(trees, word, ignore_case=ignore_case)
        }
        assert found == expected
    assert any(" " in arc.preposition for arc in arcs)
    assert any(key[2] for key in expected)


@pytest.mark.parametrize("ignore_case", [False, True])
def test_as_many_lines_stand_behind_a_count(trees: Connection, ignore_case: bool) -> None:
    """Relations have names with a preposition and without, for heads and modifiers."""
    rows = rows_of(trees, "camp", ignore_case=ignore_case)
    for row in rows[::15]:
        lines = PairLines(
            word="camp",
            other=row["collocate"],
            by=CollocateUnit.LEMMA,
            role=row["role"],
            relation=row["relation"],
            preposition=row["preposition"] or "",
            ignore_case=ignore_case,
            limit=0,
        ).ask(trees)
        ends = sorted(("camp", row["collocate"]))

        assert lines.rows.num_rows == row["count"], row
        for node in lines.table["node"].to_pylist():
            words = node.lower().split() if ignore_case else node.split()
            assert sorted((words[0], words[-1])) == ends


@pytest.mark.parametrize(
    ("relation", "role", "name"),
    [
        ("obl", "modifier", "camp in ..."),
        ("obl", "head", "... in camp"),
        ("nmod", "modifier", "camp in ..."),
        ("nmod", "head", "nouns in camp"),
        ("prep", "head", "... in camp"),
    ],
)
def test_relations_are_named_with_their_preposition(relation: str, role: str, name: str) -> None:
    values = f"select '{relation}' as relation, '{role}' as role, 'in' as preposition"
    joined = "left join n as exact using (relation, role) left join n as base using (relation, role)"
    text = f"with n as ({NAMED}), ranked as ({values}) select {NAME} from ranked {joined}"

    assert duckdb.execute(text, {"shown": "camp"}).fetchall() == [(name,)]
