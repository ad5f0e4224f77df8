"""BlackLab's tests of CQL, on its documents: `TestSearches.java` (Apache-2.0), written anew.

The table has 37 of its tests, 49 assertions: those of plain CQL. Left out, with what they need: filters, sorting and
groups of its own API (testSimpleDocFilter, testSimpleTitleFilter, testFilteredQuery, testSort*, testFilter,
testNGramsNotContaining, testDocResults, testTextPatternAndQueryEqualsHashcode, testFixedSpan, testEscape); captures that
make one span two hits, or are of several tokens (testCaptureGroups*); named spans and relations (testWithSpans,
testRelRspan, testRegexTags, ``<entity/>`` in testTags); look-around (test*Look*); punctuation as an attribute (testPunct*);
forward-index matching (_FI1, _FI2). There a match may cross a sentence: ``[]? [pos="pro"]`` finds *find That*, whose words
stand in two sentences; here it does not, so that each document is read as one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.schema import Store

#: Word, lemma and part of speech; the second document has no parts of speech.
DOCUMENTS = (
    "The/the/art quick/quick/adj brown/brown/adj fox/fox/nou jumps/jump/vrb over/over/pre the/the/art lazy/lazy/adj"
    " dog/dog/nou",
    "noot/noot/_ mier/mier/_ aap/aap/_ mier/mier/_ mier/mier/_ mier/mier/_ noot/noot/_ noot/noot/_ aap/aap/_ aap/aap/_"
    " aap/aap/_ aap/aap/_",
    "May/may/vrb the/the/art Force/force/nou be/be/vrb with/with/pre you/you/pro",
    "To/to/pre find/find/vrb or/or/con not/be/adv to/to/pre find/find/vrb That/that/pro is/be/vrb the/the/art"
    " question/question/nou",
)
#: BlackLab ignores the case of words unless it is told not to.
THE = ["[The] quick", "over [the] lazy", "May [the] Force", "is [the] question"]
MIER_AAP = ["noot [mier aap mier] mier", "noot [aap aap aap] aap", "aap [aap aap aap]"]
NGRAMS = [
    "[The quick brown] fox", "[The quick brown fox] jumps", "[The quick brown fox jumps] over",
    "[The quick brown fox jumps over] the", "The [quick brown] fox", "The [quick brown fox] jumps",
    "The [quick brown fox jumps] over", "The [quick brown fox jumps over] the",
    "The [quick brown fox jumps over the] lazy",
]  # fmt: skip
BETWEEN = [
    "[The quick brown fox] jumps", "[The quick brown fox jumps] over", "[The quick brown fox jumps over] the",
    "[The quick brown fox jumps over the] lazy", "The [quick brown fox] jumps", "The [quick brown fox jumps] over",
    "The [quick brown fox jumps over] the", "The [quick brown fox jumps over the] lazy",
    "The [quick brown fox jumps over the lazy] dog",
]  # fmt: skip
SEARCHES: list[tuple[str, list[str]]] = [
    ("'the'%c", THE),
    ("'the'", THE[1:]),
    ("[pos='nou']", ["brown [fox] jumps", "lazy [dog]", "the [Force] be", "the [question]"]),
    ("[pos='adj'] [pos='nou']", ["quick [brown fox] jumps", "the [lazy dog]"]),
    ("'aap' 'mier'", ["mier [aap mier] mier"]),
    ("[pos='nou'] []", ["brown [fox jumps] over", "the [Force be] with"]),
    ("[] [pos='nou']", ["quick [brown fox] jumps", "the [lazy dog]", "May [the Force] be", "is [the question]"]),
    ("[]? [pos='pro']", ["be [with you]", "with [you]", "to [find That] is", "find [That] is"]),
    ("[pos='pro'] []?", ["with [you]", "find [That] is", "find [That is] the"]),
    (
        "'with|find'? [pos='pro']?",
        ["be [with] you", "be [with you]", "with [you]", "To [find] or", "to [find] That", "to [find That] is",
         "find [That] is"],
    ),
    ("[pos='adj']{2}", ["The [quick brown] fox"]),
    ("[pos='adj']{1,}", ["The [quick] brown", "The [quick brown] fox", "quick [brown] fox", "the [lazy] dog"]),
    (
        "('aap' [word != 'noot']{1, 3} 'noot'{0,2}){2,}",
        ["mier [aap mier mier mier noot noot aap aap] aap", "mier [aap mier mier mier noot noot aap aap aap] aap",
         "mier [aap mier mier mier noot noot aap aap aap aap]", "noot [aap aap aap aap]"],
    ),
    ("[pos='PD.*']+ '(?i)getal'", []),
    ("'b.*'", ["quick [brown] fox", "Force [be] with"]),
    ("'fo[xr].*'%c", ["brown [fox] jumps", "the [Force] be"]),
    ("[word = 'jumps' | lemma = 'jump']", ["fox [jumps] over"]),
    ("[word = 'jumps' | lemma = 'over']", ["fox [jumps] over", "jumps [over] the"]),
    ("[pos = 'adj' & lemma = '.*u.*']", ["The [quick] brown"]),
    ("[word = 'jumps' & lemma = 'jump']", ["fox [jumps] over"]),
    ("[] & 'jumps'", ["fox [jumps] over"]),
    ("[]* & 'jumps'", ["fox [jumps] over"]),
    ("[]+ & 'jumps'", ["fox [jumps] over"]),
    ("[]+ & [] & 'jumps'", ["fox [jumps] over"]),
    ("[]{1,2} & 'jumps'", ["fox [jumps] over"]),
    ("[]{2,2} & 'jumps'", []),
    ("[] & ('jumps' 'over')", []),
    ("<s> 'the'%c", THE[:1]),
    ("'dog' </s>", ["lazy [dog]"]),
    ("'May' '.*e'+ 'with'", ["[May the Force be with] you"]),
    ("[lemma='.*he']{0,10}", THE),
    ("a:'Force' :: a.word = 'Force'", ["the [Force] be"]),
    ("a:[] 'aap' b:[] :: a.word = b.word", MIER_AAP),
    ("a:[] 'aap' b:[] :: a.word = b.lemma", MIER_AAP),
    ("a:[] 'aap' 'mier' b:[] :: a.word = b.word", ["noot [mier aap mier mier] mier"]),
    ("a:[] ([]{1,5} containing 'brown') b:[] :: a.lemma = b.lemma", BETWEEN[3:4]),
    ("a:[] ([]{1,5} containing 'brown') b:[]", BETWEEN),
    (
        "(a:[] ([]{1,5} containing 'brown') b:[] :: a.lemma = b.lemma) 'lazy'",
        ["[The quick brown fox jumps over the lazy] dog"],
    ),
    (
        "(a:[] [] b:[] :: a.lemma = b.lemma) []",
        ["noot [mier aap mier mier] mier", "aap [mier mier mier noot] noot", "noot [aap aap aap aap]"],
    ),
    ("[] ([]{1,5} containing 'brown')", NGRAMS),
    ("'The' []{1,2} 'fox' []{1, 2} 'over'", ["[The quick brown fox jumps over] the"]),
    ("a:[] 'aap' b:[] :: a.word = b.lemma | a.word = b.pos", MIER_AAP),
    ("a:[] 'aap' b:[] :: a.word = b.lemma | a.lemma = b.word", MIER_AAP),
    ("a:[] 'aap' b:[] :: a.word = b.lemma & a.word = b.pos", []),
    ("a:[] 'aap' b:[] :: a.word = b.lemma & a.word != b.pos", MIER_AAP),
    ("a:[] 'aap' b:[] :: a.word = b.lemma & a.pos = b.pos", MIER_AAP),
    (
        "(c:'noot')? a:[] 'aap' b:[] :: c -> (a.word = b.word)",
        ["[noot mier aap mier] mier", "noot [mier aap mier] mier", "noot [noot aap aap] aap",
         "noot [noot aap aap aap] aap", "noot [aap aap aap] aap", "aap [aap aap aap]"],
    ),
    (
        "(c:'NOTININDEX')? a:[] 'aap' b:[] :: c -> a.word = b.word",
        ["noot [mier aap mier] mier", "noot [noot aap aap] aap", "noot [aap aap aap] aap", "aap [aap aap aap]"],
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    """The documents, each a sentence."""
    folder = tmp_path_factory.mktemp("blacklab")
    lines = []
    for document in DOCUMENTS:
        rows = enumerate((word.split("/") for word in document.split()), 1)
        lines += [
            f"{i}\t{form}\t{lemma}\t_\t{tag}\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_"
            for i, (form, lemma, tag) in rows
        ]
        lines.append("")
    (folder / "d.conllu").write_text("\n".join(lines) + "\n", "utf-8")
    with Store(folder / "s.duckdb", create=True) as store:
        ingest(store, [str(folder / "d.conllu")], Settings("blacklab"))
        with store.connect() as connection:
            yield connection


@pytest.mark.parametrize(("query", "expected"), SEARCHES, ids=[query for query, _ in SEARCHES])
def test_concordances_are_those_of_blacklab(documents: Connection, query: str, expected: list[str]) -> None:
    """Every match is a hit, in the order of the text."""
    _, parts = Kwic(cql=query, context=1).parts(documents)
    rows = [row for part in parts for row in part.to_pylist()]

    assert [f"{row['left']} [{row['node']}] {row['right']}".strip() for row in rows] == expected


def test_any_two_tokens(documents: Connection) -> None:
    """Bigrams are one less than tokens in each document: 8 + 11 + 5 + 9."""
    _, parts = Kwic(cql="[] []", context=0).parts(documents)

    assert sum(part.num_rows for part in parts) == 33
