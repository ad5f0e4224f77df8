"""Grew requests: compiled SQL against an independent matcher, on random trees and random requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grew_oracle
import pytest
import random_trees
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.errors import InputError, QueryError
from sentgen.lookups.grew import matches
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.grew.reading import read_key, read_request
from sentgen.schema import Store
from sentgen.schema.engine import raw

NAMES = ("X", "Y", "Z")
CONDITIONS = (
    *("upos=A", "upos=A|B", "upos<>A", "!upos", "xpos", "Num", "!Num", "Num=S", "Num<>S", "Num=*"),
    *('form="a"', 'form=re"a.*"', "form<>a", "!form", "form", "lemma=/b/i", "lemma=ab", "Gloss=x", "!Gloss"),
    *("Gloss<>x", 'wordform=re"a.?"', "textform=a|b", "form=__0__"),
)
ARROWS = (
    *("->", "-[r]->", "-[r|s:t]->", "-[^r]->", "-[^r|s:t]->", '-[re"s.*"]->', "-[1=s]->", "-[1=s, 2=t]->"),
    *("-[1=s, 2=*]->", "-[1=s|r, !2]->", "-[2<>t]->", "-[deep=d]->", "-[1=s, !deep]->", "->>", "-[E:r]->"),
    *("-[E:r|E:s:t]->", "-[enhanced=yes, 1=s]->", "-[E:*]->", "-[root]->", "-[1=root]->"),
)
COMPARISONS = (
    *("{a} < {b}", "{a} << {b}", "{a} > {b}", "{a} >> {b}", "length({a},{b}) = 2", "delta({a},{b}) < 0"),
    *("{a}.Num = {b}.Num", "{a}.lemma <> {b}.lemma", "{a}.form = {b}.lemma", "{a}.__id__ < {b}.__id__"),
    *('{a}.form = re"a.*"', "{a}.Num <> S", "{a}.Gloss = {b}.Gloss", "{a}.__id__ >= 2", "{a}.upos = A|B"),
)
EDGE_COMPARISONS = (
    *("e >< f", "e << f", "e <> f", "e.label = f.label", "e.1 = f.1", "e.2 <> t", "e.length > 1", "X << e"),
    *("e.delta <= f.delta", "e.deep = d", "f >> e", "e.label <> r"),
)
GLOBALS = (
    *("is_projective", "is_not_projective", "is_cyclic", "is_tree", 'text = re".*a.*"', "sent_id = s1|s2|s3"),
    *("genre = news", "genre <> news", "!genre", "genre"),
)


@st.composite
def clauses(draw: st.DrawFn, names: tuple[str, ...], outer: tuple[str, ...] = ()) -> str:
    """Draw some clauses about nodes of their own, and about nodes of the clauses outside."""
    found = []
    known = [*outer, *names]
    for name in names:
        each = [
            ", ".join(draw(st.lists(st.sampled_from(CONDITIONS), max_size=2)))
            for _ in range(draw(st.sampled_from((1, 1, 1, 2))))
        ]
        free = draw(st.sampled_from(("", "", "", "$")))
        # A node without a clause of its own is introduced by an edge.
        if draw(st.booleans()) or len(known) == 1:
            found.append(f"{name}{free} {'|'.join(f'[{one}]' for one in each)}")
        else:
            other = draw(st.sampled_from([one for one in known if one != name]))
            ends = draw(st.permutations((name, other)))
            found.append(draw(st.sampled_from(ARROWS)).join(f" {one} " for one in ends))
    brought = " ".join(found)
    declared = [one for one in known if one in outer or one in brought]
    if len(declared) > 1:
        for _ in range(draw(st.integers(0, 2))):
            a, b = draw(st.permutations(declared))[:2]
            found.append(
                draw(st.sampled_from([*COMPARISONS, *(f"{{a}} {arrow} {{b}}" for arrow in ARROWS)])).format(
                    a=a, b=b
                )
            )
    if draw(st.integers(0, 4)) == 0:
        one, arrow = (
            draw(st.sampled_from(declared)),
            draw(st.sampled_from([one for one in ARROWS if one != "->>"])),
        )
        found.append(draw(st.sampled_from((f"{one} {arrow} *", f"* {arrow} {one}"))))
    return "; ".join(found)


@st.composite
def requests(draw: st.DrawFn) -> str:
    """Draw a request."""
    names = NAMES[: draw(st.integers(0, 3))]
    pattern = draw(clauses(names)) if names else ""
    if draw(st.integers(0, 4)) == 0:
        arrows = [one for one in ARROWS if one != "->>"]
        pair = f"e: X {draw(st.sampled_from(arrows))} Y; f: Z {draw(st.sampled_from(arrows))} W"
        names, pattern = ("X", "Y", "Z", "W"), f"{pair}; {draw(st.sampled_from(EDGE_COMPARISONS))}"
    blocks = [f"pattern {{ {pattern} }}"]
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        own = ("V", "U")[: draw(st.integers(0 if names else 1, 1 if len(names) > 2 else 2))]
        inner = (
            draw(clauses(own, names))
            if own or len(names) > 1
            else f"{names[0]} [{draw(st.sampled_from(CONDITIONS))}]"
        )
        blocks.append(f"{draw(st.sampled_from(('with', 'without')))} {{ {inner} }}")
    if draw(st.integers(0, 3)) == 0:
        blocks.append(f"global {{ {draw(st.sampled_from(GLOBALS))} }}")
    return " ".join(blocks)


class Forest(tuple[Connection, list[grew_oracle.Tree]]):
    """A store and its trees, with a short `repr` for Hypothesis."""

    def __repr__(self) -> str:
        return "Forest"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forest]:
    """The store of random trees, and the trees."""
    path, found = random_trees.make(tmp_path_factory.mktemp("grew"))
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield Forest((opened, found))


def hits_of(connection: Connection, request: str) -> list[tuple[str, dict[str, str]]]:
    """Return the hits by SQL: the sentence, and the value of each name."""
    rows = Match(request=request, limit=0).ask(connection).table.to_pylist()
    return [(row["sent_id"], dict(part.split("=", 1) for part in row["nodes"].split())) for row in rows]


def test_joins_are_no_products(trees: Forest) -> None:
    """No join is a product: DuckDB uses an equality with a subquery too late, after it combined all rows."""
    request = "pattern { X [textform=a|b, Gloss<>x]; Y$ []; X -[E:r]-> Z; Z.Gloss = X.Gloss; X -[1=s]-> * }"
    query = Match(request=request, count=True).ask(trees[0]).query
    plan = raw(trees[0]).execute("explain " + query.with_values()).fetchall()
    assert "TOKEN" in str(plan).upper()
    assert "CROSS" not in str(plan).upper()


def expected(request: str, trees: list[grew_oracle.Tree]) -> list[tuple[str, dict[str, str]]]:
    """Return the hits by brute force."""
    found = []
    for tree in trees:
        for hit in grew_oracle.hits(read_request(request), tree):
            nodes = {name: f"{tree.features[place]['form']}@{place}" for name, place in hit.nodes.items()}
            found.append(
                (tree.metadata["sent_id"], {**nodes, **{name: edge[1] for name, edge in hit.edges.items()}})
            )
    return found


def sortable(hits: list[tuple[str, dict[str, str]]]) -> list[tuple[str, list[tuple[str, str]]]]:
    return sorted((sentence, sorted(names.items())) for sentence, names in hits)


@settings(max_examples=settings.default.max_examples // 3)
@given(request=requests())
@example("pattern { Y -> X; Y []; Y ->> Z }")
@example("pattern { Y []; Y ->> Z }")
def test_sql_finds_what_brute_force_finds(trees: Forest, request: str) -> None:
    """All hits are found, as often as by brute force; edges without a name count once."""
    connection, sentences = trees
    wanted = expected(request, sentences)

    assert sortable(hits_of(connection, request)) == sortable(wanted), request
    assert Match(request=request, count=True).ask(connection).table.to_pylist() == [{"count": len(wanted)}]
    with in_ranges():
        assert sortable(hits_of(connection, request)) == sortable(wanted), request
        assert Match(request=request, count=True).ask(connection).table.to_pylist() == [
            {"count": len(wanted)}
        ]


@contextmanager
def in_ranges() -> Iterator[None]:
    """Make the sixty sentences be searched in ranges of eleven; the first hits, in ranges of five and ten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matches, "SENTENCES", 11)
        patch.setattr(matches, "_FIRST", 2)
        yield


