"""Good examples first, against a plain reference, for any annotation of the store."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection
from typical_reference import Hit, Token, scored

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.models import build
from sentgen.models.surprisal import ApplyRequest
from sentgen.schema import Store
from sentgen.schema.engine import raw

FORMS = {
    "NOUN": ("dog", "cat", "Katze", "图", "قطة"),
    "PROPN": ("Rex", "NASA"),
    "VERB": ("sees", "Runs", "看"),
    "AUX": ("is",),
    "PRON": ("it", "I"),
    "DET": ("The", "this"),
    "CCONJ": ("and", "But"),
    "INTJ": ("uh",),
    "NUM": ("12", "two"),
    "PUNCT": (".", "?", "。", ",", "(", ")", '"', "“", "”", "...", "``", "''", ":)", "-"),
    "SYM": ("$", "a@b"),
    "X": ("x",),
}
FEATS = ("", "", "VerbForm=Fin", "VerbForm=Part", "PronType=Dem", "Person=3|PronType=Prs")
RELATIONS = ("nsubj", "obj", "punct", "aux", "aux:pass", "cop", "conj")
#: Corpora, and whether their tokens have tags and trees; one is lower-cased.
CORPORA = {"trees": (True, True), "tags": (True, False), "bare": (False, False), "small": (True, True)}


def sentence(draw: random.Random, *, tags: bool, trees: bool) -> list[Token]:
    size = draw.choice((1, 2, 4, 6, 9, 12, 30))
    root, tokens = draw.randint(1, size), list[Token]()
    for place in range(1, size + 1):
        upos = draw.choice((*FORMS, "NOUN", "VERB"))
        form = draw.choice(FORMS[upos])
        head = 0 if place == root else draw.choice([root, *range(1, place)] if place < root else [root])
        relation = "root" if not head else draw.choice(RELATIONS)
        tokens.append(
            Token(
                form,
                upos if tags else "",
                draw.choice(FEATS) if tags else "",
                *((head, relation) if trees else ()),
            )
        )
    return tokens


def conllu(sentences: Sequence[Sequence[Token]], name: str) -> str:
    lines = list[str]()
    for number, tokens in enumerate(sentences):
        if number % 5 == 0:
            # Documents are in another order than their names.
            lines.append(f"# newdoc id = {name}-{9 - number // 5}")
        lines.append(f"# sent_id = {name}.{number}")
        for place, one in enumerate(tokens, 1):
            head = str(one.head) if one.head >= 0 else "_"
            row = (place, one.form, "_", one.upos or "_", "_", one.feats or "_", head, one.deprel or "_")
            lines.append("\t".join([*map(str, row), "_", "_"]))
        lines.append("")
    return "\n".join(lines) + "\n"


Rows = dict[str, tuple[str, str, int, list[Token]]]


def made(folder: Path) -> tuple[Path, Rows]:
    """Make a store; return its path, and, by name of the sentence, its corpus, document, id and tokens."""
    draw, path, rows = random.Random(1), folder / "s.duckdb", Rows()
    with Store(path, create=True) as store:
        for corpus, (tags, trees) in CORPORA.items():
            found = [sentence(draw, tags=tags, trees=trees) for _ in range(16)]
            # Some sentences are equal, some differ in case, and some in the order of words.
            found += [found[3], found[4], [Token(one.form.upper(), *_rest(one)) for one in found[5]]]
            found += [_turned(one) for one in found[6:12]]
            (file := folder / f"{corpus}.conllu").write_text(conllu(found, corpus), "utf-8")
            ingest(store, [str(file)], Settings(corpus, order=2, lowercase=corpus == "small"))
        for name, of in (("one", "trees"), ("two", "small")):
            build(store, name, [of], order=2)
            ApplyRequest(name=name, corpus=[of]).apply(store)
        with store.connect() as connection:
            rows |= _rows(connection)
    return path, rows


def _turned(tokens: Sequence[Token]) -> list[Token]:
    """Return the words of a sentence in reverse order."""
    return [Token(other.form, *_rest(one)) for one, other in zip(tokens, tokens[::-1], strict=True)]


def _rest(one: Token) -> tuple[Any, ...]:
    return one.upos, one.feats, one.head, one.deprel


def _rows(connection: Connection) -> Rows:
    """Return the sentences of the store, with surprisal by the last model of each corpus."""
    query = """
        select t.corpus, t.document, t.sentence_id, t.sent_id, t.form, coalesce(t.upos, ''), coalesce(t.feats, ''),
          coalesce(t.head, -1), coalesce(t.deprel, ''), p.surprisal
        from v_tokens as t
        left join v_surprisal as p using (corpus, document, sent_id, position)
        order by t.sentence_id, t.position"""
    rows = Rows()
    for corpus, document, number, name, *token in raw(connection).execute(query).fetchall():
        rows.setdefault(name, (corpus, document, number, []))[3].append(Token(*token))
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Rows]:
    return made(tmp_path_factory.mktemp("typical"))


@pytest.fixture(scope="module")
def connection(store: tuple[Path, Rows]) -> Iterator[Connection]:
    with Store(store[0], read_only=True) as opened, opened.connect() as found:
        yield found


def expected(connection: Connection, rows: Rows, asked: dict[str, Any]) -> list[Hit]:
    """Return the hits of a question in the order of the reference."""
    corpora = asked.get("corpus") or list(CORPORA)
    hits = []
    for row in Kwic(**asked, limit=0).lines(connection, placed=True).table.to_pylist():
        corpus, document, number, tokens = rows[row["sent_id"]]
        if corpus != "small" and "small" in corpora:
            # Only the last model counts, not the surprisal that an earlier one gave to other corpora.
            tokens = [Token(one.form, *_rest(one)) for one in tokens]
        place = (document, number, row["first"], row["last"])
        hits.append(Hit(place, tokens, row["first"], row["last"], corpus == "small"))
    counts = Counter(
        one.form.lower() for corpus, _, _, tokens in rows.values() if corpus in corpora for one in tokens
    )
    tags, trees = (any(CORPORA[one][kind] for one in corpora) for kind in (0, 1))
    return scored(hits, counts, tags=tags, trees=trees)


def told(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [{"sentence_id": hit.place[1], "first": hit.first, **hit.parts} for hit in hits]


def shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("sentence_id", "first", "score", "whole", "size", "words", "plain", "usual", "frame")
    return [{name: row[name] for name in names if row.get(name) is not None} for row in rows]


QUERIES = (
    "dog",
    "[]",
    '[upos="NOUN"]',
    '[upos="DET"] []?',
    '[upos="NOUN"] []{1,2}',
    '[word="sees" | word="it"]',
)


@settings(max_examples=settings.default.max_examples // 5)
@given(
    query=st.sampled_from(QUERIES),
    corpus=st.lists(st.sampled_from(list(CORPORA)), unique=True, max_size=2),
    limit=st.sampled_from((0, 3, 1000)),
    large=st.booleans(),
    wide=st.sampled_from(({}, {"context": "1s"})),
)
def test_lines_come_as_the_reference_puts_them(
    store: tuple[Path, Rows],
    connection: Connection,
    query: str,
    corpus: list[str],
    limit: int,
    large: bool,
    wide: dict[str, str],
) -> None:
    """Scores and order are those of the reference, for corpora with any parts, in blocks, and with limits."""
    asked: dict[str, Any] = {"pattern" if query == "dog" else "cql": query, "corpus": corpus}
    best = told(expected(connection, store[1], asked))
    question = Kwic(**asked, **wide, sort="typical", explain=True, limit=limit)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("sentgen.lookups.base.tokens.SIZE", 200)
            patch.setattr(line_search, "LINES", 100)
        found = question.lines(connection, placed=True)

    assert shown(found.table.to_pylist()) == (best[:limit] if limit else best)
    assert found.total == len(best)


HAND = """\
# newdoc id = d
# sent_id = whole
1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\t_\tVerbForm=Fin\t0\troot\t_\t_
3\ton\ton\tADP\t_\t_\t4\tcase\t_\t_
4\ttowns\ttown\tNOUN\t_\t_\t2\tobl\t_\t_
5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = part
1\t(\t(\tPUNCT\t_\t_\t2\tpunct\t_\t_
2\train\train\tNOUN\t_\t_\t0\troot\t_\t_
3\tin\tin\tADP\t_\t_\t4\tcase\t_\t_
4\tParis\tParis\tPROPN\t_\t_\t2\tnmod\t_\t_

# sent_id = again
1\tRAIN\train\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\t_\tVerbForm=Fin\t0\troot\t_\t_
3\ton\ton\tADP\t_\t_\t4\tcase\t_\t_
4\ttowns\ttown\tNOUN\t_\t_\t2\tobl\t_\t_
5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""


def lines(path: Path, **asked: Any) -> list[dict[str, Any]]:
    with Store(path, read_only=True) as store, store.connect() as connection:
        return Kwic(**asked).ask(connection).table.to_pylist()


def test_parts_by_hand(tmp_path: Path) -> None:
    (file := tmp_path / "hand.conllu").write_text(HAND)
    with Store(path := tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(file)], Settings("hand"))

    found = lines(path, pattern="lemma:rain", sort="typical", explain=True)

    # Every word is frequent among 14 tokens. Nouns are subjects in two of three sentences: ln 3 / ln 3, ln 2 / ln 3.
    # 5 tokens of 10, and 4. Of the three words of `part`, Paris is a name: 1 - 2/3; a small letter, no end, a bracket
    # and no verb leave it no check. RAIN is a cry, 1 - 2/4; it says the same as `whole`, which is better:
    # (2 * 0.5 + 4 + 3 + 1) / 10, as there is no surprisal.
    assert [row["sent_id"] for row in found] == ["whole", "part", "again"]
    names = ("score", "whole", "size", "words", "plain", "frame")
    assert [tuple(row[name] for name in names) for row in found] == [
        (0.9, 1.0, 0.5, 1.0, 1.0, 1.0),
        (0.0, 0.0, 0.4, 1.0, 0.333, 0.631),
        (0.0, 1.0, 0.5, 1.0, 0.5, 1.0),
    ]


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    ("text", "whole", "plain"),
    [
        ("The cat sat .", 1, 1),
        ("قطة نامت .", 1, 1),
        ("他 看 图 。", 1, 1),
        ("( The cat sat . )", 1, 0.333),  # a capital behind the first token is that of a name
        ("“ The cat sat . ”", 1, 0.333),
        ("¿ Qué pasa ?", 1, 0),
        ("3 cats sat .", 1, 0.333),  # a number of 3 words
        ("the cat sat", 0.333, 1),  # neither a beginning nor an end
        ("- the cat sat .", 0.667, 1),  # a mark is no beginning
        ("The ( cat sat .", 0.667, 1),
        ('The " cat sat .', 0.667, 1),
        ("The cat met Anna in 2020 at www.x.org .", 1, 0.25),  # a name, a number, an address: 1 - 2 * 3/8
        ("The cat sat :-) THERE .", 0.667, 0),  # 2 of 4 words; the bracket of a smile is one, too
        (". . .", 0.667, 0),  # no word
    ],
)
def test_bare_words_of_all_scripts(tmp_path: Path, text: str, whole: float, plain: float) -> None:
    (file := tmp_path / "bare.conllu").write_text(conllu([[Token(form) for form in text.split()]], "bare"))
    with Store(path := tmp_path / "s.duckdb", create=True) as store:
        ingest(store, [str(file)], Settings("bare", order=1))

    [row] = lines(path, cql="<s> []", sort="typical", explain=True)

    assert (row["whole"], row["plain"]) == (whole, plain)


