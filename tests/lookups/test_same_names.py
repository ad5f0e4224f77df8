"""A name means the same in CQL, in requests for trees and in `--where`, whatever kind of key it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import SentgenError
from sentgen.lookups.base import attributes
from sentgen.lookups.base.keys import ALWAYS, StoreKeys
from sentgen.lookups.base.statement import Statement
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

#: Sentences: comments and tokens; `source` and `Number` are metadata and something else as well.
TEXTS = (
    (
        ("newdoc id = tides", "meta::topic = sea", "meta::print-year = 1987", "source = diary", "Number = 2"),
        (
            ("Waves", "wave", "NOUN", "NNS", "Number=Plur|Number[psor]=Sing", "nsubj", "Gloss=onde|LT-Id=7"),
            ("break", "break", "VERB", "VBP", "Number=Plur|Mood=Ind", "root", "wordform=breaks"),
        ),
    ),
    (
        ("source = log", "speaker = Ida"),
        (
            ("A", "a", "DET", "DT", "_", "det", "_"),
            ("wave", "wave", "NOUN", "NN", "Number=Sing|Sub-Type=x", "nsubj", "Gloss=onde"),
            ("breaks", "break", "VERB", "VBZ", "Number=Sing|Mood=Ind", "root", "LT-Id=8"),
        ),
    ),
    (
        ("newdoc id = winds", "meta::topic = air", "speaker = Ida"),
        (("Storm", "storm", "NOUN", "NN", "Number=Sing", "root", "Gloss=orage"),),
    ),
)
#: Spellings of names that queries cannot write as they are.
WRITTEN = {
    "Number[psor]": ("Number[psor]", "Number_psor", "Number__psor"),
    "Sub-Type": ("Sub_Type",),
    "LT-Id": ("LT_Id",),
    "print-year": ("print_year", "doc_print_year"),
    "topic": ("topic", "doc_topic", "meta.topic"),
    "speaker": ("speaker", "s_speaker", "meta.speaker"),
}
REGIONS = "insert into region values (1, 1, 1, 'watch', 1, 1, 2), (1, 3, 1, 'watch', 1, 3, 1)"
SAID = "insert into region_meta values (1, 1, 1, 'mate', 'Bo'), (1, 3, 1, 'mate', 'Cy')"
MODEL = "insert into model values (1, 'tide', 1, 1, 'katz', '1', 'word', 9, 3, 6, now()::timestamp)"
BITS = "insert into surprisal select 1, corpus_id, sentence_id, position, 2 * position, false from token"

Asking = tuple[Callable[[Connection, str], object], str]
#: Fewer examples, as each asks several questions.
FEW = settings(max_examples=settings.default.max_examples // 8)


@pytest.fixture(scope="module")
def waves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with keys of every kind."""
    folder = tmp_path_factory.mktemp("names")
    _write(folder / "waves.conllu")
    with Store(folder / "waves.duckdb", create=True) as store:
        ingest(store, [str(folder / "waves.conllu")], Settings("waves", order=1))
        with store.begin() as connection:
            for text in (REGIONS, SAID, MODEL, BITS):
                connection.exec_driver_sql(text)
    with Store(folder / "waves.duckdb", read_only=True) as store, store.connect() as opened:
        yield opened


def _write(path: Path) -> None:
    sentences = []
    for comments, tokens in TEXTS:
        root = [row[5] for row in tokens].index("root") + 1
        lines = [f"# {one}" for one in comments]
        for place, (form, lemma, upos, xpos, feats, deprel, misc) in enumerate(tokens, 1):
            head = 0 if place == root else root
            row = (place, form, lemma, upos, xpos, feats, head, deprel, "_", misc)
            lines.append("\t".join(map(str, row)))
        sentences.append("\n".join(lines) + "\n\n")
    path.write_text("".join(sentences))


def by_cql(connection: Connection, query: str) -> list[tuple[str, str]]:
    """Return the sentences and words of hits of one token."""
    rows = Kwic(pattern=query, limit=0).ask(connection).rows.to_pylist()
    return [(row["sent_id"], row["node"]) for row in rows]


