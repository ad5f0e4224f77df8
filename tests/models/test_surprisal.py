"""Surprisal of stored tokens: against a reader of ARPA files, KenLM and `score`; new sentences; removal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plugged import plugged, write_package
from stored import copied, rows

from sentgen.counts import corpora
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import ModelError, NotFoundError, SentgenError
from sentgen.lookups.base.selection import Selection
from sentgen.models import arpa, build
from sentgen.models.base import registry
from sentgen.models.stored_text import StoredText
from sentgen.models.surprisal import Application, ApplyRequest
from sentgen.schema import Store
from sentgen.schema.store import raw
from sentgen.schema.sum_checks import checks

LINES = [
    "the dog sees the cat",
    "the cat sees a dog",
    "a dog barks",
    "the cat sleeps on the mat",
    "a cat on the mat sees the dog",
]
OTHERS = ["the dog barks on the zebra", "zebra", "on on the mat", "A Cat barks"]
Bits = dict[tuple[str, int], list[float]]
VOCABULARY = ["the", "a", "dog", "cat", "on", "mat", "zebra"]


def add(store: Store, name: str, lines: list[str], file: str = "a.lines", **options: object) -> None:
    path = store.path.parent / f"{name}-{file}"
    path.write_text("".join(f"{line}\n" for line in lines))
    ingest(store, [str(path)], Settings(name, **options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a model of five sentences, and another corpus with unknown words; no test changes it."""
    path = tmp_path_factory.mktemp("modeled") / "store.duckdb"
    with Store(path, create=True) as store:
        add(store, "toy", LINES)
        add(store, "others", OTHERS)
        build(store, "toy", ["toy"], order=3)
    return path


