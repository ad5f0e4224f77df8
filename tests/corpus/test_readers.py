"""Each reader on examples worked by hand, on broken input, and under fuzzing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.formats import READERS
from sentgen.corpus.readers import conll, conllu, mrg, text, wsj
from sentgen.corpus.readers.mrg import head_child
from sentgen.corpus.sentence import RESERVED, EmptyNode, Sentence
from sentgen.corpus.validation import CHECKS, LIMITS, check
from sentgen.errors import InputError, Rejection


def read(name: str, content: str) -> list[Sentence | Rejection]:
    return list(text.in_sentences(READERS[name].read(iter(content.split("\n")), path="x"), path="x"))


def good(name: str, content: str) -> list[Sentence]:
    results = read(name, content)
    assert all(isinstance(result, Sentence) for result in results), results
    return results  # type: ignore[return-value]


def rejections(name: str, content: str) -> list[tuple[int, str]]:
    return [(r.line, r.check) for r in read(name, content) if isinstance(r, Rejection)]


def row(position: object, form: str = "w", head: object = 0, misc: str = "_") -> str:
    return f"{position}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t{misc}"


CONLLU = """\
# newdoc id = d1
# sent_id = s1
# text = Don't go
# newpar
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t3:conj\t_

# sent_id = s2
1\tYes\t_\tINTJ\tUH\t_\t0\troot\t_\t_
"""


class TestConllu:
    def test_every_field(self) -> None:
        first, second = good("conllu", CONLLU)

        assert first == Sentence(
            ["Do", "n't", "go"],
            lemmas=["do", "not", "go"],
            upos=["AUX", "PART", "VERB"],
            xpos=["VB", "RB", "VB"],
            feats=["Mood=Imp", "_", "_"],
            heads=[3, 3, 0],
            deprels=["aux", "advmod", "root"],
            space_after=[False, True, False],
            multiwords=[(1, 2, "Don't")],
            empty_nodes=(EmptyNode(3, 1, ["gone", "go", "VERB", "VB", "_", "_", "_", "3:conj", "_"]),),
            sent_id="s1",
            text="Don't go",
            metadata=["newpar"],
            document="d1",
            line=1,
        )
        assert (first.comments, first.verbatim) == ("dstm", ())
        assert (second.document, second.lemmas, second.line, second.sent_id) == (None, None, 11, "s2")

    def test_a_document_without_a_name_is_named_by_its_line(self) -> None:
        assert good("conllu", "# newdoc\n" + row(1))[0].document == "x#1"

    def test_a_document_begins_with_its_first_good_sentence(self) -> None:
        results = read("conllu", f"# newdoc id = d\n{row(1, head=1)}\n\n{row(1)}\n")

        assert isinstance(results[0], Rejection)
        assert isinstance(results[1], Sentence)
        assert results[1].document == "d"

    def test_no_dependencies_at_all(self) -> None:
        assert good("conllu", row(1, head="_") + "\n" + row(2, head="_"))[0].heads is None

    def test_correct_space_after_is_another_key(self) -> None:
        assert good("conllu", row(1, misc="CorrectSpaceAfter=No"))[0].space_after == [True]
        assert good("conllu", row(1, misc="A=b|SpaceAfter=No|C=d"))[0].space_after == [False]

    @pytest.mark.parametrize(
        ("rows", "line", "check_id"),
        [
            (["1\tw\t0"], 1, "columns"),
            ([row(1), row(2, head=1) + "\tx"], 2, "columns"),
            ([row(1), "2 w _ _ _ _ 1 dep _ _"], 2, "columns"),
            ([row(1), row(2, head=1).replace("dep", "")], 2, "columns"),
            ([row(1), " "], 2, "columns"),
            ([row(1), row(3, head=1)], 2, "id-sequence"),
            ([row("01")], 1, "id-sequence"),
            ([row(1), row("1.2", head="_")], 2, "id-sequence"),
            ([row(1), row("0.1", head="_")], 2, "id-sequence"),
            ([row(1), row("2-3"), row(2, head=1)], 2, "id-range"),
            ([row("2-3"), row(1), row(2, head=1)], 1, "id-range"),
            ([row("1-2"), row(1), row("2-3"), row(2, head=1), row(3, head=1)], 3, "id-range"),
            ([row("1-99999999999"), row(1)], 1, "id-range"),
            ([row(1), row(2, head="x")], 2, "head-number"),
            ([row(1), row(2, head="_")], 2, "head-number"),
            ([row(1), row(2, head="١")], 2, "head-number"),
            ([row(1, head="00")], 1, "head-number"),
            ([row(1), row(2, head=-1)], 2, "head-range"),
            ([row(1), row(2, head="9" * 5000)], 2, "head-range"),
            ([row(1), row(2, head=3)], 1, "head-range"),
            ([row(1), row(2, head=2)], 1, "head-self"),
            ([row(1), row(2, head=0)], 1, "root-count"),
            ([row(1), row(2, head=3), row(3, head=2)], 1, "head-cycle"),
            ([row(1, form="<s>")], 1, "reserved-symbol"),
            ([row(1, form=" ")], 1, "empty-form"),
            ([row(1), "# late", row(2, head=1)], 2, "comment"),
            (["# only a comment"], 1, "empty-sentence"),
            ([row("0.1", head="_")], 1, "empty-sentence"),
        ],
    )
    def test_broken_sentence_is_rejected_and_the_next_one_read(
        self, rows: list[str], line: int, check_id: str
    ) -> None:
        results = read("conllu", "\n".join([*rows, "", row(1, form="next"), ""]))

        assert len(results) == 2
        assert isinstance(results[0], Rejection)
        assert (results[0].line, results[0].check) == (line, check_id)
        assert isinstance(results[1], Sentence)
        assert results[1].forms == ["next"]

    def test_line_and_sentence_of_a_rejection(self) -> None:
        (rejection,) = read("conllu", f"\n# sent_id = s\n# text = x\n{row(1)}\n{row(3, head=1)}")

        assert rejection == Rejection("x", 5, "s", "id-sequence", "token number '3' where 2 belongs")

    def test_chain_of_5000_tokens(self) -> None:
        (sentence,) = good("conllu", "\n".join(row(i, head=i - 1) for i in range(1, 5_001)))

        assert sentence.heads == list(range(5_000))

    def test_sentence_without_end_is_cut_and_refused(self) -> None:
        rows = [row(i, head=i - 1) for i in range(1, 20_000)]
        with patch.object(LIMITS, "sentence_tokens", 2):
            (result,) = conllu.read(iter(rows), path="x")

        assert isinstance(result, Rejection)
        assert result.check == "sentence-length"

    def test_11000_tokens_are_too_many(self) -> None:
        assert rejections("conllu", "\n".join(row(i, head=i - 1) for i in range(1, 11_001))) == [
            (1, "sentence-length")
        ]


WORD = st.text("abcÄß中-_.'\u00a0 #", min_size=1, max_size=6).filter(lambda w: bool(w.strip()))


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """A random valid sentence with all columns."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 8)) + 1)))
    heads = [0] * len(order)
    for place, token in enumerate(order[1:], 1):
        heads[token - 1] = order[draw(st.integers(0, place - 1))]
    column = st.lists(WORD, min_size=len(order), max_size=len(order))
    value = column.filter(lambda values: any(v != "_" for v in values))
    return Sentence(
        draw(column),
        lemmas=draw(value),
        upos=draw(value),
        xpos=draw(value),
        feats=draw(value),
        heads=heads,
        deprels=draw(value),
        space_after=draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order))),
        sent_id="s",
        text="some text",
        line=1,
    )


