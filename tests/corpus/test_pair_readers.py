"""Pairs of documents and abstracts from files: every layout, and what is refused."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest

from sentgen.alignment import Pair
from sentgen.alignment.texts import read_pairs
from sentgen.corpus.pair_readers import PairFile, PairSettings, RawPair, TokenizedPair
from sentgen.errors import InputError, Rejection

PAIR = Pair("a", ("It", "rains", ".", "It", "pours", "."), ("It", "pours", "."), (0, 3), (0,))
SIDES = ("document", "abstract")
CONLLU = "1\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def lines(path: Path, *objects: object) -> Path:
    """Write JSON Lines."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in objects))
    return path


@pytest.mark.parametrize(
    ("document", "abstract"),
    [
        ("It rains. It pours.", "It pours."),
        (["It rains.", "It pours."], ["It pours."]),
        ([["It", "rains", "."], ["It", "pours", "."]], [["It", "pours", "."]]),
    ],
)
@pytest.mark.parametrize(
    ("one", "other"),
    [("document", "abstract"), ("source", "summary"), ("article", "abstract"), ("text", "highlights")],
)
def test_texts_and_fields_of_json(
    tmp_path: Path, one: str, other: str, document: object, abstract: object
) -> None:
    """Raw text, sentences and words are the same pair, under all the names that data sets use."""
    path = lines(tmp_path / "p.jsonl", {"id": "a", one: document, other: abstract})

    assert list(read_pairs(str(path))) == [PAIR]


def test_several_abstracts_are_several_pairs(tmp_path: Path) -> None:
    """Names of several pairs get numbers; the name of a single one gets none."""
    path = lines(
        tmp_path / "p.jsonl",
        {"id": "a", "document": "x y", "abstracts": ["x", "y"]},
        {"paper_id": "b", "source": ["x y"], "target": ["x"]},
        {"document": "x", "summaries": [["x", "x"]]},
    )

    found = [(pair.key, pair.abstract) for pair in read_pairs(str(path))]

    assert found == [("a#1", ("x",)), ("a#2", ("y",)), ("b", ("x",)), ("p.jsonl:3", ("x", "x"))]


def test_chosen_fields(tmp_path: Path) -> None:
    """The human summary instead of the abstract."""
    path = lines(tmp_path / "p.jsonl", {"id": 7, "body": "x", "full": "y z", "abstract": "x", "summary": "z"})
    settings = PairSettings(document_field="full", abstract_field="summary")

    assert list(read_pairs(str(path), settings=settings)) == [Pair("7", ("y", "z"), ("z",))]


def test_compressed_json(tmp_path: Path) -> None:
    """Files of gzip and xz are read without unpacking."""
    text = json.dumps({"id": "a", "document": ["It rains.", "It pours."], "abstract": "It pours."}).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.jsonl.xz").write_bytes(lzma.compress(text))

    for name in ("a.jsonl.gz", "a.jsonl.xz"):
        assert list(read_pairs(str(tmp_path / name))) == [PAIR]


def test_parallel_texts(tmp_path: Path) -> None:
    """Line i belongs to line i; a text is raw, or tokenized if its punctuation stands apart."""
    (tmp_path / "d.txt").write_text("It rains. It pours.\n\nMore.\n")
    (tmp_path / "a.txt").write_text("It pours .\n\nMore , more .\n")

    found = list(read_pairs(str(tmp_path / "d.txt"), str(tmp_path / "a.txt")))

    assert [pair.key for pair in found] == ["d.txt:1", "d.txt:3"]
    assert found[0].document_starts == (0, 3)
    assert found[1].abstract == ("More", ",", "more", ".")


def test_folder_of_pairs(tmp_path: Path) -> None:
    """`NAME.document` beside `NAME.abstract`."""
    (tmp_path / "a.document.txt").write_text("It rains. It pours.")
    (tmp_path / "a.abstract.txt").write_text("It pours.")
    (tmp_path / "README").write_text("no pair")

    assert list(read_pairs(str(tmp_path))) == [PAIR]


@pytest.mark.parametrize(("one", "other"), [("a.document", "a.abstract"), ("a.doc", "a.abs")])
def test_folder_of_pairs_without_extensions(tmp_path: Path, one: str, other: str) -> None:
    """The side is the extension, so the format is detected by the content."""
    (tmp_path / one).write_text("It rains. It pours.")
    (tmp_path / other).write_text("It pours.")

    assert list(read_pairs(str(tmp_path))) == [PAIR]