def test_other_keys_stand_beside_it(connection: Connection) -> None:
    """`typical` can be reversed, combined with other keys, filters and samples, and paged."""

    def ask(**asked: Any) -> list[dict[str, Any]]:
        return Kwic(cql="[]", explain=True, **{"limit": 0, **asked}).ask(connection).table.to_pylist()

    best = ask(sort="typical")

    turned = ask(sort="-typical")
    assert [row["score"] for row in turned] == [row["score"] for row in best][::-1]
    assert ask(sort="typical%c") == best
    by_document = ask(sort="document,typical")
    assert by_document == sorted(best, key=lambda row: row["document"])
    nearest = ask(sort="right,typical", limit=40)
    assert nearest == ask(sort="right,typical")[:40]
    assert ask(sort="typical", limit=7, offset=5) == best[5:12]
    assert {row["score"] for row in ask(sort="typical", sample=1)} == {
        row["score"] for row in ask(sort="typical", random=1, limit=1)
    }
    few = ask(sort="typical", filter=['[upos="VERB"]'])
    assert 0 < len(few) < len(best)
    assert [row["score"] for row in few] == sorted((row["score"] for row in few), reverse=True)


def test_all_lines_come_part_by_part(connection: Connection) -> None:
    question = Kwic(cql="[]{2}", sort="typical", explain=True, limit=0, across=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_search, "LINES", 77)
        parts = [row for part in question.parts(connection)[1] for row in part.to_pylist()]

    assert parts == question.ask(connection).table.to_pylist()