def to_conllu(sentence: Sentence) -> Iterator[str]:
    yield from (f"# sent_id = {sentence.sent_id}", f"# text = {sentence.text}")
    for i, form in enumerate(sentence.forms):
        columns = (
            sentence.lemmas,
            sentence.upos,
            sentence.xpos,
            sentence.feats,
            sentence.heads,
            sentence.deprels,
        )
        misc = "_" if sentence.space_after is None or sentence.space_after[i] else "SpaceAfter=No"
        yield "\t".join([str(i + 1), form, *(str(c[i]) for c in columns if c is not None), "_", misc])
    yield ""


@given(sentences())
def test_conllu_round_trip(sentence: Sentence) -> None:
    assert list(conllu.read(to_conllu(sentence), path="x")) == [sentence]


class TestColumns:
    def test_conllx(self) -> None:
        content = "1\tA\ta\tD\tDT\t_\t2\tdet\t_\t_\n2\tdog\t_\tN\tNN\t_\t0\troot\t_\t_\n"
        (sentence,) = good("conllx", content)

        assert (sentence.upos, sentence.xpos, sentence.heads) == (["D", "N"], ["DT", "NN"], [2, 0])
        assert good("conllx", content.replace("\t_\t_\n", "\n")) == [sentence]
        assert rejections("conllx", content.replace("2\tdog", "3\tdog")) == [(2, "id-sequence")]
        assert rejections("conllx", content.replace("2\tdet", "2")) == [(1, "columns")]

    def test_dp(self) -> None:
        sentence, broken = read("dp", "1\\/2\tCD\t2\n-LRB-\t(\t0\n\nx\tNN\tone\n")

        assert isinstance(sentence, Sentence)
        assert (sentence.forms, sentence.xpos, sentence.heads) == (["1/2", "("], ["CD", "-LRB-"], [2, 0])
        assert isinstance(broken, Rejection)
        assert (broken.line, broken.check) == (4, "head-number")

    def test_conll2000(self) -> None:
        content = (
            "He PRP B-NP\nsaw VBD B-VP\nme PRP I-NP\nJohn NNP B-NP\nSmith NNP I-NP\n. . O\n\na DT X\n\na DT\n"
        )
        sentence = read("conll2000", content)[0]

        assert isinstance(sentence, Sentence)
        assert sentence.nps == [1, 0, 2, 3, 3, 0]
        assert rejections("conll2000", content) == [(8, "chunk-tag"), (10, "columns")]

    @pytest.mark.parametrize("name", ["conllx", "dp", "conll2000"])
    def test_too_many_tokens(self, name: str) -> None:
        assert rejections(name, "a b\n" * 10_001) == [(1, "sentence-length")]

    def test_lines(self) -> None:
        first, second, third = read("lines", "a  b\tc\n\n \u3000 \n10\u00a0000 <unk>\n<s> a </s>\n")

        assert isinstance(first, Sentence)
        assert isinstance(second, Sentence)
        assert first.forms == ["a", "b", "c"]
        assert (second.forms, second.line) == (["10\u00a0000", "<unk>"], 4)
        assert isinstance(third, Rejection)
        assert (third.check, third.line) == ("reserved-symbol", 5)