def by_request(connection: Connection, request: str) -> list[tuple[str, str]]:
    """Return the sentences and words of hits of a request with one node."""
    rows = Match(request=request, limit=0).ask(connection).rows.to_pylist()
    return [(row["sent_id"], row["node"]) for row in rows]


def by_where(connection: Connection, condition: str) -> list[tuple[str, str]]:
    """Return the sentences and words of all tokens of sentences that meet a condition."""
    rows = Kwic(pattern="[]", where=condition, limit=0).ask(connection).rows.to_pylist()
    return [(row["sent_id"], row["node"]) for row in rows]


def told(connection: Connection, text: str) -> list[str]:
    """Return the different strings that a query finds."""
    found = Statement(f"select distinct one from ({text}) where one is not null order by one")
    return [str(one) for one in found.run(connection).column(0).to_pylist()]


VALUES = {
    **{name: f"select {name} as one from v_tokens" for name in ("form", "lemma", "upos", "xpos", "deprel")},
    **{name: f"select {one} as one from v_tokens" for name, one in (("word", "form"), ("feats", "feats"))},
    **dict.fromkeys(("pos", "tag"), "select upos as one from v_tokens union select xpos from v_tokens"),
    **dict.fromkeys(("wordform", "textform"), "select form as one from v_tokens union select 'breaks'"),
}


@st.composite
def of_tokens(draw: st.DrawFn, connection: Connection) -> tuple[str, str]:
    """Draw an attribute of tokens in one of its spellings, and one of its values."""
    name = draw(st.sampled_from([one for one in StoreKeys(connection).of_tokens if one != "surprisal"]))
    of_parts = " union all ".join(
        f"select unnest(string_split({column}, '|')) as part from {table}"
        for column, table in (("name", "tag"), ("misc", "token_misc"))
    )
    listed = f"select split_part(part, '=', 2) as one from ({of_parts}) where starts_with(part, '{name}=')"
    values = told(connection, VALUES.get(name, listed))
    return draw(st.sampled_from(WRITTEN.get(name, (name,)))), draw(st.sampled_from([*values, "none of them"]))


def test_no_attribute_of_all_tokens_has_the_name_of_one_of_all_sentences() -> None:
    """A name of both kinds would mean the token, and so change the meaning of older queries."""
    names = {*attributes.COLUMNS, *attributes.TAGS, *attributes.COMPUTED}
    assert names.isdisjoint(ALWAYS)


@FEW
@given(data=st.data())
def test_attributes_of_tokens(waves: Connection, data: st.DataObject) -> None:
    """CQL and requests find the same tokens whose attribute is equal to a value, or is not."""
    name, value = data.draw(of_tokens(waves))
    sign, request = data.draw(st.sampled_from((("=", "="), ("!=", "<>"))))

    found = by_request(waves, f'pattern {{ X [upos, {name}{request}"{value}"] }}')
    has = by_request(waves, f"pattern {{ X [upos, {name}] }}")
    # In CQL, a missing value counts as different.
    asked = [one for one in by_cql(waves, f'[{name}{sign}"{value}"%l]') if one in has]
    assert found == asked
    assert has == by_cql(waves, f'[{name}!=""]')


@FEW
@given(data=st.data())
def test_metadata(waves: Connection, data: st.DataObject) -> None:
    """Metadata of sentences and documents, and keys of every sentence, mean the same in all three, by all names."""
    keys = StoreKeys(waves)
    key = data.draw(st.sampled_from([one for one in keys.of_sentences if one != "length"]))
    found = keys.find_metadata(key)
    assert found is not None
    values = told(waves, f"select {found.of_row('s', {})} as one from sentence as s") if found.always else []
    values += told(waves, f"select value as one from v_metadata where key = '{key}'")
    name = data.draw(st.sampled_from(WRITTEN.get(key, (key, f"meta.{key}"))))
    value = data.draw(st.sampled_from([*values, "none of them"]))

    expected = by_where(waves, f'{name} = "{value}"')
    assert by_request(waves, f'pattern {{ X [upos] }} global {{ {name}="{value}" }}') == expected
    assert by_cql(waves, f'[] :: {name}="{value}"%l') == expected
    # With a label, a name means an attribute of its token first.
    if not name.startswith("meta.") and not keys.find_token(name):
        assert by_cql(waves, f'[] :: match.{name}="{value}"%l') == expected


