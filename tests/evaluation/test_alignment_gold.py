"""Gold alignments: reading of each format, refusals, and the combination of annotators."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sentgen.alignment import Pair
from sentgen.errors import InputError
from sentgen.evaluation.alignment.gold import Combination, GoldLinks, GoldPair, GoldStandard
from sentgen.evaluation.alignment.gold_readers import FORMATS, read_gold

RTE = """\
# sentence pair 1
The cat sat on the mat .
NULL ({ / / }) A ({ p1 / / }) cat ({ 2 / / }) sat ({ 3 p4 / / }) . ({ 7 / / })
# sentence pair 2
Dogs ( bark ) .
NULL ({ / / }) Dogs ({ 1 / / }) ( ({ 2 / / }) bark ({ / / })
"""

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file with its folders, and return its path."""

    def written(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return str(path)

    return written


def entry(**changes: object) -> dict[str, object]:
    """Return an object of the JSON formats, changed."""
    return {
        "id": "x:1",
        "name": "x:1",
        "source": "a b c",
        "target": "b d",
        "sureAlign": "1-0",
        "possibleAlign": "",
        **changes,
    }


def test_json_with_possible_links(write: Write) -> None:
    """Sure links are possible, too; source is the document, target the abstract."""
    path = write("gold.json", json.dumps([entry(possibleAlign="0-1 2-1"), entry(id="x:2")], indent=2))

    gold = read_gold(path, "mtref")

    assert gold.annotators == ("gold",)
    assert gold.pairs[0].pair == Pair("x:1", ("a", "b", "c"), ("b", "d"))
    assert gold.pairs[0].annotations == (GoldLinks.of({(1, 0)}, {(0, 1), (2, 1)}),)
    assert gold.pairs[0].annotations[0].possible == {(1, 0), (0, 1), (2, 1)}
    assert gold.pairs[1].pair.key == "x:2"


@pytest.mark.parametrize("named", ["train.sure.json", "train.sure+poss.json", ""])
def test_edinburgh_reads_both_files(write: Write, tmp_path: Path, named: str) -> None:
    """Either file, or the folder, names both: sure links come from one, possible ones from the other."""
    write("train.sure.json", json.dumps([entry()]))
    write("train.sure+poss.json", json.dumps([entry(sureAlign="0-0 1-0")]))

    gold = read_gold(str(tmp_path / named), "edinburgh")

    assert gold.pairs[0].annotations == (GoldLinks.of({(1, 0)}, {(0, 0)}),)


def test_edinburgh_files_must_belong_together(write: Write) -> None:
    """A link that is sure in one file and missing in the other one is an error."""
    write("train.sure.json", json.dumps([entry(sureAlign="0-0")]))
    path = write("train.sure+poss.json", json.dumps([entry(sureAlign="1-0")]))

    with pytest.raises(InputError, match=r"has not all sure links of .*\(sentence x:1\)"):
        read_gold(path, "edinburgh")


def test_rte(write: Write, tmp_path: Path) -> None:
    """Links count from 1, `p` is possible; a word may be a parenthesis; byte order marks may be anywhere."""
    write(
        "dev_A.txt",
        RTE.replace("# sentence pair 1", "\ufeff\ufeff# sentence pair 1").replace("cat", "c\ufeffat"),
    )
    # A second annotator may spell a word in another way, draw other links, and forget the last parenthesis.
    write("dev_B.txt", RTE.replace("mat .", "mat ..").replace("cat ({ 2", "cat ({ p2").rstrip(") \n"))

    gold = read_gold(str(tmp_path), "rte")

    assert gold.annotators == ("A", "B")
    assert gold.pairs[0].pair.document == ("The", "cat", "sat", "on", "the", "mat", ".")
    assert gold.pairs[0].pair.abstract == ("A", "cat", "sat", ".")
    first, second = gold.pairs[0].annotations
    assert first == GoldLinks.of({(1, 1), (2, 2), (6, 3)}, {(0, 0), (3, 2)})
    assert second == GoldLinks.of({(2, 2), (6, 3)}, {(0, 0), (3, 2), (1, 1)})
    assert gold.pairs[1].annotations[0].sure == {(0, 0), (1, 1)}
    assert gold.pairs[1].pair.abstract == ("Dogs", "(", "bark")


def test_multimwa(write: Write) -> None:
    """Columns 2 and 4 are the texts, 8 and 9 the links."""
    path = write("wiki.tsv", "0:0\ta b\tN/A\tb a\tN/A\t1\t1\t0-1\t1-0\t\n")

    gold = read_gold(path, "multimwa")

    assert gold.pairs == (GoldPair(Pair("0:0", ("a", "b"), ("b", "a")), (GoldLinks.of({(0, 1)}, {(1, 0)}),)),)


def test_pharaoh_in_one_file(write: Write) -> None:
    """Texts and links of two annotators on a line; a pair may have no links."""
    path = write("gold.txt", "a b ||| b ||| 1-0 ||| 0p0 1-0\nc ||| d |||  ||| \n")

    gold = read_gold(path, "pharaoh")

    assert gold.annotators == ("1", "2")
    assert gold.pairs[0].annotations == (GoldLinks.of({(1, 0)}), GoldLinks.of({(1, 0)}, {(0, 0)}))
    assert gold.pairs[1].annotations == (GoldLinks.of(()), GoldLinks.of(()))


def test_pharaoh_in_a_folder(write: Write, tmp_path: Path) -> None:
    """Annotators are named by their files."""
    write("document.txt", "a b\nc\n")
    write("abstract.txt", "b\nd\n")
    write("links.ann.txt", "1-0\n\n")
    write("links.bob.txt", "1-0\n0-0\n")

    gold = read_gold(str(tmp_path), "pharaoh")

    assert gold.annotators == ("ann", "bob")
    assert [one.annotations[1].sure for one in gold.pairs] == [{(1, 0)}, {(0, 0)}]


def test_handalign_texts(write: Write, tmp_path: Path) -> None:
    """Texts are read in HandAlign's format, links in Pharaoh's."""
    write("documents/ZF1", "a b\nc")
    write("abstracts/ZF1", "c b")
    path = write("ZF1.alignment", "2-0\n1p1\n")

    gold = read_gold(str(tmp_path), "handalign")

    assert gold.pairs[0].pair == Pair("ZF1", ("a", "b", "c"), ("c", "b"), (0, 2), (0,))
    assert gold.pairs[0].annotations == (GoldLinks.of({(2, 0)}, {(1, 1)}),)
    Path(path).write_text("<alignment>")
    with pytest.raises(InputError, match=r"ZF1.alignment:1: HandAlign's own markup is not understood"):
        read_gold(str(tmp_path), "handalign")


def test_handalign_by_several_people(write: Write, tmp_path: Path) -> None:
    """Annotators have a file a text, whose name may have dots; a text that one did not align is refused."""
    for name in ("ZF1", "ZF.2"):
        write(f"documents/{name}", "a b\nc")
        write(f"abstracts/{name}", "c b")
    for name, links in (("ZF1.hal", "2-0"), ("ZF1.dan", "2-0 1-1"), ("ZF.2.hal", "1-1")):
        path = write(f"{name}.alignment", links)

    with pytest.raises(InputError, match=r"ZF\.2 was not aligned by dan; all align all texts"):
        read_gold(str(tmp_path), "handalign")
    write("ZF.2.dan.alignment", "")
    gold = read_gold(str(tmp_path), "handalign")

    assert gold.annotators == ("dan", "hal")
    drawn = {one.pair.key: one.annotations for one in gold.pairs}
    assert drawn["ZF1"] == (GoldLinks.of({(2, 0), (1, 1)}), GoldLinks.of({(2, 0)}))
    assert drawn["ZF.2"] == (GoldLinks.of(()), GoldLinks.of({(1, 1)}))
    Path(path).rename(tmp_path / "ZF.3.hal.alignment")
    with pytest.raises(InputError, match=r"has no text documents/ZF\.3 beside it|not aligned by"):
        read_gold(str(tmp_path), "handalign")


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("mtref", json.dumps([entry(), entry(id="y", sureAlign="3-0")]), r":1: the link 3-0 leads out .*\(sentence y\)"),
        ("mtref", json.dumps([entry(sureAlign="0-0 0-0")]), "the link 0-0 is there twice"),
        ("mtref", json.dumps([entry(sureAlign="0:0")]), "'0:0' is no link; write links as 3-0"),
        ("mtref", json.dumps([entry(sureAlign="9" * 4301 + "-0")]), "'9{40}' is no link"),
        ("mtref", json.dumps([entry(), entry()]), "the id 'x:1' is there twice"),
        ("mtref", json.dumps([entry(source=" ")]), "the document has no words"),
        ("mtref", json.dumps([entry(target=3)]), "'target' is no text"),
        ("mtref", "{}", ":1: is no JSON array of pairs"),
        ("mtref", '[\n{"id":\n', ":2: not JSON"),
        ("mtref", "[\n1]", ":2: a member of the array is no object"),
        ("mtref", f"[\n{json.dumps(entry())}\n{{}}]", ":2: not JSON: no comma"),
        ("mtref", "[]", "has no pairs"),
        ("rte", RTE.replace("pair 2", "pair 3"), ":4: expected `# sentence pair 2`"),
        ("rte", RTE.replace("({ 2 / / })", "({ 2 / })"), r":3: expected `word \({ 1 p2 / / }\)` at 'cat"),
        ("rte", RTE.replace("({ 7 /", "({ 8 /"), ":3: the link 7-3 leads out of the texts of 7 and 4 words"),
        ("rte", RTE.replace("({ 7 /", f"({{ {'7' * 4301} /"), ":3: expected `word"),
        ("rte", RTE.replace("pair 2", "pair " + "2" * 4301), ":4: expected `# sentence pair 2`"),
        ("rte", RTE.replace("NULL ({ /", "NULL ({ 1 /"), ":3: expected NULL without links"),
        ("rte", RTE[: RTE.rindex("NULL")], ":6: the file ends inside a pair"),
        ("multimwa", "0\ta\tN/A\tb\n", ":1: 4 columns"),
        ("pharaoh", "a ||| b\n", r":1: expected `document \|\|\| abstract"),
        ("pharaoh", "a ||| b ||| 0-0\na ||| b ||| 0-0 ||| 0-0\n", ":2: expected"),
        ("pharaoh", "a ||| b ||| 0-٠\n", ":1: '0-٠' is no link"),
        ("giza", "", "no format is called 'giza'; choose one of: edinburgh, rte"),
    ],
)  # fmt: skip
def test_refusals(write: Write, form: str, text: str, message: str) -> None:
    """A message names the file, and the line or the pair."""
    path = write("gold.txt", text)

    with pytest.raises(InputError, match=message):
        read_gold(path, form)