POS = """
======================================

[ The/DT U.S./NNP market/NN ]
rose/VBD 1\\/2/CD ,/, [ ``/`` he/PRP ]

said/VBD ./. ''/''
(/( [ It/PRP ] fell/VBD ./. )/)
[ Everything/NN ]
"""


class TestPos:
    def test_sentences_and_chunks(self) -> None:
        first, second, third = good("pos", POS)

        assert (
            " ".join(first.forms)
            == "The U.S. market rose 1/2 , `` he said . ''"[: len(" ".join(first.forms))]
        )
        assert first.nps == [1, 1, 1, 0, 0, 0, 2, 2, 0, 0, 0, 0][: len(first.forms)]
        assert (second.xpos or [])[-1] == "-RRB-"
        assert third.forms == ["Everything"]

    @pytest.mark.parametrize(
        ("block", "check_id"),
        [
            ("[ a/DT [ b/NN ]", "bracket"),
            ("a/DT ]", "bracket"),
            ("[ a/DT", "bracket"),
            ("word", "tag"),
            ("/", "tag"),
        ],
    )
    def test_broken_block(self, block: str, check_id: str) -> None:
        results = read("pos", f"{block}\n=====\nok/NN")

        assert [r.check for r in results if isinstance(r, Rejection)] == [check_id]
        assert isinstance(results[-1], Sentence)

    def test_too_many_tokens(self) -> None:
        assert rejections("pos", "a/b " * 10_001) == [(1, "sentence-length")]


