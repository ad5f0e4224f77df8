"""What commands print of corpora in four languages: right to left, without blanks, with contractions."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import Sentgen
from rich.cells import cell_len
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.output.display import closed_up
from sentgen.output.text_table import cut_front

FILES = {
    "ar": "ar_pud-ud-300.conllu",
    "zh": "zh_pud-ud-300.conllu",
    "fi": "fi_tdt-ud-dev-300.conllu",
    "fr": "fr_gsd-sud-test-r2.14.conllu",
}
BEGIN, END = "\u2067", "\u2069"
Run = Callable[..., str]


@pytest.fixture(scope="module")
def languages(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a corpus and a model of bigrams for each language; no test changes it."""
    path = tmp_path_factory.mktemp("languages") / "languages.duckdb"
    for name, file in FILES.items():
        for words in (
            ("ingest", data_dir / "ud" / file, "--corpus", name, "--order", 2),
            ("models", "build", name, "--corpus", name, "--order", 2),
        ):
            result = CliRunner().invoke(build(), [*map(str, words), "--db", str(path)])
            assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def printed(sentgen: Sentgen, languages: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command over that store, and return what it prints."""
    monkeypatch.setenv("SENTGEN_DB", str(languages))

    def run(*arguments: object) -> str:
        told = sentgen(*arguments)
        assert told.code == 0, told.err
        return told.out

    return run


def sentences(data_dir: Path, language: str) -> Iterator[list[list[str]]]:
    """The tokens of each sentence of a file, as the ten columns of CoNLL-U."""
    for block in (data_dir / "ud" / FILES[language]).read_text("utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        yield [row for row in rows if row[0].isdigit()]


def from_cell(line: str, start: int) -> str:
    """What of a line stands from a cell of the terminal on."""
    at = next((at for at in range(len(line)) if cell_len(line[:at]) >= start), len(line))
    # A line may end before it; no character may stand across it.
    assert cell_len(line[:at]) <= start
    return line[at:]


@pytest.mark.nightly(by_day=2)
@pytest.mark.data
@pytest.mark.parametrize("language", FILES)
def test_nodes_stand_below_each_other(language: str, printed: Run) -> None:
    """In cells of a terminal, whatever is wide, combines or runs from right to left."""
    asked = ("kwic", "upos:VERB", "--corpus", language, "-n", 12)
    rows = json.loads(printed(*asked, "--json"))
    head, *lines = printed(*asked).splitlines()
    start = cell_len(head.partition("node")[0])

    assert len(lines) == 12
    for line, row in zip(lines, rows, strict=True):
        assert from_cell(line, start).lstrip(BEGIN).startswith(row["node"])


@pytest.mark.nightly(by_day=2)
@pytest.mark.data
@pytest.mark.parametrize("language", FILES)
def test_columns_are_mirrored_where_text_runs_from_right_to_left(language: str, printed: Run) -> None:
    """Files keep their columns, and only such text is put between marks."""
    asked = ("match", "pattern { V [upos=VERB]; V -> N; N [upos=NOUN] }", "--corpus", language, "-n", 5)
    head, *lines = printed(*asked).splitlines()
    names = [name for name in head.split() if name in ("left", "node", "right")]
    fields = next(csv.reader(io.StringIO(printed(*asked, "--csv"))))

    assert names == (["right", "node", "left"] if language == "ar" else ["left", "node", "right"])
    assert [name for name in fields if name in names] == ["left", "node", "right"]
    assert all((BEGIN in line) == (language == "ar") for line in lines)


@pytest.mark.data
def test_contexts_stand_beside_the_node(printed: Run) -> None:
    """What follows the node ends on its left, and what comes before it begins on its right."""
    asked = ("kwic", "upos:VERB", "--corpus", "ar", "-n", 12)
    rows = json.loads(printed(*asked, "--json"))
    head, *lines = printed(*asked).splitlines()
    node, left = (cell_len(head.partition(name)[0]) for name in ("node", "left"))

    for line, row in zip(lines, rows, strict=True):
        following = line.removesuffix(from_cell(line, node))
        assert following.endswith(f"{END}  ")
        assert row["right"].startswith(following.partition(BEGIN)[2].rstrip(f"{END} …"))
        preceding = from_cell(line, left)
        assert preceding.startswith(BEGIN) == bool(row["left"])
        assert row["left"].endswith(preceding.strip(f"{BEGIN}{END}…"))


@pytest.mark.nightly(by_day=2)
@pytest.mark.data
@pytest.mark.parametrize("language", FILES)
def test_all_lines_are_printed_as_the_first_ones(language: str, printed: Run) -> None:
    """Without a limit lines come in parts, with the same columns."""
    few, all_of_them = (
        printed("kwic", "upos:VERB", "--corpus", language, "-n", limit, "--width", 20).splitlines()
        for limit in (3, 0)
    )

    assert [name for name in all_of_them[0].split() if name != "document"] == few[0].split()
    assert len(all_of_them) > 100
    assert len({len(line.split(BEGIN)) > 1 for line in all_of_them[1:]}) == 1


@pytest.mark.data
@pytest.mark.parametrize("language", FILES)
def test_matches_are_those_of_the_file(language: str, printed: Run, data_dir: Path) -> None:
    """As many subjects of verbs as a loop over the file finds."""
    relation = "subj" if language == "fr" else "nsubj"
    request = f"pattern {{ V [upos=VERB]; V -[1={relation}]-> S }}"
    expected = sum(
        row[7].partition("@")[0].partition(":")[0] == relation
        and row[6] != "0"
        and tokens[int(row[6]) - 1][3] == "VERB"
        for tokens in sentences(data_dir, language)
        for row in tokens
    )

    assert int(printed("match", request, "--corpus", language, "--count")) == expected > 100


@pytest.mark.data
@pytest.mark.parametrize("language", FILES)
def test_ngrams_are_those_of_the_file(language: str, printed: Run, data_dir: Path) -> None:
    """The most frequent bigrams with their counts, in the words of the language."""
    counts = Counter[tuple[str, str]]()
    for tokens in sentences(data_dir, language):
        forms = ["<s>", *(row[1] for row in tokens), "</s>"]
        counts.update(pairwise(forms))
    rows = json.loads(printed("ngrams", "* *", "--corpus", language, "-n", 10, "--json"))

    assert [row["count"] for row in rows] == [count for _, count in counts.most_common(10)]
    assert all(counts[row["w1"], row["w2"]] == row["count"] for row in rows)


@pytest.mark.data
@pytest.mark.parametrize("language", FILES)
def test_a_sentence_is_put_in_order(language: str, printed: Run, data_dir: Path) -> None:
    """The words of a bag, each once; blanks stand between them where the language writes them, and in files."""
    tokens = next(one for one in sentences(data_dir, language) if 5 <= len(one) <= 7)
    words = [row[1] for row in tokens]
    out = printed("regenerate", "--model", language, "-a", "lmo", "--order", 2, " ".join(words[::-1]))
    asked = ("regenerate", "--model", language, "-a", "lmo", "--order", 2, " ".join(words[::-1]))
    found = json.loads(printed(*asked, "--json"))[0]["sentence"]
    line = out.splitlines()[1].replace(BEGIN, "").replace(END, "")

    assert sorted(found.split()) == sorted(words)
    assert (found.replace(" ", "") if language == "zh" else found) in line.split("  ")
    assert (BEGIN in out) == (language == "ar")


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("我 们 在 iPhone SE 上 看 书 。", "我们在iPhone SE上看书。"),
        ("猫 が 「 好き 」 です , か ?", "猫が「好き」です,か?"),
        ("ฉัน รัก สุนัข", "ฉันรักสุนัข"),
        ("나는 개를 좋아한다 .", "나는 개를 좋아한다 ."),
        ("The word 我 们 is new .", "The word 我 们 is new ."),
        ("وقال ذلك .", "وقال ذلك ."),
        ("", ""),
    ],
)
def test_blanks_that_a_script_does_not_write(tokens: str, text: str) -> None:
    """Are left out of sentences that are made, where most words are of that script."""
    assert closed_up(tokens) == text


@pytest.mark.parametrize(
    ("text", "width", "end"),
    [("abc de\u0301", 2, "…e\u0301"), ("xe\u0301y", 2, "…y"), ("史無前例", 5, "…前例"), ("كتبَ", 2, "…بَ")],
)
def test_a_context_is_cut_between_letters(text: str, width: int, end: str) -> None:
    """An accent goes with its letter, and half of a wide character is none."""
    assert cut_front(text, width) == end
    assert cell_len(end) <= width