KEYED = (
    ("pattern { X -> Y }", ["X.upos", "Y.lemma"], "Y [Num=S]"),
    ("pattern { e: X -> Y; Y -> Z }", ["e.label", "e.1", "e.2", "e.deep"], "X << Y"),
    ("pattern { X [upos=A]; Y [upos=B] }", ["delta(X,Y)", "X.Num", "Y.Gloss", "X.wordform"], "X -> Y"),
    ("pattern { X []; Y [upos=A]; X << Y }", ["X.form", "X.__id__", "length(X,Y)"], "Z -> X; Z -> Y"),
)


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(("request_", "keys", "whether"), KEYED)
def test_keys_count_what_brute_force_counts(
    trees: Forest, request_: str, keys: list[str], whether: str
) -> None:
    """A value that is missing is ``__undefined__``; a condition is yes or no."""
    connection, sentences = trees
    counted: Counter[tuple[str, ...]] = Counter()
    for tree in sentences:
        for hit in grew_oracle.hits(read_request(request_), tree):
            values = (grew_oracle.value(read_key(key).value, tree, hit) for key in keys)  # type: ignore[arg-type]
            row = ["__undefined__" if one is None else str(one) for one in values]
            # The condition as a filter: is this hit among those that it leaves?
            narrowed = grew_oracle.hits(read_request(f"{request_} with {{ {whether} }}"), tree)
            counted[*row, "yes" if hit in list(narrowed) else "no"] += 1
    found = Match(request=request_, key=keys, whether=[whether], limit=0).ask(connection).table.to_pylist()

    assert {tuple(row[name] for name in [*keys, whether]): row["count"] for row in found} == counted
    assert sum(row["frequency"] for row in found) == pytest.approx(1)
    assert [row["count"] for row in found] == sorted(counted.values(), reverse=True)