def test_hits_of_trees_are_sorted(connection: Connection) -> None:
    """Hits of requests are sorted by their first nodes, as the same words of a query are."""
    found = Match(request="pattern { V [upos=VERB] }", sort="typical", limit=0).ask(connection)
    same = Kwic(cql='[upos="VERB"]', sort="typical", limit=0).ask(connection)

    assert found.table["sent_id"].to_pylist() == same.table["sent_id"].to_pylist()
    assert found.remarks == same.remarks == ()


def test_the_order_stays_when_files_are_read_anew(tmp_path: Path) -> None:
    """The order stays if files are read in another order, so that sentences have other ids."""
    draw, files = random.Random(2), [tmp_path / "b.conllu", tmp_path / "a.conllu"]
    for file in files:
        file.write_text(
            conllu([sentence(draw, tags=True, trees=True) for _ in range(25)], file.stem), "utf-8"
        )
    orders = list[list[dict[str, Any]]]()
    for number, some in enumerate((files, files[::-1])):
        with Store(path := tmp_path / f"{number}.duckdb", create=True) as store:
            for file in some:
                ingest(store, [str(file)], Settings("c", order=1))
        orders.append(lines(path, cql="[]", sort="typical", explain=True, limit=0))

    assert orders[0] == orders[1]


@pytest.mark.parametrize(
    ("corpus", "lacking"),
    [
        (["trees"], ()),
        (["tags"], ("typical without trees, surprisal (models apply): these corpora have none",)),
        (["bare"], ("typical without tags, trees, surprisal (models apply): these corpora have none",)),
    ],
)
def test_what_there_is_not_is_told(
    connection: Connection, corpus: list[str], lacking: tuple[str, ...]
) -> None:
    question = Kwic(cql="[]", corpus=corpus, sort="typical", explain=True)

    assert question.ask(connection).remarks == question.remarks(connection) == lacking


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "`explain` tells why lines are typical; give `sort` typical"),
        ({"sort": "1L"}, "`explain` tells why lines are typical; give `sort` typical"),
        ({"sort": "typical", "count": True}, "no `count` or `places`"),
        ({"sort": "typical", "places": True}, "no `count` or `places`"),
        ({"sort": "typical", "show": ["length,words"]}, "a line has a column 'words' already"),
        ({"sort": "typical,-typical"}, "has an empty sort key, or one twice"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        Kwic(pattern="dog", explain=True, **asked)