def test_texts_of_annotators_must_fit(write: Write, tmp_path: Path) -> None:
    """Links of two annotators are combined only if their texts have the same words."""
    write("dev_A.txt", RTE)
    write("dev_B.txt", RTE.replace("Dogs ( bark", "Dogs do ( bark"))

    with pytest.raises(InputError, match=r"dev_B.txt:4: has not as many words as in .*dev_A.txt"):
        read_gold(str(tmp_path), "rte")


def test_every_format_refuses_what_is_not_there() -> None:
    """No format reads a file that does not exist."""
    for form in FORMATS:
        with pytest.raises(InputError, match="no such file"):
            read_gold("/nowhere", form)


@pytest.mark.parametrize(
    ("how", "sure", "possible"),
    [
        # Link 0 is sure for all three, 1 for two, 2 for one; 3 is possible for two, and 2 for another one.
        ("half", {0, 1}, {0, 1, 2, 3}),
        ("union", {0, 1, 2}, {0, 1, 2, 3, 4}),
        ("intersection", {0}, {0, 1}),
    ],
)
def test_combinations(how: Combination, sure: set[int], possible: set[int]) -> None:
    """A link counts if enough annotators have it as sure, or at all."""
    drawn = [({0, 1, 2}, {3}), ({0, 1}, {3, 2}), ({0}, {1, 4})]
    annotations = [GoldLinks.of({(n, 0) for n in s}, {(n, 0) for n in p}) for s, p in drawn]

    found = GoldLinks.combine(annotations, how)

    assert found.sure == {(n, 0) for n in sure}
    assert found.possible == {(n, 0) for n in possible}