@pytest.mark.parametrize(("one", "other"), [("document", "abstract"), ("articles", "summaries")])
def test_two_folders(tmp_path: Path, one: str, other: str) -> None:
    """Files of the same name belong together."""
    for folder, text in ((one, "It rains. It pours."), (other, "It pours.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text(text)

    assert list(read_pairs(str(tmp_path))) == [PAIR]


def test_folder_of_json(tmp_path: Path) -> None:
    """Files that hold whole pairs are read one after the other."""
    lines(tmp_path / "1.jsonl", {"id": "a", "document": "x", "abstract": "x"})
    lines(tmp_path / "2.jsonl", {"id": "b", "document": "x", "abstract": "x"})

    assert [pair.key for pair in read_pairs(str(tmp_path))] == ["a", "b"]


def test_conllu_documents(tmp_path: Path) -> None:
    """`NAME.document` is followed by its abstracts."""
    names = {"a.document": "x", "a.abstract": "y", "b.document": "x", "b.abstract1": "y", "b.abstract2": "z"}
    text = "".join(f"# newdoc id = {name}\n{CONLLU.format(word)}" for name, word in names.items())
    (tmp_path / "p.conllu").write_text(text)

    found = [(pair.key, pair.abstract) for pair in read_pairs(str(tmp_path / "p.conllu"))]

    assert found == [("a", ("y",)), ("b#1", ("y",)), ("b#2", ("z",))]


def test_progress(tmp_path: Path) -> None:
    """Each layout reports the number of bytes read, of both files together if there are two."""
    (tmp_path / "d.txt").write_text("It rains. It pours.\n" * 3)
    (tmp_path / "a.txt").write_text("It pours .\n" * 3)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.document.txt").write_text("It rains. It pours.")
    (tmp_path / "folder" / "a.abstract.txt").write_text("It pours.")
    (tmp_path / "p.conllu").write_text(
        "".join(f"# newdoc id = a.{side}\n{CONLLU.format('x')}" for side in ("document", "abstract"))
    )
    lines(tmp_path / "p.jsonl", {"id": "a", "document": "x", "abstract": "x"})

    for names in (("d.txt", "a.txt"), ("folder",), ("p.conllu",), ("p.jsonl",)):
        (file,) = PairFile.of_paths([str(tmp_path / name) for name in names])
        reader = file.read(PairSettings())
        before = reader.bytes_read
        found = list(reader)

        assert found
        assert before == 0
        assert (
            reader.bytes_read == file.size == sum(Path(source.path).stat().st_size for source in file.sources)
        )


def test_documents_can_be_cut(tmp_path: Path) -> None:
    """The first whole sentences with at most four words; a first sentence that is longer stays."""
    path = lines(
        tmp_path / "p.jsonl", {"id": "a", "document": ["a b", "c d", "e"], "abstract": ["a b c d e f"]}
    )
    settings = PairSettings(tokenized=True, document_words=4)

    (pair,) = read_pairs(str(path), settings=settings)

    assert pair.document == ("a", "b", "c", "d")
    assert len(pair.abstract) == 6
    (short,) = read_pairs(str(path), settings=PairSettings(tokenized=True, document_words=1))
    assert short.document == ("a", "b")


def test_control_characters_can_be_replaced(tmp_path: Path) -> None:
    """DEL may stand unescaped in JSON; as a blank it separates words."""
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"id": "a", "document": "x\x7fy", "abstract": ["z\\u0018"]}\n')

    with pytest.raises(InputError, match=r"p\.jsonl:1: .*control character.*`replace_controls`"):
        list(read_pairs(str(path)))
    (pair,) = read_pairs(str(path), settings=PairSettings(replace_controls=True))
    assert (pair.document, pair.abstract) == (("x", "y"), ("z",))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"p\.jsonl:2: not JSON"),
        ("[]", "not a JSON object"),
        ('{"id": "b"}', "none of `document`, .* is there, or empty"),
        ('{"document": "x", "abstract": ""}', "none of `abstract`, .* is there, or empty"),
        ('{"document": 1, "abstract": "x"}', "`document` is neither a string, nor a list"),
        ('{"document": ["x", 1], "abstract": "x"}', "`document` is neither"),
        ('{"document": [["x"], "y"], "abstract": "x"}', "`document` is neither"),
        ('{"document": {"x": 1}, "abstract": "x"}', "`document` is neither"),
        ('{"document": "x", "abstracts": ["x", 2]}', "`abstracts` is neither"),
        ('{"document": "x\\u0000", "abstract": "x"}', "control character"),
        ('{"document": "x\\ud800", "abstract": "x"}', "lone surrogate"),
        ('{"document": [["x y", ""]], "abstract": "x"}', "in the document"),
        ('{"document": "x", "abstract": " "}', r"the abstract has no words \(pair p\.jsonl:2\)"),
        ('{"document": [[]], "abstract": "x"}', "the document has no words"),
        ('{"id": ["x"], "document": "x", "abstract": "x"}', "`id` is neither a string nor a whole number"),
        ('{"id": "x\\n", "document": "x", "abstract": "x"}', "control character"),
        ('{"document": [["<s>"]], "abstract": "x"}', "reserved"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_json_that_is_refused(tmp_path: Path, line: str, message: str) -> None:
    """The error has one line with file and line; the pair before is read."""
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "a", "document": "x", "abstract": "x"}\n' + line + "\n")

    with pytest.raises(InputError, match=message) as caught:
        list(read_pairs(str(path)))
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": "alone"}, "a text alone is no pair"),
        ({"a.txt": ""}, r"a\.txt: is empty"),
        ({"d.conllu": CONLLU.format("x"), "a.conllu": ""}, r"a\.conllu: is empty"),
        ({"d.txt": "x\ny\n", "a.txt": "x\n"}, r"ends before line 2 of the other file"),
        ({"d.txt": "x\n", "a.txt": "\n"}, "the abstract has no words"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """Texts that do not belong together."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    with pytest.raises(InputError, match=message):
        list(read_pairs(*(str(tmp_path / name) for name in files)))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.document": "x", "b.abstract": "x"}, "'a' has no abstract here; every name needs both"),
        ({"README": "x"}, "no pairs here"),
        ({"a.document": "", "a.abstract": "x"}, "is empty"),
    ],
)
def test_folders_that_are_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """A document without its abstract is an error, and so is a folder without pairs."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    with pytest.raises(InputError, match=message):
        list(read_pairs(str(tmp_path)))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a.document", "b.abstract"], r"'b\.abstract' does not follow its document b\.document"),
        (["a.abstract"], "does not follow its document"),
        (["a"], r"neither NAME\.document nor NAME\.abstract"),
        (
            ["a.document", "b.document", "b.abstract"],
            r"p\.conllu:1: the document 'a\.document' has no abstract",
        ),
        (
            ["a.document", "a.abstract", "b.document"],
            r"p\.conllu:7: the document 'b\.document' has no abstract",
        ),
    ],
)
def test_conllu_that_is_refused(tmp_path: Path, names: list[str], message: str) -> None:
    """The names of documents must match those of abstracts."""
    text = "".join(f"# newdoc id = {name}\n{CONLLU.format('x')}" for name in names)
    (tmp_path / "p.conllu").write_text(text)

    with pytest.raises(InputError, match=message):
        list(read_pairs(str(tmp_path / "p.conllu")))