TREE = """\
( (S
    (NP-SBJ (NP (DT the) (NN market) (POS 's)) (NN drop))
    (NP-TMP (-NONE- *T*-1))
    (VP (VBD hurt)
      (NP (NP (NNS banks)) (PP (IN in) (NP (NNP Ohio)))))
    (. .)))
"""


class TestMrg:
    def test_dependencies_chunks_and_traces(self) -> None:
        (sentence,) = good("mrg", TREE)

        assert sentence.forms == ["the", "market", "'s", "drop", "hurt", "banks", "in", "Ohio", "."]
        # possessive: 's is the head of its NP (Collins), and depends on drop
        assert sentence.heads == [3, 3, 4, 5, 0, 5, 6, 7, 5]
        assert sentence.nps == [1, 1, 1, 1, 0, 2, 0, 3, 0]
        assert sentence.line == 1

    def test_several_trees_and_trees_on_one_line(self) -> None:
        first, second = good("mrg", "( (NP (NN a)) ) (ROOT (NP (DT b)\n (NN c)))")

        assert (first.forms, second.forms) == (["a"], ["b", "c"])

    @pytest.mark.parametrize(
        "broken",
        ["( (S (NN a)", "( (S (NN a b)))", "(S (NN a) b)", "word", "( (S (NN a (X b))))", "( (S (NN a))))"],
    )
    def test_reading_resumes_at_the_next_tree(self, broken: str) -> None:
        results = read("mrg", f"{broken}\n{TREE}")

        assert {r.check for r in results if isinstance(r, Rejection)} == {"bracket"}
        assert isinstance(results[-1], Sentence)
        assert len(results[-1].forms) == 9

    def test_a_tree_of_traces_is_empty(self) -> None:
        assert rejections("mrg", "( (S (-NONE- *)))") == [(1, "empty-sentence")]

    def test_end_of_file_inside_a_tree(self) -> None:
        assert rejections("mrg", "\n( (S") == [(2, "bracket")]

    def test_depth_of_5000(self) -> None:
        (sentence,) = good("mrg", "(X (Y a) " * 5_000 + ")" * 5_000)

        assert len(sentence.forms) == 5_000

    def test_endless_tree(self) -> None:
        with patch.object(LIMITS, "sentence_tokens", 2):
            results = list(mrg.read(iter(["(S"] + ["(X"] * 300), path="x"))

        assert [r.check for r in results if isinstance(r, Rejection)] == ["sentence-length"]

    @pytest.mark.parametrize(
        ("label", "children", "head"),
        [
            ("NP", "DT NN NN", 2),
            ("NP", "NP POS", 1),
            ("NP", "NP PP", 0),
            ("NP", "NN CC NN", 0),
            ("NP", "$ CD", 0),
            ("NP", "DT CD", 1),
            ("NP", "DT JJ", 1),
            ("NP", "DT DT", 1),
            ("VP", "MD RB VP", 0),
            ("VP", "TO VP", 0),
            ("PP", "IN NP", 0),
            ("S", ", NP VP .", 2),
            ("SBAR", "IN S", 0),
            ("FRAG", "NP ADVP", 1),
            ("UNKNOWN", "A B", 0),
            ("X", ", .", 0),
        ],
    )
    def test_head_rules(self, label: str, children: str, head: int) -> None:
        assert head_child(label, children.split()) == head