def test_half_of_two_is_either() -> None:
    """With two annotators the default is the union, as in the paper; with one it is their links."""
    one, other = GoldLinks.of({(0, 0)}), GoldLinks.of({(1, 1)})

    assert GoldLinks.combine([one, other]) == GoldLinks.combine([one, other], "union")
    assert GoldLinks.combine([one]) == one


def test_possible_links_may_be_dropped_or_made_sure() -> None:
    """Possible links can be left out, or count as sure; one annotator can be chosen by name."""
    pair = Pair("1", ("a", "b"), ("a",))
    gold = GoldStandard(("A", "B"), (GoldPair(pair, (GoldLinks.of({(0, 0)}, {(1, 0)}), GoldLinks.of(()))),))

    assert gold.combined("A", possible="drop") == [GoldLinks.of({(0, 0)})]
    assert gold.combined("A", possible="sure") == [GoldLinks.of({(0, 0), (1, 0)})]
    assert gold.by_others(1, "half") == gold.combined("A")
    with pytest.raises(InputError, match="choose one of: half, union, intersection, A, B"):
        gold.combined("C")


@pytest.mark.data
@pytest.mark.parametrize(
    ("path", "form", "pairs", "links"),
    [
        # Counted independently by a script of regular expressions.
        ("rte2", "rte", 800, [(5983, 8137), (6022, 8037), (5888, 8621)]),
        ("edinburgh/gold.train.sure.json", "edinburgh", 714, [(13314, 15846)]),
        ("mtref/mt-reference.dev.json", "mtref", 2000, [(34348, 34348 + 25365)]),
        ("multimwa-wiki/wiki-dev.tsv", "multimwa", 533, [(15082, 15082)]),
        ("multimwa-wiki/wiki-train.tsv", "multimwa", 2514, [(70072, 70072)]),
    ],
)
def test_real_files(data_dir: Path, path: str, form: str, pairs: int, links: list[tuple[int, int]]) -> None:
    """Every pair and link of the public sets is read."""
    gold = read_gold(str(data_dir / "alignment" / path), form)

    assert len(gold.pairs) == pairs
    assert [
        (
            sum(len(one.annotations[n].sure) for one in gold.pairs),
            sum(len(one.annotations[n].possible) for one in gold.pairs),
        )
        for n in range(len(gold.annotators))
    ] == links
