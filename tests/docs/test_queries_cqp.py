"""The benchmark beside CQP reads its answers; a small program stands in for it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]


#: Answers as ``cqp -c`` does: its version first, and a line after the answer to each command.
FAKE = """
import sys
print("CQP version 3.0-fake", flush=True)
for line in sys.stdin:
    if "broken" in line:
        print("CQP Error: syntax", file=sys.stderr, flush=True)
    elif "size A" in line:
        print(len(line.split('"')[1]))
    print("-::-EOL-::-", flush=True)
"""


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The benchmark as a module."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("queries_cqp", ROOT / "benchmarks" / "queries_cqp.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for their types
    spec.loader.exec_module(module)
    sys.path.remove(str(ROOT / "benchmarks"))
    return module


@pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc")
def test_a_session_answers(benchmark: ModuleType, tmp_path: Path) -> None:
    """Each answer ends at its line; an answer that is no number is an error with the query."""
    (tmp_path / "fake.py").write_text(FAKE)
    session = benchmark.Cqp([sys.executable, str(tmp_path / "fake.py")])

    assert session.version == "CQP version 3.0-fake"
    assert session.ask("NOVELS") == []
    asked = [benchmark.Question(query) for query in ('"sea"', '"whale"', "broken")]
    assert [session.answer(one) for one in asked[:2]] == [[("3",)], [("5",)]]
    assert session.cpu() >= 0
    with pytest.raises(SystemExit, match="cqp does not answer broken: CQP Error: syntax"):
        session.answer(asked[2])
    session.close()


def test_tags_are_of_a_rule(benchmark: ModuleType) -> None:
    """Tags are by a list, then by endings, else noun; punctuation has its own."""
    tags = [benchmark.tag_of(word) for word in ("The", "old", "walking", "sea", "!")]

    assert tags == ["DT", "JJ", "VBG", "NN", "!"]


def test_what_both_have_is_compared(benchmark: ModuleType) -> None:
    """Compared are matches in order without contexts, groups in any order, and the size of a sample."""
    lines = benchmark.lines('"sea"', 50, "sort A by word on match[-1]", sort="1L")
    sample = benchmark.lines('"sea"', 2, "randomize 7", "reduce A to 2", random=7)
    groups = benchmark.groups('"sea"', "count A by word", "word")

    assert lines.compared == "tabulate A 0 49 match .. matchend word"
    assert lines.printed(["sea", "Sea"]) == lines.answer(pa.table({"node": ["sea", "Sea"]}))
    assert sample.printed(["sea", "Sea"]) == sample.answer(pa.table({"node": ["Sea", "sea"]})) == [("2",)]
    table = pa.table({"word": ["sea", "Sea"], "count": [2, 1]})
    assert groups.printed(["2\t0\tsea", "1\t7\tSea"]) == groups.answer(table)
