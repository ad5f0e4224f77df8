"""Parsers: the sentences of each adapter, stored parses, and reading a source with a parser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiny_parser
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.formats import READERS
from sentgen.corpus.parsers import CachedParser, forget_parses, open_parser, stored_parses
from sentgen.corpus.readers import conllu as conllu_reader
from sentgen.corpus.readers.conllu import conllu_text
from sentgen.corpus.reading import read_parsed, read_trees
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import check
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, ModelError, NotFoundError, Rejection, SentgenError
from sentgen.schema import Store

TEXT = (
    "Heavy rains flooded the villages. The workers sent food to families in Lomani province, officials said."
)
TOKENS = [["Officials", "sent", "food", "."], ["The", "workers", "left"]]


@pytest.fixture(scope="module")
def udpipe(tiny_model: Path) -> Any:
    return open_parser(f"udpipe:{tiny_model}")


class Counting:
    """A parser that splits at periods and blanks, attaches all tokens to the first, and records its input."""

    name, version = "counting", "1"

    def __init__(self) -> None:
        self.seen: list[object] = []

    def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
        for text in texts:
            self.seen.append(text)
            pieces = [piece.strip() + "." for piece in text.split(".") if piece.strip()]
            yield [self._tree(piece.replace(".", " .").split(), piece) for piece in pieces]

    def parse_tokenized(self, sentences: Sequence[Sequence[str]]) -> Iterator[Sentence]:
        for forms in sentences:
            self.seen.append(tuple(forms))
            yield self._tree(list(forms), "")

    @staticmethod
    def _tree(forms: list[str], text: str) -> Sentence:
        others = len(forms) - 1
        spaces = [True] * others + [False] if text else None
        return Sentence(
            forms,
            upos=["X"] * len(forms),
            heads=[0] + [1] * others,
            deprels=["root"] + ["dep"] * others,
            space_after=spaces,
            text=text,
        )


def read(parser: Any, format: str, text: str) -> list[Sentence | Rejection]:
    reader = READERS[format]
    items = (reader.read_raw or reader.read)(iter(text.split("\n")), path="x")
    return list(read_parsed(items, parser, path="x"))


# UDPipe


def test_raw_text_gets_checked_trees(udpipe: Any) -> None:
    """The parser splits and tokenizes; its trees pass every check and say where spaces were."""
    [sentences] = udpipe.parse([TEXT])

    assert [sentence.text for sentence in sentences] == [TEXT[:33], TEXT[34:]]
    assert all(check(sentence) is None for sentence in sentences)
    assert sentences[0].forms == ["Heavy", "rains", "flooded", "the", "villages", "."]
    assert sentences[0].space_after == [True, True, True, True, False, True]
    assert sentences[1].space_after is not None
    assert [
        f for f, space in zip(sentences[1].forms, sentences[1].space_after, strict=True) if not space
    ] == [
        "province",
        "said",
    ]


def test_tokens_stay_as_they_are(udpipe: Any) -> None:
    """Also tokens that the tokenizer would split, and `_`, which looks like a missing value."""
    tokens = [*TOKENS, ["_", "10 000", "can't", "``"]]
    sentences = list(udpipe.parse_tokenized(tokens))

    assert [sentence.forms for sentence in sentences] == tokens
    assert all(check(sentence) is None for sentence in sentences)
    assert all(
        sentence.upos and sentence.xpos and sentence.lemmas and sentence.deprels for sentence in sentences
    )


def test_ranges_of_the_tokenizer(tmp_path: Path) -> None:
    """A word that the tokenizer splits is a range; no space follows its first part."""
    # The tokenizer learns a dictionary of words to split, ending in n't, from a treebank in which all are.
    row = "{}\t{}\t{}\t{}\t_\t_\t{}\t{}\t_\t_\n"
    texts = [
        f"1-2\t{verb}n't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        + row.format(1, verb, verb, "AUX", 3, "aux")
        + row.format(2, "n't", "not", "PART", 3, "advmod")
        + row.format(3, "go", "go", "VERB", 0, "root")
        + "\n"
        for verb in ("do", "did", "does", "could", "would", "should", "must", "need")
    ]
    tiny_parser.train(
        tmp_path / "x.udpipe",
        "".join(texts) * 4,
        tokenizer="dimension=16;epochs=2;segment_size=10;batch_size=5;learning_rate=0.01",
        tagger="models=1;iterations=1;order=2;templates=Tag 0\n",
        parser="iterations=1;hidden_layer=4",
    )
    [[sentence]] = open_parser(f"udpipe:{tmp_path / 'x.udpipe'}").parse(["couldn't go"])

    assert sentence.forms == ["could", "n't", "go"]
    assert sentence.multiwords == [(1, 2, "couldn't")]
    assert sentence.space_after == [False, True, True]


def test_texts_without_words_have_no_sentences(udpipe: Any) -> None:
    """An empty text between others does not shift the results."""
    found = list(udpipe.parse(["", "Officials said.", " \n "]))

    assert [len(sentences) for sentences in found] == [0, 1, 0]


def test_version_is_the_hash_of_the_model(udpipe: Any, tiny_model: Path, tmp_path: Path) -> None:
    """The same model elsewhere is the same parser."""
    copy = tmp_path / "copy.udpipe"
    copy.write_bytes(tiny_model.read_bytes())
    other = open_parser(f"udpipe:{copy}")

    assert (other.name, other.version) == (udpipe.name, udpipe.version)


def test_the_tiny_model_has_learned(udpipe: Any) -> None:
    """Half of what it was trained on is far above chance, with a mean of 17 tokens a sentence."""
    gold = list(read_trees(str(TREEBANK)))
    found = list(udpipe.parse_tokenized([sentence.forms for sentence in gold]))
    heads = [(one.heads, parsed.heads) for one, parsed in zip(gold, found, strict=True)]
    tags = [(one.upos, parsed.upos) for one, parsed in zip(gold, found, strict=True)]

    assert equal_share(heads) > 0.5
    assert equal_share(tags) > 0.8


def equal_share(columns: list[tuple[Any, Any]]) -> float:
    """Return the share of values that are equal in both columns of a sentence."""
    equal = [left == right for pair in columns for left, right in zip(*pair, strict=True)]
    return sum(equal) / len(equal)


@pytest.mark.parametrize(
    ("specification", "kind", "message"),
    [
        (
            "udpipe:none.udpipe",
            NotFoundError,
            "none.udpipe: no model here; get one from https://",
        ),
        ("udpipe:broken.udpipe", ModelError, "broken.udpipe: not a UDPipe 1 model"),
        (
            "udpipe:",
            InputError,
            "'udpipe:' is no parser; write the NAME of a trained one, udpipe:FILE",
        ),
        ("ewt.udpipe", InputError, "'ewt.udpipe' is no parser"),
        ("gold:x", InputError, "'gold:x' is no parser"),
    ],
)
def test_parsers_that_cannot_be_opened(
    specification: str,
    kind: type[SentgenError],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line says what is wrong and what to do."""
    monkeypatch.chdir(tmp_path)
    Path("broken.udpipe").write_bytes(b"no model")

    with pytest.raises(kind, match=message):
        open_parser(specification)