@pytest.mark.nightly(by_day=21)
@pytest.mark.parametrize("asked", ["hits", "counts", "sentences"])
@pytest.mark.parametrize(
    ("limit", "seed"),
    [
        *((0, None), (1, 3), (7, None), (20, 3)),
        *(pytest.param(*one, marks=pytest.mark.nightly) for one in ((0, 3), (1, None), (7, 3), (20, None))),
    ],
)
@pytest.mark.parametrize(
    "request_", [*(one[0] for one in KEYED), "pattern { }", "global { is_cyclic }", "pattern { X ->> Y }"]
)
def test_ranges_change_nothing(
    trees: Forest, asked: str, limit: int, seed: int | None, request_: str
) -> None:
    """First hits, drawn hits, their number and their number by keys are the same in ranges."""
    connection, _ = trees
    question = Match(request=request_, limit=limit, random=seed)
    if asked == "counts":
        keyed = [(keys, [whether]) for one, keys, whether in KEYED if one == request_]
        keys, whether = keyed[0] if keyed else ([], [])
        question = replace(question, key=keys, whether=whether, count=not keyed, random=None)

    def told() -> Any:
        if asked == "sentences":
            return question.sentences(connection)
        answer = question.ask(connection)
        return (
            answer.table.to_pylist(),
            answer.total,
            answer.truncated,
            answer.notes,
            answer.query.with_values(),
        )

    whole = told()
    with in_ranges():
        assert told() == whole