class TestWsj:
    DP = "The\tDT\t2\nU.S\tNNP\t3\nmoved\tVBD\t0\n\nOh\tUH\t0\n\nbroken\n\n1\\/2\tCD\t0\nx\tNN\t1\n"
    TAGGED = (
        "[ The/DT U.S./NNP ]\nmoved/VBD\n[ extra/JJ words/NNS ]\n[ Oh/UH ]\n[ broken/JJ ]\n[ 1\\/2/CD ]\n"
    )

    @pytest.mark.parametrize("place", ["tagged/a.pos", "dep/a.pos"])
    def test_merge(self, tmp_path: Path, place: str) -> None:
        (tmp_path / "dep").mkdir()
        (tmp_path / "tagged").mkdir()
        (tmp_path / place).write_text(self.TAGGED)
        results = list(wsj.read(self.DP.split("\n"), path=str(tmp_path / "dep" / "a.dp")))

        nps = [r.nps if isinstance(r, Sentence) else r.check for r in results]
        assert nps == [[1, 1, 0], [1], "columns", [1, 0]]

    @pytest.mark.parametrize(
        ("trees", "tagged"),
        [
            ("combined/a.mrg", "tagged/a.pos"),
            ("combined/wsj/02/a.mrg", "tagged/wsj/02/a.pos"),
            ("parsed/mrg/wsj/02/a.mrg", "tagged/pos/wsj/02/a.pos"),
            ("COMBINED/A.MRG", "COMBINED/A.POS"),
            ("a.zip!wsj/combined/02/a.mrg", "a.zip!wsj/tagged/02/a.pos"),
            ("a.zip!a.mrg", "a.zip!a.pos"),
        ],
    )
    def test_trees_find_their_tagged_file(self, tmp_path: Path, trees: str, tagged: str) -> None:
        """Where each distribution of the treebank has it: heads of the trees, base NPs of the tagged file."""
        tree = "( (S (NP (NP (DT the) (NN market)) (PP (IN of) (NP (NNP May)))) (VP (VBD fell))) )\n"
        for name, content in (
            (trees, tree),
            (tagged, "the/DT\n[ market/NN of/IN ]\n[ May/NNP ]\nfell/VBD\n"),
        ):
            archive, mark, member = name.rpartition("!")
            if mark:
                with zipfile.ZipFile(tmp_path / archive, "a") as file:
                    file.writestr(member, content)
            else:
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_text(content)
        (sentence,) = wsj.read([tree], path=str(tmp_path / trees))

        assert isinstance(sentence, Sentence)
        # market heads "the" and "of", which heads May; the tree has the base NPs "the market" and "May".
        assert sentence.heads == [2, 5, 2, 3, 0]
        assert sentence.nps == [0, 1, 1, 2, 0]

    @pytest.mark.parametrize(
        ("path", "form"), [("<text>", "dp or mrg"), ("a.dp", "dp"), ("a.mrg", "mrg"), ("a.mrg.gz", "mrg")]
    )
    def test_no_partner(self, path: str, form: str) -> None:
        with pytest.raises(InputError, match=f"no tagged file .* format {form} "):
            list(wsj.read([], path=path))

    def test_another_text_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.pos").write_text("other/NN " * 900)
        lines = [line for i in range(500) for line in (f"w{i}\tNN\t0", "")]

        with pytest.raises(InputError, match="not the same text"):
            list(wsj.read(lines, path=str(tmp_path / "a.dp")))


class TestText:
    def test_a_paragraph_a_line(self) -> None:
        first, second, third = good("text", "Mr. Smith isn't here. He left.\nA second paragraph.")

        assert first.forms == ["Mr.", "Smith", "is", "n't", "here", "."]
        assert first.space_after == [True, True, False, True, False, True]
        assert (first.text, first.line) == ("Mr. Smith isn't here.", 1)
        assert (second.line, third.line) == (1, 2)

    def test_hard_wrapped(self) -> None:
        first, second, third = good("text", "This sentence is\nwrapped. The\nnext too.\n\nA title\n")

        assert (first.text, first.line) == ("This sentence is wrapped.", 1)
        assert (second.text, second.line) == ("The next too.", 2)
        assert (third.text, third.line) == ("A title", 5)

    def test_quotes_stay_as_written(self) -> None:
        (sentence,) = good("text", 'He said "go".')

        assert sentence.forms == ["He", "said", '"', "go", '"', "."]
        assert sentence.space_after == [True, True, False, False, False, True]

    def test_a_sentence_of_too_many_characters(self) -> None:
        assert rejections("text", "a " * 300_000) == [(1, "sentence-length")]
        assert rejections("text", "a" * 5_000) == [(1, "field-length")]

    def test_a_long_wrapped_paragraph_is_cut(self) -> None:
        results = list(text.read(["some words that go on"] * 24_000, path="x"))

        assert len(results) == 2


