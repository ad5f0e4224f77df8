"""Keywords of n-grams, by part of speech and without stop words; effect sizes and significances by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import erfc, inf, log, log2, sqrt
from pathlib import Path
from typing import Any

import duckdb
import pytest
from scipy.stats import chi2
from sqlalchemy import Connection
from ten_sentences import LEMMAS, SENTENCES, parse
from typer.testing import CliRunner

import sentgen
from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.statistics.frequencies import By
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.lookups.statistics.measures import KEYWORD_FORMULAS, POLYNOMIAL, KeywordMeasure
from sentgen.schema import Store

BOTH = {"corpus": ["toy"], "against": ["other"]}


def counted(
    by: By, n: int = 1, *, stop: str = "", pos: str = "", fold: bool = False
) -> dict[str, Counter[str]]:
    """Count the items of each corpus, token by token."""
    left_out, tags = set(stop.lower().split()), set(filter(None, pos.split(",")))
    found = {"toy": Counter[str](), "other": Counter[str]()}
    for corpus, _, text in SENTENCES:
        tokens = parse(text)
        values = {
            By.WORD: [form for form, *_ in tokens],
            By.LEMMA: [LEMMAS.get(form, form) for form, *_ in tokens],
            By.XPOS: [tag for _, tag, *_ in tokens],
        }[by]
        for start in range(len(tokens) - n + 1):
            span = range(start, start + n)
            if any(values[i].lower() in left_out or (tags and tokens[i][1] not in tags) for i in span):
                continue
            item = " ".join(values[i] for i in span)
            found[corpus][item.lower() if fold else item] += 1
    return found


def sizes(n: int) -> list[int]:
    """Return the number of n-grams of each corpus, with those that are left out."""
    return [counted(By.WORD, n)[corpus].total() for corpus in ("toy", "other")]


@pytest.mark.nightly(by_day=10)
@pytest.mark.parametrize("by", [By.WORD, By.LEMMA, By.XPOS])
@pytest.mark.parametrize(
    ("n", "stop", "pos", "fold"),
    [
        (1, "", "", False),
        (2, "", "", False),
        (2, "", "", True),
        (3, "", "", False),
        (1, "The .\nfell", "", False),
        (2, "the .", "", False),
        (1, "", "NN,NNP", False),
        (2, "", "DT,NN", False),
        (2, "stock", "DT,NN", True),
    ],
)
def test_every_item_has_its_measures(
    by: By, n: int, stop: str, pos: str, fold: bool, stores: Connection
) -> None:
    """All items of both corpora, and nothing else; all measures by the formulas of the papers."""
    if by is By.XPOS and stop:
        pytest.skip("a stop list is of words")
    counts = counted(by, n, stop=stop, pos=pos, fold=fold and by is not By.XPOS)
    here, there = counts["toy"], counts["other"]
    c, d = sizes(n)
    asked: dict[str, Any] = {"by": by, "n": n, "stop": stop or None, "pos": pos or None, "ignore_case": fold}
    rows = Keywords(**BOTH, **asked, constant=10, limit=0).ask(stores).table.to_pylist()

    assert {row[by]: (row["count"], row["reference_count"]) for row in rows} == {
        item: (here[item], there[item]) for item in here | there
    }
    for row in rows:
        a, b = row["count"], row["reference_count"]
        likelihood = 2 * sum(
            seen * log(seen / (size * (a + b) / (c + d))) for seen, size in ((a, c), (b, d)) if seen
        )
        effect = log2(((a or 0.5) / c) / ((b or 0.5) / d))
        error = sqrt(1 / (a or 0.5) - 1 / c + 1 / (b or 0.5) - 1 / d) / log(2)
        expected = {
            "per_million": 1e6 * a / c,
            "reference_per_million": 1e6 * b / d,
            "log_likelihood": likelihood if a / c >= b / d else -likelihood,
            "log_ratio": effect,
            "percent_diff": 100 * (a / c - b / d) / (b / d) if b else None,
            "odds_ratio": (a / (c - a)) / (b / (d - b)) if b else None,
            "simple_maths": (1e6 * a / c + 10) / (1e6 * b / d + 10),
            "p_bonferroni": min(1, len(rows) * chi2.sf(likelihood, 1)),
            "bic": likelihood - log(c + d),
            "log_ratio_low": effect - 1.959964 * error,
            "log_ratio_high": effect + 1.959964 * error,
        }
        for name, value in expected.items():
            close = value if value is None else pytest.approx(value, rel=1e-7, abs=1e-9)
            assert row[name] == close, (row[by], name)


@pytest.mark.parametrize("measure", [KeywordMeasure.ODDS_RATIO, KeywordMeasure.SIMPLE_MATHS])
@pytest.mark.parametrize("negative", [False, True])
def test_the_new_measures_rank(measure: KeywordMeasure, negative: bool, connection: Connection) -> None:
    """Items are sorted by the measure; one that the reference lacks has infinite odds."""
    asked = Keywords(**BOTH, measure=measure, negative=negative, n=2, limit=0)
    values = asked.ask(connection).table[measure.replace("-", "_")].to_pylist()
    places = [inf if value is None else value for value in values]

    assert places == sorted(places, reverse=not negative)


def test_probabilities_of_large_differences() -> None:
    """Probabilities of the normal distribution agree with `math.erfc`, down to the smallest floats."""
    duck = duckdb.connect()
    for x in [0, 1e-6, 0.1, 0.5, 1, 1.5, 2, 3, 5, 8, 13, 20, 26]:
        text = f"select t * exp({POLYNOMIAL} - {x} ** 2) from (select 1 / (1 + {x} / 2.0) as t)"
        assert duck.execute(text).fetchall()[0][0] == pytest.approx(erfc(x), rel=1e-8), x


@pytest.mark.parametrize(
    ("a", "b", "measure", "constant", "printed"),
    [
        # Hardie 2014: twice as frequent is 1, four times 2.
        (40, 10, KeywordMeasure.LOG_RATIO, 1, 2),
        # Gabrielatos and Marchi 2012: twice as frequent is 100 per cent.
        (20, 10, KeywordMeasure.PERCENT_DIFF, 1, 100),
        # Kilgarriff 2009, "Simple maths for keywords": a rare word, one between, and a common one.
        (10, 0, KeywordMeasure.SIMPLE_MATHS, 1, 11),
        (200, 100, KeywordMeasure.SIMPLE_MATHS, 1, 1.99),
        (12000, 10000, KeywordMeasure.SIMPLE_MATHS, 1, 1.2),
        (10, 0, KeywordMeasure.SIMPLE_MATHS, 100, 1.1),
        (200, 100, KeywordMeasure.SIMPLE_MATHS, 100, 1.5),
        (12000, 10000, KeywordMeasure.SIMPLE_MATHS, 100, 1.2),
        (10, 0, KeywordMeasure.SIMPLE_MATHS, 1000, 1.01),
        (200, 100, KeywordMeasure.SIMPLE_MATHS, 1000, 1.09),
        (12000, 10000, KeywordMeasure.SIMPLE_MATHS, 1000, 1.18),
    ],
)
def test_printed_values(a: int, b: int, measure: KeywordMeasure, constant: int, printed: float) -> None:
    """Values of papers are reproduced, for a million tokens on each side."""
    pair = f"select {a}::double as a, {b}::double as b, 1e6::double as c, 1e6::double as d"
    formula = KEYWORD_FORMULAS[measure].replace("$constant", f"{constant}.0")
    [(value,)] = duckdb.connect().execute(f"select {formula} from ({pair})").fetchall()

    assert value == pytest.approx(printed, abs=0.006)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"by": By.XPOS, "stop": "the"}, "goes with words or lemmas, not with xpos"),
        ({"stop": " \n"}, "the list of words to leave out is empty"),
        ({"pos": " ,"}, "no part of speech was given"),
        ({"pos": "VBD"}, "other has no word with a part of speech VBD to compare; name others"),
        ({"pos": "VBD", "n": 2}, "other has no word with a part of speech VBD"),
        ({"by": By.LEMMA, "n": 5, "corpus": ["short"]}, "short has no sequences of 5 tokens to compare"),
        ({"n": 5, "against": ["short"]}, "short has no sequences of 5 tokens"),
        ({"n": 3, "against": ["counted", "other"]}, "not counted to order 3.*: counted"),
        ({"constant": 0}, "is more than 0, not 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(stores: Connection, asked: dict[str, Any], told: str) -> None:
    """Sides that cannot be compared are refused with the cure, never answered without rows."""
    with pytest.raises(InputError, match=told):
        Keywords(**{**BOTH, **asked}).ask(stores)


def test_an_order_that_nobody_counted(stores: Connection) -> None:
    """An order that is not counted is refused with the message of n-grams, which has the cure."""
    with pytest.raises(NotFoundError, match="counted up to 1"):
        Keywords(corpus=["counted"], against=["toy"], n=2).ask(stores)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The corpora of the ten sentences, one with a short sentence, and one that is counted to order 1."""
    folder = tmp_path_factory.mktemp("keyness")
    rows = {"toy": SENTENCES[:8], "other": SENTENCES[8:], "counted": SENTENCES[8:]}
    with Store(folder / "store.duckdb", create=True) as store:
        for name, sentences in rows.items():
            lines = [
                "".join(_row(i, token) for i, token in enumerate(parse(text), 1)) for *_, text in sentences
            ]
            (folder / f"{name}.conllu").write_text("\n".join(lines) + "\n")
            settings = Settings(name, order=1 if name == "counted" else 5)
            ingest(store, [str(folder / f"{name}.conllu")], settings)
        (folder / "short.txt").write_text("Dogs bark.\n")
        ingest(store, [str(folder / "short.txt")], Settings("short"))
        with store.connect() as connection:
            yield connection