@pytest.mark.parametrize(
    ("kind", "package", "name"),
    [("udpipe", "ufal", "UDPipe"), ("spacy", "spacy", "spaCy"), ("stanza", "stanza", "Stanza")],
)
def test_missing_packages_are_named(
    kind: str, package: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line can be pasted."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(InputError, match=rf"{name} is not installed; run: pip install 'sentgen\[{kind}\]'"):
        open_parser(f"{kind}:x")


@pytest.mark.parametrize(
    ("tokenizer", "tagger", "message"),
    [
        ("none", "models=1;iterations=1;order=2;templates=Tag 0\n", "the model has no tokenizer"),
        ("model=generic", "none", "the model has no tagger or no parser|No tagger"),
    ],
)
def test_models_without_a_part(tokenizer: str, tagger: str, message: str, tmp_path: Path) -> None:
    """A foreign model without a tokenizer, tagger or parser is refused when that part is needed."""
    path = tmp_path / "part.udpipe"
    treebank = "\n\n".join(TREEBANK.read_text().split("\n\n")[:20]) + "\n\n"
    tiny_parser.train(path, treebank, tokenizer=tokenizer, tagger=tagger, parser="none")

    with pytest.raises(ModelError, match=message):
        list(open_parser(f"udpipe:{path}").parse(["Officials left."]))


# What is kept


def test_the_same_text_is_parsed_once(store: Store) -> None:
    """Also in later calls; stored parses are returned unchanged, in the order of the texts."""
    parser = Counting()
    with CachedParser(parser, store) as cached:
        first = list(cached.parse(["A b.", "C.", "A b."]))
        second = list(cached.parse(["C.", "D e. F.", "A b."]))

    assert parser.seen == ["A b.", "C.", "D e. F."]
    assert first == [*Counting().parse(["A b.", "C.", "A b."])]
    assert second == [*Counting().parse(["C.", "D e. F.", "A b."])]


def test_parses_are_kept_every_now_and_then(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results do not depend on the sizes of batches for look-ups and for storing."""
    monkeypatch.setattr("sentgen.corpus.parsers._QUERY_TEXTS", 3)
    monkeypatch.setattr("sentgen.corpus.parsers._COMMIT_TOKENS", 4)
    texts = [f"{word} {word}." for word in "abcdefga"]
    parser = Counting()
    with CachedParser(parser, store) as cached:
        found = [list(cached.parse(texts)) for _ in range(2)]

    assert parser.seen == texts[:-1]
    assert found == [list(Counting().parse(texts))] * 2
    assert stored_parses(store).rows == [("counting", "1", 7, 7, 21)]


def test_tokens_and_raw_text_are_kept_apart(store: Store) -> None:
    """A parse of tokens is not used for the text of the same words, nor for other tokens."""
    parser = Counting()
    with CachedParser(parser, store) as cached:
        list(cached.parse(["a b\n"]))
        list(cached.parse_tokenized([["a b"], ["a", "b"]]))
        again = list(cached.parse_tokenized([["a", "b"]]))

    assert parser.seen == ["a b\n", ("a b",), ("a", "b")]
    assert again == [Counting._tree(["a", "b"], "")]


def test_another_version_parses_anew(store: Store) -> None:
    """Stored parses of one version of a model are not used for another."""
    parser = Counting()
    for version in ("1", "2", "1"):
        parser.version = version
        with CachedParser(parser, store) as cached:
            list(cached.parse(["A."]))

    assert parser.seen == ["A.", "A."]


def test_what_was_parsed_stays_when_the_transaction_does_not(store: Store) -> None:
    """After an interrupted ingestion, the texts parsed before are not parsed again."""
    parser = Counting()
    with CachedParser(parser, store) as cached, store.connect() as connection:
        transaction = connection.begin()
        parses = cached.parse(["A.", "B.", "C."])
        next(parses), next(parses)
        parses.close()
        transaction.rollback()
        list(cached.parse(["A.", "B.", "C."]))

    assert parser.seen == ["A.", "B.", "C."]


def test_a_store_for_reading_is_only_looked_into(store: Store) -> None:
    """Stored parses are used; other texts are parsed, and the parses are not stored."""
    parser = Counting()
    with CachedParser(parser, store) as cached:
        list(cached.parse(["A."]))
    store.close()
    with Store(store.path, read_only=True) as reading, CachedParser(parser, reading) as cached:
        found = [list(cached.parse(["A.", "B."])) for _ in range(2)]

    assert parser.seen == ["A.", "B.", "B."]
    assert found == [list(Counting().parse(["A.", "B."]))] * 2


def test_kept_parses_are_counted_and_forgotten(store: Store) -> None:
    """Parses are removed by parser, or by version; an unknown one is an error that lists the known ones."""
    for version in ("1", "2"):
        parser = Counting()
        parser.version = version
        with CachedParser(parser, store) as cached:
            list(cached.parse(["A b. C.", "D."]))

    # Sentences "A b .", "C ." and "D .": 3 + 2 + 2 tokens in two texts.
    assert stored_parses(store).rows == [("counting", "1", 2, 3, 7), ("counting", "2", 2, 3, 7)]
    assert forget_parses(store, "counting", "1", dry_run=True) == 2
    assert forget_parses(store, "counting", "1") == 2
    assert stored_parses(store).rows == [("counting", "2", 2, 3, 7)]
    assert forget_parses(store, "counting") == 2
    with pytest.raises(NotFoundError, match="no parses of 'counting'; the store has no parses"):
        forget_parses(store, "counting")


def test_udpipe_comes_back_from_the_store_the_same(udpipe: Any, store: Store) -> None:
    """Every column survives."""
    with CachedParser(udpipe, store) as cached:
        for _ in range(2):
            assert list(cached.parse([TEXT])) == list(udpipe.parse([TEXT]))
            assert list(cached.parse_tokenized(TOKENS)) == list(udpipe.parse_tokenized(TOKENS))


# Sources read through a parser


def test_sentences_of_a_text_know_their_lines() -> None:
    """A wrapped paragraph goes to the parser as one text, and its sentences to the lines where they begin."""
    text = "One thing and\nanother. And a\nthird one.\n\nThe end of\nit."
    parser = Counting()
    sentences = read(parser, "text", text)

    assert parser.seen == ["One thing and another. And a third one.", "The end of it."]
    assert [s.line for s in sentences if isinstance(s, Sentence)] == [1, 2, 5]


def test_tokenized_lines_keep_their_tokens() -> None:
    """Nothing is split or joined; blank lines are skipped."""
    sentences = read(Counting(), "lines", "a b.c\n\nd 's")

    assert sentences == [
        replace(Counting._tree(["a", "b.c"], ""), line=1),
        replace(Counting._tree(["d", "'s"], ""), line=3),
    ]


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentences of a source longer than a batch keep their order."""
    text = "\n".join(f"{word} {word}" for word in "abcde")
    whole = read(Counting(), "lines", text)
    monkeypatch.setattr("sentgen.corpus.reading._BATCH_TEXTS", 2)
    by_number = read(Counting(), "lines", text)
    monkeypatch.setattr("sentgen.corpus.reading._BATCH_CHARACTERS", 1)

    assert [s.forms for s in whole if isinstance(s, Sentence)] == [[word, word] for word in "abcde"]
    assert whole == by_number == read(Counting(), "lines", text)


def test_trees_and_columns_of_the_source_win() -> None:
    """A tree is not parsed again, and a tag is not tagged again."""
    tagged = '{"tokens": ["a", "b"], "upos": ["N", "V"], "id": 1}\n'
    tree = '{"tokens": ["c"], "heads": [0], "id": 2}'
    parser = Counting()
    sentences = read(parser, "jsonl", tagged + tree)

    assert parser.seen == [("a", "b")]
    assert sentences == [
        Sentence(["a", "b"], upos=["N", "V"], heads=[0, 1], deprels=["root", "dep"], line=1, document="1"),
        Sentence(["c"], heads=[0], line=2, document="2"),
    ]


def test_a_raw_sentence_stays_one_sentence() -> None:
    """A member of `sentences` that the parser splits is parsed again as a whole."""
    parser = Counting()
    sentences = read(parser, "jsonl", '{"sentences": ["A b. C.", "D."], "id": "k"}')

    assert parser.seen == ["A b. C.", "D.", ("A", "b", ".", "C", ".")]
    assert [s.forms for s in sentences if isinstance(s, Sentence)] == [["A", "b", ".", "C", "."], ["D", "."]]
    first = sentences[0]
    assert isinstance(first, Sentence)
    assert (first.text, first.document, first.heads) == ("A b. C.", "k", [0, 1, 1, 1, 1])
    assert first.space_after == [True, True, False, True, False]


def test_multiword_ranges_move_with_their_sentence() -> None:
    """In a sentence that was joined again."""

    class Contracting(Counting):
        def parse(self, texts: Sequence[str]) -> Iterator[list[Sentence]]:
            for sentences in super().parse(texts):
                yield [replace(sentence, multiwords=[(1, 2, "x")]) for sentence in sentences]

    [sentence] = read(Contracting(), "jsonl", '{"sentences": ["A b. C."]}')

    # "A b ." has three tokens, so that the range of the second sentence begins at the fourth.
    assert isinstance(sentence, Sentence)
    assert sentence.multiwords == [(1, 2, "x"), (4, 5, "x")]


def test_parsed_sentences_pass_the_checks() -> None:
    """Reserved symbols are refused as without a parser; the other sentences are kept."""
    found = read(Counting(), "text", "A <s> b.\n\nC.\n\nD.")
    empty = read(Counting(), "jsonl", '{"sentences": [" "], "id": "k"}\n{"tokens": ["a"]}')

    assert [type(one) for one in found] == [Rejection, Sentence, Sentence]
    assert isinstance(found[0], Rejection)
    assert (found[0].line, found[0].check) == (1, "reserved-symbol")
    assert isinstance(empty[0], Rejection)
    assert empty[0].check == "empty-sentence"
    assert isinstance(empty[1], Sentence)
    assert empty[1].document == "k"


def test_gold_insists_on_trees() -> None:
    """A treebank passes; text is refused with its place."""
    gold = open_parser("gold")
    treebank = TREEBANK.read_text()

    assert read(gold, "conllu", treebank) == list(conllu_reader.read(treebank.split("\n"), path="x"))
    for format, text in (("text", "\nOne. Two."), ("lines", "\na b")):
        with pytest.raises(InputError, match=r"x:2: no tree here; `parser` gold needs a treebank"):
            read(gold, format, text)


# CoNLL-U


WORDS = st.text("ab_-.ü ", min_size=1, max_size=4).filter(str.strip)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """A sentence with any columns, a range or none, and a tree."""
    size = draw(st.integers(2, 6))
    words = st.lists(WORDS, min_size=size, max_size=size)
    column = st.one_of(st.none(), words.filter(lambda values: set(values) != {"_"}))
    # A head to the left of each token but the first: always a tree.
    heads = [0] + [draw(st.integers(1, place)) for place in range(1, size)]
    last = draw(st.integers(1, size))
    ranges = [(draw(st.integers(1, last)), last, draw(WORDS))] if draw(st.booleans()) else []
    spaces = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    for first, end, _ in ranges:
        spaces[first - 1 : end - 1] = [False] * (end - first)
    return Sentence(
        draw(words),
        lemmas=draw(column),
        upos=draw(column),
        feats=draw(column),
        heads=draw(st.sampled_from([None, heads])),
        deprels=draw(column),
        space_after=spaces,
        multiwords=ranges,
        sent_id=draw(st.sampled_from(["", "s 1"])),
        text=draw(st.sampled_from(["", "A text."])),
        metadata=draw(st.sampled_from([[], ["newpar", "x = y"]])),
        document=draw(st.sampled_from([None, "d"])),
        line=1,
    )


@given(sentences())
def test_conllu_reads_what_it_wrote(sentence: Sentence) -> None:
    """Every field that CoNLL-U can represent is restored."""
    assert list(conllu_reader.read(conllu_text(sentence).split("\n"), path="x")) == [sentence]


def test_conllu_of_the_demo_is_the_demo() -> None:
    """Byte for byte."""
    text = TREEBANK.read_text()
    found = conllu_reader.read(text.split("\n"), path="x")

    assert "".join(conllu_text(sentence) for sentence in found if isinstance(sentence, Sentence)) == text


# spaCy and Stanza. Their models cannot be had in tests: fakes of what they return, and what needs no model.


def spacy_token(i: int, text: str, head: int, dep: str, space: str = " ") -> SimpleNamespace:
    return SimpleNamespace(
        i=i,
        text=text,
        head=SimpleNamespace(i=head),
        dep_=dep,
        lemma_=text.lower(),
        pos_="X",
        tag_="",
        morph="",
        whitespace_=space,
        is_space=text.isspace(),
    )


class SpacySpan(list[SimpleNamespace]):
    """A list of tokens with a text."""

    text = ""


def spacy_document(tokens: list[SimpleNamespace], text: str) -> SimpleNamespace:
    for token in tokens:
        token.head = tokens[token.head.i]
    span = SpacySpan(tokens)
    span.text = text
    return SimpleNamespace(sents=[span])


def fake_spacy(document: Any, assigns: str = "token.dep") -> SimpleNamespace:
    """spaCy whose one pipeline makes the same document of every text, and of tokens a chain."""

    def pipe(texts: Iterable[Any]) -> Iterator[Any]:
        for text in texts:
            if isinstance(text, str):
                yield document
            else:
                yield text

    pipeline = SimpleNamespace(
        vocab=None,
        pipe_names=["parser"],
        get_pipe_meta=lambda name: SimpleNamespace(assigns=["token.head", assigns]),
        meta={"version": "3.8.0"},
        pipe=pipe,
    )

    def chain(vocab: object, words: list[str], sent_starts: list[bool]) -> list[SimpleNamespace]:
        assert sent_starts == [True] + [False] * (len(words) - 1)
        tokens = [spacy_token(i, word, max(i - 1, 0), "dep") for i, word in enumerate(words)]
        return spacy_document(tokens, "").sents[0]

    return SimpleNamespace(
        load=lambda name, exclude: pipeline, __version__="3.8.1", tokens=SimpleNamespace(Doc=chain)
    )


def test_spacy_trees_skip_white_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens of white space are dropped, and their dependents are attached to their heads."""
    tokens = [
        spacy_token(0, "my", 1, "poss"),
        spacy_token(1, "dog", 3, "nsubj", ""),
        spacy_token(2, "  ", 1, "dep", ""),
        spacy_token(3, "ran", 3, "ROOT", ""),
        spacy_token(4, "\n", 3, "dep", ""),
        spacy_token(5, ".", 4, "punct", ""),
    ]
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(spacy_document(tokens, "my dog  ran\n.")))
    parser = open_parser("spacy:en_core_web_sm")
    [[sentence]] = parser.parse(["my dog  ran\n."])

    assert (parser.name, parser.version) == ("spacy:en_core_web_sm", "1-3.8.0-spacy-3.8.1")
    assert sentence == Sentence(
        ["my", "dog", "ran", "."],
        lemmas=["my", "dog", "ran", "."],
        upos=["X"] * 4,
        xpos=["_"] * 4,
        feats=["_"] * 4,
        heads=[2, 3, 0, 3],
        deprels=["nmod:poss", "nsubj", "root", "punct"],
        space_after=[True, True, True, False],
        text="my dog  ran\n.",
    )


def test_spacy_trees_have_one_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the root was white space, its first dependent becomes the root, and head of the others."""
    tokens = [
        spacy_token(0, "a", 1, "dep"),
        spacy_token(1, " ", 1, "ROOT", ""),
        spacy_token(2, "b", 1, "dep", ""),
    ]
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(spacy_document(tokens, "a  b")))
    [[sentence]] = open_parser("spacy:x").parse(["a  b"])

    assert (sentence.heads, sentence.deprels) == ([0, 1], ["root", "parataxis"])


def test_spacy_keeps_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """spaCy gets a document of one sentence with these tokens, also if a token contains white space."""
    spacy = fake_spacy(None)
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    monkeypatch.setitem(sys.modules, "spacy.tokens", spacy.tokens)
    [sentence] = open_parser("spacy:x").parse_tokenized([["a", "b c", "d"]])

    assert (sentence.forms, sentence.heads, sentence.space_after) == (["a", "b c", "d"], [0, 1, 2], None)


def test_spacy_model_without_a_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes at once, not after the first batch."""
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(None, assigns="token.tag"))

    with pytest.raises(ModelError, match="spaCy model 'x' has no parser; try en_core_web_sm"):
        open_parser("spacy:x")


def test_spacy_model_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line can be pasted."""

    def load(name: str, exclude: list[str]) -> None:
        raise OSError("[E050] Can't find model")

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    with pytest.raises(
        NotFoundError, match=r"spaCy has no model 'x'; get it with: python -m spacy download x"
    ):
        open_parser("spacy:x")


@pytest.mark.filterwarnings("default")
def test_blank_spacy_pipelines_are_refused(tmp_path: Path) -> None:
    """The real spaCy, where it is installed: a pipeline without a parser."""
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")

    with pytest.raises(ModelError, match=r"blank' has no parser"):
        open_parser(f"spacy:{tmp_path / 'blank'}")


@pytest.mark.filterwarnings("default")
def test_real_spacy_with_an_untrained_parser(tmp_path: Path) -> None:
    """The real spaCy, where it is installed: tokens stay, sentences are whole, and trees pass the checks."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("parser").add_label("dep")
    pipeline.initialize()
    pipeline.to_disk(tmp_path / "untrained")
    parser = open_parser(f"spacy:{tmp_path / 'untrained'}")
    tokens = [["A", "b c", "."], ["d"]]

    assert [sentence.forms for sentence in parser.parse_tokenized(tokens)] == tokens
    assert all(check(sentence) is None for sentence in parser.parse_tokenized(tokens))
    for found in parser.parse(["A dog  ran.\nIt barked."]):
        assert [form for sentence in found for form in sentence.forms] == [
            "A",
            "dog",
            "ran",
            ".",
            "It",
            "barked",
            ".",
        ]
        assert all(check(sentence) is None for sentence in found)


def stanza_word(number: int, text: str, head: int) -> SimpleNamespace:
    return SimpleNamespace(
        id=number,
        text=text,
        lemma=None,
        upos="X",
        xpos="Y",
        feats=None,
        head=head,
        deprel="root" if not head else "dep",
    )


def fake_stanza(seen: list[dict[str, object]]) -> SimpleNamespace:
    """Stanza whose every sentence is "Don't go." with a multiword token."""
    do, not_, go, stop = (
        stanza_word(*word) for word in ((1, "Do", 3), (2, "n't", 3), (3, "go", 0), (4, ".", 3))
    )
    tokens = [
        SimpleNamespace(text="Don't", words=[do, not_], start_char=0, end_char=5),
        SimpleNamespace(text="go", words=[go], start_char=6, end_char=8),
        SimpleNamespace(text=".", words=[stop], start_char=8, end_char=9),
    ]
    sentence = SimpleNamespace(words=[do, not_, go, stop], tokens=tokens, text="Don't go.")

    class Pipeline:
        def __init__(self, language: str, **options: object) -> None:
            if language == "xx":
                raise FileNotFoundError("resources.json")
            seen.append({"language": language} | options)

        def bulk_process(self, texts: list[str]) -> list[SimpleNamespace]:
            return [SimpleNamespace(sentences=[sentence]) for _ in texts]

        def __call__(self, lists: list[list[str]]) -> SimpleNamespace:
            return SimpleNamespace(sentences=[sentence for _ in lists])

    return SimpleNamespace(Pipeline=Pipeline, __version__="1.10.1")


def test_stanza(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words, ranges and spaces of its documents; tokens are given as tokens; nothing is downloaded."""
    seen: list[dict[str, object]] = []
    monkeypatch.setitem(sys.modules, "stanza", fake_stanza(seen))
    parser = open_parser("stanza:en")
    [[sentence]] = parser.parse(["Don't go."])
    [tokenized] = parser.parse_tokenized([["Do", "n't", "go", "!"]])

    assert (parser.name, parser.version) == ("stanza:en", "1-1.10.1")
    assert sentence == Sentence(
        ["Do", "n't", "go", "."],
        lemmas=["_"] * 4,
        upos=["X"] * 4,
        xpos=["Y"] * 4,
        feats=["_"] * 4,
        heads=[3, 3, 0, 3],
        deprels=["dep", "dep", "root", "dep"],
        space_after=[False, True, False, True],
        multiwords=[(1, 2, "Don't")],
        text="Don't go.",
    )
    assert (tokenized.forms, tokenized.heads, tokenized.text) == (["Do", "n't", "go", "!"], [3, 3, 0, 3], "")
    assert [(one["language"], one["download_method"], one.get("tokenize_pretokenized")) for one in seen] == [
        ("en", None, None),
        ("en", None, True),
    ]


def test_stanza_language_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line can be pasted."""
    monkeypatch.setitem(sys.modules, "stanza", fake_stanza([]))

    with pytest.raises(
        NotFoundError, match=r"no models for 'xx' here; get them with: python -c .*download\('xx'\)"
    ):
        open_parser("stanza:xx")


def test_adapters_do_not_import_their_packages() -> None:
    """Only who asks for a parser pays for it."""
    code = "import sys, sentgen.cli.ingest; print({'ufal.udpipe', 'spacy', 'stanza'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"