@pytest.mark.parametrize("mate", ["Bo", "Cy", "Di"])
def test_regions(waves: Connection, mate: str) -> None:
    """Attributes of regions mean the same in CQL and `--where`; a request refuses them, and names `where`."""
    asked = by_cql(waves, f'[] :: match.watch_mate="{mate}"')
    assert asked == by_where(waves, f"watch.mate = {mate}")
    assert bool(asked) == (mate != "Di")
    with pytest.raises(SentgenError, match=r"watch\.mate is said of regions: give `where`"):
        by_request(waves, f"pattern {{ X [watch_mate={mate}] }}")


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_surprisal(waves: Connection, sign: str) -> None:
    """Surprisal is compared as a number in CQL and requests; a string is refused."""
    asked = by_cql(waves, f"[surprisal {sign} 4]")
    assert asked == by_request(waves, f"pattern {{ X [surprisal {sign} 4] }}")
    assert asked
    for ask in (by_cql, by_request):
        with pytest.raises(SentgenError, match="surprisal is a number: compare it by <, <=, > or >="):
            ask(waves, '[surprisal="4"]' if ask is by_cql else 'pattern { X [surprisal="4"] }')


OF_TOKENS = (lambda name: (by_cql, f'[{name}="x"]'), lambda name: (by_request, f"pattern {{ X [{name}=x] }}"))
AROUND = (
    lambda name: (by_request, f"pattern {{ X [] }} global {{ {name}=x }}"),
    lambda name: (by_where, f"{name} = x"),
)


@pytest.mark.parametrize(
    ("languages", "name", "said"),
    [
        (OF_TOKENS, "lema", "no attribute 'lema'; did you mean lemma?"),
        (OF_TOKENS, "topc", "no attribute 'topc'; did you mean topic?"),
        (OF_TOKENS, "topic", "topic is metadata: write "),
        (OF_TOKENS, "watch_mate", "watch.mate is said of regions: "),
        (AROUND, "topc", "no metadata 'topc'; did you mean topic?"),
        (AROUND, "Gloss", "Gloss is an attribute of tokens: ask for it "),
        (AROUND, "surprisal.x", "no metadata 'surprisal.x'; there are corpus, document, "),
    ],
)
def test_other_names_are_told_alike(
    waves: Connection, languages: Sequence[Callable[[str], Asking]], name: str, said: str
) -> None:
    """For a name of another kind, or an unknown one, the message is the same in all languages."""
    for language in languages:
        ask, text = language(name)
        with pytest.raises(SentgenError) as caught:
            ask(waves, text)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    "name", [*ALWAYS, "topic", "doc_topic", "print-year", "print_year", "print-year/10", "length/2"]
)
@pytest.mark.parametrize("before", ["", "meta."])
def test_a_key_of_sentences_is_one_everywhere(name: str, before: str, waves: Connection) -> None:
    """A key of sentences is the same in columns, in breakdowns and for trees, also if queries cannot write it."""
    key = before + name
    lines = Kwic(pattern="[]", show=[key], limit=0).ask(waves).rows
    shown = Counter(row.get(key) or row.get(name) or "_" for row in lines.to_pylist())
    counted = Frequencies(query="[]", by=[key], limit=0).ask(waves).rows.to_pylist()
    by_tree = Match(request="pattern { X [upos] }", key=[key], limit=0).ask(waves).rows.to_pylist()

    assert {row[key]: row["count"] for row in counted} == shown
    assert {row[key].replace("__undefined__", "_"): row["count"] for row in by_tree} == shown