class TestJsonl:
    def test_tokens_with_columns(self) -> None:
        value = {
            "id": "d", "sent_id": "s", "tokens": ["a", "b"], "lemmas": ["A", "B"], "heads": [2, 0],
            "deprels": ["x", "root"], "nps": [1, 1], "upos": None,
        }  # fmt: skip
        (sentence,) = good("jsonl", json.dumps(value))

        assert sentence == Sentence(
            ["a", "b"], lemmas=["A", "B"], heads=[2, 0], deprels=["x", "root"], nps=[1, 1],
            sent_id="s", document="d", line=1,
        )  # fmt: skip

    def test_sentences_and_text(self) -> None:
        lines = [{"id": 7, "sentences": [["a"], "It isn't."]}, {"text": "One. Two.\nThree."}]
        results = good("jsonl", "\n".join(map(json.dumps, lines)))

        assert [s.forms for s in results[:2]] == [["a"], ["It", "is", "n't", "."]]
        assert [s.document for s in results] == ["7", None, None, None, None]
        assert [s.line for s in results] == [1, 1, 2, 2, 2]

    @pytest.mark.parametrize(
        ("line", "check_id"),
        [
            ("{", "json"),
            ("[1]", "json"),
            ("{}", "json"),
            ('{"text": 1}', "json"),
            ('{"tokens": "a b"}', "json"),
            ('{"tokens": [1]}', "json"),
            ('{"tokens": ["a"], "heads": [true]}', "json"),
            ('{"tokens": ["a"], "id": []}', "json"),
            ('{"sentences": "a"}', "json"),
            ('{"tokens": []}', "empty-sentence"),
            ('{"sentences": [""]}', "empty-sentence"),
            ('{"tokens": ["a"], "heads": [1]}', "head-self"),
            ('{"tokens": ["a"], "heads": []}', "column-length"),
            ('{"tokens": ["a\\u0000"]}', "control-character"),
            ('{"tokens": ["\\ud800"]}', "control-character"),
            ('{"text": "a\\u0007"}', "control-character"),
            ('{"tokens": ' + "[" * 100_000, "json"),
            ('{"id": ' + "9" * 5_000 + "}", "json"),
            ('{"text": "' + "a" * 5_000 + '"}', "field-length"),
        ],
    )
    def test_broken_objects(self, line: str, check_id: str) -> None:
        assert rejections("jsonl", f'\n{line}\n{{"tokens": ["ok"]}}') == [(2, check_id)]


ALPHABET = st.sampled_from(
    [*list("abc\t\t\n\n ()[]/\\#-.=_012<>\"'{}:,"), "1\ta", "\t_\t_", "(S (NN a))", "</s>", "中", "\x85"]
)
#: Those of lines that need nothing else: of a table, somebody has to say which column is its text.
FORMATS = sorted({name for name, one in READERS.items() if not one.read_file} - {"wsj", "csv", "tsv"})


@pytest.mark.parametrize("name", FORMATS)
@given(content=st.lists(ALPHABET, max_size=60).map("".join))
def test_any_text_gives_sentences_and_rejections(name: str, content: str) -> None:
    """A reader raises nothing, yields only valid sentences, and rejects only for described checks."""
    for result in read(name, content):
        if isinstance(result, Sentence):
            assert check(result) is None
            assert RESERVED.isdisjoint(result.forms)
        else:
            assert result.check in CHECKS
            assert 1 <= result.line <= content.count("\n") + 1


@given(tagged=st.text("ab/[] .=\n", max_size=40), content=st.text("ab\t012\n", max_size=40))
def test_merging_any_two_texts(tmp_path_factory: pytest.TempPathFactory, tagged: str, content: str) -> None:
    folder = tmp_path_factory.mktemp("merge")
    (folder / "a.pos").write_text(tagged)
    merged = list(wsj.read(content.split("\n"), path=str(folder / "a.dp")))
    plain = list(conll.read_dp(content.split("\n"), path=str(folder / "a.dp")))

    assert [isinstance(r, Sentence) for r in merged] == [isinstance(r, Sentence) for r in plain]
    assert all(check(r) is None for r in merged if isinstance(r, Sentence))