def test_order_as_a_key(trees: Forest) -> None:
    """A key such as S#V#O gives the order of nodes."""
    connection, _ = trees
    found = (
        Match(request="pattern { X -> Y; Y -> Z }", key=["X#Y#Z"], limit=0).ask(connection).table.to_pylist()
    )
    orders = {
        "X << Y << Z": "X << Y; Y << Z",
        "Z << Y << X": "Z << Y; Y << X",
        "Y << X << Z": "Y << X; X << Z",
    }

    for order, asked in orders.items():
        (count,) = (row["count"] for row in found if row["X#Y#Z"] == order)
        total = Match(request=f"pattern {{ X -> Y; Y -> Z; {asked} }}", count=True).ask(connection).total
        assert count == total > 0


def test_metadata_as_a_key(trees: Forest) -> None:
    """Hits are counted by metadata of the sentence; an empty request has as many hits as there are trees."""
    connection, sentences = trees
    found = Match(request="pattern { }", key=["meta.genre"]).ask(connection).table.to_pylist()
    genres = Counter(tree.metadata.get("genre", "__undefined__") for tree in sentences)

    assert {row["meta.genre"]: row["count"] for row in found} == genres
    for row in found:
        tokens = sum(
            len(tree.features) - 1
            for tree in sentences
            if tree.metadata.get("genre", "__undefined__") == row["meta.genre"]
        )
        assert row["per_million_in_part"] == pytest.approx(1e6 * row["count"] / tokens)