@pytest.fixture
def modeled(made: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of that store, open for writing."""
    with copied(made, tmp_path) as store:
        yield store


def apply(store: Store, corpus: str = "others", model: str = "toy") -> Application:
    return ApplyRequest(name=model, corpus=[corpus]).apply(store)


def bits(store: Store) -> Bits:
    """Return the surprisal of the tokens of each sentence, by model and sentence."""
    query = """
        select model || '@' || version, sentence_id, list(surprisal order by position)
        from v_surprisal
        group by all
        order by all"""
    return {(str(m), int(s)): found for m, s, found in rows(store, query)}


def unknown(store: Store, model: str) -> list[str]:
    """Return the tokens that a model does not know, as the view has them."""
    query = f"select form from v_surprisal where unknown and model = '{model}' order by sentence_id, position"
    return [str(form) for (form,) in rows(store, query)]


def read_arpa(path: Path) -> dict[tuple[str, ...], tuple[float, float]]:
    """Read an ARPA file as its description has it: n-gram to log10 and back-off weight."""
    found, order = {}, 0
    for line in path.read_text().splitlines():
        if line.endswith("-grams:"):
            order = int(line[1:-7])
        elif "\t" in line:
            logp, gram, *weight = line.split("\t")
            words = tuple(gram.split(" "))
            assert len(words) == order
            found[words] = (float(logp), float(weight[0]) if weight else 0.0)
    return found


def log10_after(grams: dict[tuple[str, ...], tuple[float, float]], history: list[str], word: str) -> float:
    """Return log10 p(word | history) by backing off, from the longest context that a trigram has."""
    word = word if (word,) in grams else "<unk>"
    context = tuple(one if (one,) in grams else "<unk>" for one in history)[-2:]
    total = 0.0
    while (*context, word) not in grams:
        total += grams.get(context, (0.0, 0.0))[1]
        context = context[1:]
    return total + grams[(*context, word)][0]


def test_a_token_by_hand(store: Store) -> None:
    """Of "a" and "a b", unigrams and bigrams without smoothing of an ARPA file: p(a|<s>) is a half, one bit.

    p(b|a) = 1/8 is a bigram; p(a|b) backs off with the weight 1/2 of b to p(a) = 1/4: 3 bits both.
    """
    path = store.path.parent / "hand.arpa"
    half, eighth, quarter = (f"{math.log10(p):.7f}" for p in (1 / 2, 1 / 8, 1 / 4))
    path.write_text(
        "\\data\\\nngram 1=5\nngram 2=2\n\n\\1-grams:\n-99\t<s>\t0\n"
        f"{quarter}\ta\t0\n{quarter}\tb\t{half}\n{quarter}\t</s>\n{quarter}\t<unk>\n\n"
        f"\\2-grams:\n{half}\t<s> a\n{eighth}\ta b\n\n\\end\\\n"
    )
    arpa.import_arpa(store, "hand", path)
    add(store, "toy", ["a b a", "a zebra"])

    done = apply(store, "toy", "hand")

    assert bits(store) == {("hand@1", 1): pytest.approx([1, 3, 3], abs=1e-5), ("hand@1", 2): pytest.approx([1, 2], abs=1e-5)}  # fmt: skip
    assert (done.sentences, done.tokens, done.unknown) == (2, 5, 1)
    assert str(done) == "hand@1: 5 tokens of 2 sentences, 1 unknown; surprisal 2.00 bits a token"
    assert unknown(store, "hand") == ["zebra"]


def test_equals_an_independent_reader_of_the_arpa_file(modeled: Store, tmp_path: Path) -> None:
    """The surprisal of each token is that of an independent reader, unknown words as <unk>."""
    apply(modeled)
    arpa.export_arpa(modeled, registry.find(modeled, "toy"), tmp_path / "toy.arpa")
    grams = read_arpa(tmp_path / "toy.arpa")

    for line, found in zip(OTHERS, bits(modeled).values(), strict=True):
        words = line.split()
        expected = [log10_after(grams, ["<s>", *words[:i]], word) for i, word in enumerate(words)]
        assert found == pytest.approx([-value / math.log10(2) for value in expected], abs=1e-4)


def test_equals_kenlm(modeled: Store, tmp_path: Path) -> None:
    """The surprisal of each token is KenLM's, by the same model as ARPA file."""
    kenlm = pytest.importorskip("kenlm")
    apply(modeled)
    arpa.export_arpa(modeled, registry.find(modeled, "toy"), tmp_path / "toy.arpa")
    oracle = kenlm.Model(str(tmp_path / "toy.arpa"))

    for line, found in zip(OTHERS, bits(modeled).values(), strict=True):
        expected = [-logp / math.log10(2) for logp, _, _ in oracle.full_scores(line)][:-1]
        assert found == pytest.approx(expected, abs=1e-4)


@settings(
    max_examples=settings.default.max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(1, 9),
)
def test_any_text_in_blocks_of_any_size(modeled: Store, sentences: list[list[str]], size: int) -> None:
    """Any text has the surprisal of the independent reader; blocks are whole sentences, in order."""
    arpa.export_arpa(modeled, registry.find(modeled, "toy"), modeled.path.parent / "toy.arpa")
    grams = read_arpa(modeled.path.parent / "toy.arpa")
    corpora.remove(modeled, "others")
    add(modeled, "others", [" ".join(words) for words in sentences])
    blocks = [*StoredText.read(modeled, Selection(("others",)), tokens=size)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(StoredText, "read", partial(StoredText.read, tokens=size))
        apply(modeled)

    assert [block.forms[n] for block in blocks for n in block.numbers] == [*chain(*sentences)]
    assert all(block.lengths[:-1].sum() < size for block in blocks)
    for words, found in zip(sentences, bits(modeled).values(), strict=True):
        expected = [log10_after(grams, ["<s>", *words[:i]], word) for i, word in enumerate(words)]
        assert found == pytest.approx([-value / math.log10(2) for value in expected], abs=1e-4)


def test_only_new_sentences(modeled: Store) -> None:
    """A second run does nothing; later ones score new sentences, and corpora that were left out."""
    first, again = apply(modeled), apply(modeled)
    known = bits(modeled)
    add(modeled, "others", ["a dog barks"], "b.lines")
    more = apply(modeled)

    assert (first.sentences, again.sentences, more.sentences) == (4, 0, 1)
    assert str(again) == "toy@1: applied to all of these sentences before"
    assert known.items() < bits(modeled).items()
    assert apply(modeled, "toy").sentences == len(LINES)
    assert apply(modeled, "toy").sentences == 0


def test_versions_and_models_stand_side_by_side(modeled: Store) -> None:
    """Each version has its own surprisal; NAME is the newest one."""
    build(modeled, "toy", ["toy"], order=1)
    apply(modeled)
    apply(modeled, model="toy@1")

    found = bits(modeled)
    assert {label for label, _ in found} == {"toy@1", "toy@2"}
    assert found["toy@1", 6] != found["toy@2", 6]


def test_lower_case_as_the_model(modeled: Store) -> None:
    """A model of a lower-cased corpus scores other corpora in lower case, too."""
    add(modeled, "lower", LINES, lowercase=True)
    build(modeled, "lower", ["lower"], order=3)

    assert (apply(modeled).unknown, apply(modeled, model="lower").unknown) == (4, 2)
    words = {form for line in LINES for form in line.split()}
    small, forms = {form.lower() for form in words}, [form for line in OTHERS for form in line.split()]
    assert unknown(modeled, "toy") == [form for form in forms if form not in words]
    assert unknown(modeled, "lower") == [form for form in forms if form.lower() not in small]


def test_goes_with_its_model_and_with_its_corpus(modeled: Store) -> None:
    """Surprisal is removed with its model, its corpus, or a replaced source, whose new sentences have none yet."""
    build(modeled, "toy", ["toy"], order=2)
    for model in ("toy@1", "toy@2"):
        for corpus in ("toy", "others"):
            apply(modeled, corpus, model)
    tokens = len(" ".join(LINES + OTHERS).split())
    assert len(rows(modeled, "from surprisal")) == 2 * tokens

    registry.remove(modeled, "toy@2")
    assert len(rows(modeled, "from surprisal")) == tokens
    corpora.remove(modeled, "toy")
    assert len(rows(modeled, "from surprisal")) == len(" ".join(OTHERS).split())
    ((path,),) = rows(modeled, "select path from source")
    Path(path).write_text("a dog\n")
    ingest(modeled, [path], Settings("others", replace=True))
    assert len(rows(modeled, "from surprisal")) == 0
    assert apply(modeled).tokens == 2


def test_half_of_it_is_nothing(modeled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails or is killed in the second block stores nothing of the first."""
    parts: list[str] = []

    def told(line: str) -> None:
        parts.append(line)
        if len(parts) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(StoredText, "read", partial(StoredText.read, tokens=3))
    with pytest.raises(KeyboardInterrupt):
        ApplyRequest(name="toy", corpus=["others"]).apply(modeled, told)

    assert len(parts) == 2
    assert len(rows(modeled, "from surprisal")) == 0
    assert apply(modeled).sentences == 4


def test_what_has_no_surprisal_is_refused(modeled: Store) -> None:
    """Models without probabilities of stored words, and unknown names, are refused."""
    build(modeled, "counts", ["toy"], order=2, smoothing="stupid-backoff")

    with pytest.raises(ModelError, match=r"counts@1 is a stupid backoff, .*`smoothing` kneser-ney"):
        apply(modeled, model="counts")
    with pytest.raises(NotFoundError, match="no model 'x'"):
        apply(modeled, model="x")
    with pytest.raises(NotFoundError, match="no corpus 'x'"):
        apply(modeled, "x")
    assert len(rows(modeled, "from surprisal")) == 0


def test_checks_find_half_a_sentence(modeled: Store) -> None:
    """Checks find half a sentence, and rows of removed models and sentences."""
    wrong = {
        "surprisal of whole sentences": "delete from surprisal where sentence_id = 6 and position = 2",
        "surprisal.model_id without model": "update surprisal set model_id = 9",
        "surprisal.sentence_id without sentence": "update surprisal set sentence_id = 99",
    }
    apply(modeled)
    assert not any(problems(modeled).values())
    for name, harm in wrong.items():
        with modeled.begin() as connection:
            raw(connection).execute(harm)
        assert problems(modeled)[name]


def problems(store: Store) -> dict[str, list[object]]:
    return {one.name: rows(store, one.query) for one in checks() if "surprisal" in one.name}


#: Each word is as probable as it has letters: half, a quarter, ...
LETTERS = """
from sentgen.plugins import Scorer
import math
def score_words(sentences): return [[-len(word) * math.log(2) for word in words] for words in sentences]
x = Scorer("letters", "", lambda sentences: [0.0 for _ in sentences], score_words)
whole = Scorer("whole", "", lambda sentences: [0.0 for _ in sentences])
high = Scorer("high", "", len, lambda sentences: [[0.5] * len(words) for words in sentences])
few = Scorer("few", "", len, lambda sentences: [[] for _ in sentences])
text = Scorer("text", "", len, lambda sentences: ["no" for _ in sentences])
"""


def test_that_of_a_scorer_is_stored(modeled: Store, tmp_path: Path) -> None:
    """Surprisal of a scorer is stored by its name, a version for each of its package; it is no model elsewhere."""
    named = ("letters", "whole", "high", "few", "text")
    entries = {f"scorers.{name}": name.replace("letters", "x") for name in named}
    write_package(tmp_path / "site", "scoring", entries, LETTERS)
    asked = partial(ApplyRequest, corpus=["others"])
    with plugged(tmp_path / "site"):
        done = asked(name="letters").apply(modeled)
        again = asked(name="letters").apply(modeled)
        for name, told in (
            ("whole", "the scorer 'whole' of scoring 1.0 has no score_words, and surprisal is that of words"),
            ("high", "gives the score 0.5 for a word, which is no log-probability: it is above 0"),
            ("few", "gives 0 scores for a sentence of"),
            ("text", "gives 'no' where the scores of words belong"),
        ):
            with pytest.raises(SentgenError, match=told):
                asked(name=name).apply(modeled)
    with modeled.connect() as connection:
        query = "select form, surprisal from v_surprisal where model = 'letters' and version = 1"
        rows = raw(connection).execute(query).fetchall()

    assert (done.tokens, again.tokens) == (len(rows), 0)
    assert rows
    assert all(bits == len(form) for form, bits in rows)
    with pytest.raises(NotFoundError, match="no model 'letters' but a scorer, which has no n-grams"):
        registry.find(modeled, "letters")
    assert "letters" not in [one.name for one in registry.list_models(modeled)]
    assert ("letters", 1, 0, "scorer") in [tuple(row[:4]) for row in registry.overview(modeled).rows]
    assert [one.label for one in registry.remove(modeled, "letters")] == ["letters@1"]
    assert not registry.list_scorers(modeled)