def _row(place: int, token: tuple[str, str, int, str]) -> str:
    form, tag, head, relation = token
    return f"{place}\t{form}\t{LEMMAS.get(form, form)}\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n"


def test_a_stop_list_is_a_file_of_the_command(path: Path, tmp_path: Path) -> None:
    """The command reads stop words from a file; Python and a saved query have the words themselves."""
    (tmp_path / "stop.txt").write_text("\ufeffthe\n.\n", "utf-8")
    words = ["keyness", "toy", "--against", "other", "--n", "2", "--limit", "0"]
    stop = ["--stop", str(tmp_path / "stop.txt")]
    told = CliRunner().invoke(build(), [*words, *stop, "--csv", "--db", str(path)])
    lacking = CliRunner().invoke(build(), [*words, "--stop", str(tmp_path / "no.txt"), "--db", str(path)])
    saved = CliRunner().invoke(build(), ["saved", "add", "mine", "--db", str(path), "--", *words, *stop])
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(path.read_bytes())
    with sentgen.open(copy, read_only=True) as db:
        same = db.keyness("toy", "other", n=2, limit=0, stop="the .")

    assert told.exit_code == 0
    listed = [line.split(",")[0] for line in told.stdout.splitlines()[1:]]
    assert listed == [row.word for row in same]
    assert not {"the", "."} & {word for item in listed for word in item.lower().split()}
    assert lacking.exit_code == 1
    assert "cannot be read" in str(lacking.exception)
    assert "names no files; leave out --stop" in str(saved.exception)