def test_words_of_several_tokens(tmp_path: Path) -> None:
    """`textform` is the written form: the first token has that of the word, others none; MISC takes precedence."""
    from sentgen.counts.ingestion import Settings, ingest
    from sentgen.schema import Store

    rows = ["1\tParle\tparler\tVERB\t_\t_\t0\troot\t_\t_", "2-3\tdu\t_\t_\t_\t_\t_\t_\t_\t_"]
    rows += ["2\tde\tde\tADP\t_\t_\t4\tcase\t_\t_", "3\tle\tle\tDET\t_\t_\t4\tdet\t_\t_"]
    rows += ["4\tchat\tchat\tNOUN\t_\t_\t1\tobl\t_\t_"]
    (tmp_path / "du.conllu").write_text("\n".join(rows) + "\n\n")
    with Store(tmp_path / "du.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "du.conllu")], Settings("du", order=1))
        with store.begin() as connection:
            connection.exec_driver_sql("delete from token_misc")
            connection.exec_driver_sql("insert into token_misc values (1, 1, 1, 'wordform=parle')")
        with store.connect() as connection:

            def values(key: str) -> dict[str, str]:
                found = Match(request="pattern { X [upos] }", key=["X.__id__", key], limit=0).ask(connection)
                return {row["X.__id__"]: row[key] for row in found.table.to_pylist()}

            assert values("X.textform") == {"1": "Parle", "2": "du", "3": "_", "4": "chat"}
            assert values("X.wordform") == {"1": "parle", "2": "de", "3": "le", "4": "chat"}
            assert Match(request="pattern { X [textform=du] }", count=True).ask(connection).total == 1


def test_sample_is_drawn_from_all_hits(trees: Forest) -> None:
    """Drawn hits are the same for a seed, in the order of the corpus, with the sentences of these hits only."""
    connection, _ = trees
    request = "pattern { X -> Y }"
    everything = hits_of(connection, request)
    draws = [
        Match(request=request, random=seed, limit=10).ask(connection).table.to_pylist() for seed in (1, 1, 2)
    ]

    assert draws[0] == draws[1] != draws[2]
    places = [
        everything.index((row["sent_id"], dict(part.split("=") for part in row["nodes"].split())))
        for row in draws[0]
    ]
    assert places == sorted(places)
    assert max(places) > 20
    names = {f"s{number}" for number in Match(request=request, random=1, limit=10).sentences(connection)}
    assert names == {row["sent_id"] for row in draws[0]}


@pytest.mark.parametrize(
    ("request_", "told", "picture"),
    [
        ("pattern { X [upos=] }", "column 19: expected one of", "  pattern { X [upos=] }\n" + " " * 20 + "^"),
        ("pattern {\n  X -[a]> Y }", "line 2, column 8: expected", "    X -[a]> Y }\n         ^"),
        ("pattern { X []", "column 15: expected }", "  pattern { X []\n" + " " * 16 + "^"),
        ("patern { X [] }", "column 1: expected one of global", "  patern { X [] }\n  ^"),
    ],
)
def test_a_slip_is_shown_in_its_place(request_: str, told: str, picture: str) -> None:
    """A wrong request is shown with line, column, what was expected, the line and a caret."""
    with pytest.raises(QueryError) as raised:
        read_request(request_)

    assert str(raised.value).startswith(told)
    assert raised.value.picture == picture


@pytest.mark.parametrize(
    ("request_", "keys", "told"),
    [
        ("pattern { X [] }", ["Z.lemma"], "no node or edge 'Z' in the request; it has X"),
        ("pattern { X [] }", ["X#Z"], "no node 'Z' in the request; it has X"),
        ("pattern { e: X -> Y }", ["e#X"], "e is an edge, and a node is wanted here"),
        (
            "pattern { e: X -> Y }",
            ["e.lemma"],
            "e.lemma: an edge has label, length, delta, deep, and 1, 2, ...",
        ),
        ("pattern { e: X -> Y; e -> Z }", [], "e is an edge, and a node is wanted here"),
        (
            "pattern { e: X -> Y; e: Y -> Z }",
            [],
            "e names two things in the request; call the edge otherwise",
        ),
        ("pattern { X [] ; X << Y }", [], "no node or edge 'Y' in the request; it has X"),
        ("pattern { X [] ; X.form = lex.noun }", [], "no node or edge 'lex' in the request; it has X"),
        ("pattern { X []; Y []; X >< Y }", [], ">< stands between edges; nodes have < and <<"),
        ("pattern { e: X -> Y; e < Y }", [], "< stands between nodes; edges have <<, >< and <>"),
        ("pattern { X -[E:r|s]-> Y }", [], "an edge is of the tree or of the enhanced graph"),
        ("pattern { X -[one=r]-> Y }", [], "a relation has no part 'one'"),
        ("pattern { X }", [], "X alone says nothing; write 'X []'"),
        ("pattern { * -> * }", [], "an edge needs a node at one of its ends"),
        ("global { is_odd }", [], "no structure 'is_odd'; there are is_projective"),
        ('pattern { X [form=re"["] }', [], "'[' is no regular expression: missing ]"),
        ("pattern { X [] } #BEGIN lex\n#END", [], "lexicons (#BEGIN) are not read"),
        ("pattern { X []; Y []; X.form < Y }", [], "what is greater or less, is compared with a number"),
        ("  ", [], "the request is empty"),
    ],
)
def test_what_cannot_be_asked_is_refused(trees: Forest, request_: str, keys: list[str], told: str) -> None:
    """Requests that cannot be answered are refused in one line each."""
    with pytest.raises(InputError) as raised:
        Match(request=request_, key=keys).ask(trees[0])

    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_nothing_is_explained(trees: Forest) -> None:
    """An empty answer names the part of the request that never occurs, and similar values."""
    notes = Match(request="pattern { X [upos=a]; X -[q]-> Y }").ask(trees[0]).notes

    assert len(notes) == 1
    assert "upos=a never occurs, did you mean upos=A?" in notes[0]
    assert "q never occurs" in notes[0]


def test_case_is_ignored_where_that_is_asked(trees: Forest) -> None:
    """Case is ignored in forms and lemmas; hits of all spellings count."""
    connection, _ = trees

    def count(form: str, **options: bool) -> int:
        found = Match(request=f'pattern {{ X [form="{form}"] }}', count=True, **options).ask(connection)
        return int(found.table["count"][0].as_py())

    assert count("a", ignore_case=True) == count("a") + count("A") > max(count("a"), count("A"))
    rows = (
        Match(request="pattern { X [upos] }", key=["X.form"], ignore_case=True, limit=0)
        .ask(connection)
        .table.to_pylist()
    )
    assert {row["X.form"]: row["count"] for row in rows}["a"] == count("a", ignore_case=True)