def test_broken_sentences_of_conllu_refuse_the_pair(tmp_path: Path) -> None:
    """A document without one of its sentences is not the document; the reason is that of the sentence."""
    broken = "1\tx\t_\t_\t_\t_\t7\t_\t_\t_\n\n"
    text = f"# newdoc id = a.document\n{CONLLU.format('x')}# sent_id = s\n{broken}"
    (tmp_path / "p.conllu").write_text(f"{text}# newdoc id = a.abstract\n{CONLLU.format('x')}")

    with pytest.raises(InputError, match=r"p\.conllu:4: "):
        list(read_pairs(str(tmp_path / "p.conllu")))


def treebank(path: Path, *documents: tuple[str, str]) -> str:
    """Write CoNLL-U with documents of one word each, of which `!` stands for a broken sentence."""
    text = ""
    for name, words in documents:
        text += f"# newdoc id = {name}\n" if name else ""
        text += "".join(CONLLU.format(word).replace("!\t_\t_\t_\t_\t_", "!\t_\t_\t_\t_\t7") for word in words)
    path.write_text(text)
    return str(path)


def test_two_files_of_conllu(tmp_path: Path) -> None:
    """Pairs are matched by ids, which may contain the side; sentences are those of the files."""
    documents = treebank(tmp_path / "d.conllu", ("a", "xy"), ("b.document", "z"))
    abstracts = treebank(tmp_path / "a.conllu", ("a", "x"), ("b.abstract", "z"))

    found = list(read_pairs(documents, abstracts))

    assert found == [Pair("a", ("x", "y"), ("x",), (0, 1), (0,)), Pair("b", ("z",), ("z",), (0,), (0,))]


def test_trees_of_two_files_are_kept(tmp_path: Path) -> None:
    """The pairs have the annotation of the treebank."""
    tree = "# newdoc id = a\n1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tpours\tpour\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
    for name in ("d", "a"):
        (tmp_path / f"{name}.conllu").write_text(tree)

    (file,) = PairFile.of_paths([str(tmp_path / "d.conllu"), str(tmp_path / "a.conllu")])
    (raw,) = file.read(PairSettings())

    assert isinstance(raw, RawPair)
    pair = raw.tokenize(PairSettings())
    assert isinstance(pair, TokenizedPair)
    assert [text[0].heads for text in (pair.document, pair.abstract)] == [[2, 0], [2, 0]]


def test_two_files_of_whole_pairs(tmp_path: Path) -> None:
    """Files that hold documents and abstracts are read one after the other, however many there are."""
    paths = [
        treebank(tmp_path / f"{name}.conllu", (f"{name}.document", "x"), (f"{name}.abstract", "x"))
        for name in "ab"
    ]

    assert [pair.key for pair in read_pairs(*paths)] == ["a", "b"]


@pytest.mark.parametrize(
    ("documents", "abstracts", "message"),
    [
        ("a b", "a", r"a\.conllu: ends before 'b' \(.*d\.conllu:4\); both files need the same ids"),
        ("a", "a b", r"d\.conllu: ends before 'b' \(.*a\.conllu:4\)"),
        ("a b", "b a", r"a\.conllu:1: 'b' stands where 'a' belongs \(.*d\.conllu:1\)"),
        ("a b", "a c", r"a\.conllu:4: 'c' stands where 'b' belongs \(.*d\.conllu:4\)"),
        ("a b a", "a b c", r"d\.conllu:7: the id 'a' is there twice"),
        ("a b", "a a", r"a\.conllu:4: the id 'a' is there twice"),
        ("a", "", r"a\.conllu:1: no `# newdoc id` here"),
        ("", "a", r"d\.conllu:1: no `# newdoc id` here"),
    ],
)
def test_two_files_of_conllu_that_are_refused(
    tmp_path: Path, documents: str, abstracts: str, message: str
) -> None:
    """Ids that are missing, repeated, in one file only, or in another order."""
    paths = [
        treebank(tmp_path / f"{name}.conllu", *((one, "x") for one in ids.split(" ")))
        for name, ids in (("d", documents), ("a", abstracts))
    ]

    with pytest.raises(InputError, match=message):
        list(read_pairs(*paths))


def test_document_without_an_id(tmp_path: Path) -> None:
    """`# newdoc` without an id begins a document that cannot be matched."""
    path = tmp_path / "d.conllu"
    path.write_text("# newdoc\n" + CONLLU.format("x"))

    with pytest.raises(InputError, match=r"a\.conllu:1: no `# newdoc id` here"):
        list(read_pairs(treebank(tmp_path / "b.conllu", ("a", "x")), str(path.rename(tmp_path / "a.conllu"))))


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("broken", ["first", "whole", "abstract"])
def test_a_broken_sentence_refuses_its_pair_only(tmp_path: Path, broken: str, *, parallel: bool) -> None:
    """A broken sentence anywhere in a document or abstract leaves the other pairs unchanged."""
    texts = {"first": ("!x", "x"), "whole": ("!", "x"), "abstract": ("x", "!")}[broken]
    pairs = [("a", ("x", "x")), ("b", texts), ("c", ("x", "x"))]
    if parallel:
        sides = [[(key, texts[side]) for key, texts in pairs] for side in (0, 1)]
        paths = [treebank(tmp_path / f"{n}.conllu", *side) for n, side in enumerate(sides)]
    else:
        every = [
            (f"{key}.{side}", text) for key, texts in pairs for side, text in zip(SIDES, texts, strict=True)
        ]
        paths = [treebank(tmp_path / "p.conllu", *every)]
    (file,) = PairFile.of_paths(paths)

    found = [one.key if isinstance(one, RawPair) else one.check for one in file.read(PairSettings())]

    assert found == ["a", "head-range", "c"]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "pairs"),
    [("gum_doc_abstract.jsonl", 415), ("scitldr-dev.jsonl.gz", 1453), ("scisummnet.jsonl.gz", 978)],
)
def test_real_pairs(data_dir: Path, name: str, pairs: int) -> None:
    """All pairs of the shared data are found; documents are cut to be fast."""
    settings = PairSettings(replace_controls=True)
    (file,) = PairFile.of_paths([str(data_dir / "pairs" / name)])
    found = list(file.read(settings))

    assert len(found) == pairs
    assert not [one for one in found if isinstance(one, Rejection)]
