"""The sample of the Wall Street Journal: the order of the systems, and figures near an independent calibration."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.models import build
from sentgen.schema import Store

pytestmark = [pytest.mark.data, pytest.mark.slow]

#: BLEU, lower-cased, of another implementation: train 3,400 sentences of the Wall Street Journal, test 245.
CALIBRATION = {"viterbi": 15.0, "lmo": 26.5, "prim-ngram": 29.7, "prim-arg": 31.6, "cle": 30.9, "ab": 32.4}
SYSTEMS = ("viterbi", "lmo", "prim-ngram", "prim-arg", "cle", "ab", "beam")


@pytest.mark.nightly
def test_order_of_the_systems(data_dir: Path, tmp_path: Path) -> None:
    """viterbi << lmo < cle < ab < beam, each within 3 points of the calibration; differences are sure."""
    dep = data_dir / "wsj01" / "dep"
    with Store(tmp_path / "wsj.duckdb", create=True) as store:
        ingest(store, [str(dep / "wsj_01[0-7]*.dp")], Settings("wsj"))
        model = build(store, "wsj", ["wsj"], order=4, smoothing="katz")
        test = read_test_set(str(dep / "wsj_01[89]*.dp"))
        result = evaluate_regeneration(store, model, test, SYSTEMS, jobs=2)
    found = {system.system: system.value("bleu-lc-none") for system in result.systems}
    surely = {(pair.worse, pair.better) for pair in result.comparisons if pair.holm < 0.01}

    assert found["viterbi"] + 5 < found["lmo"] < found["cle"] < found["ab"] < found["beam"]
    assert found == pytest.approx(CALIBRATION | {"beam": found["beam"]}, abs=3)
    assert {("viterbi", "lmo"), ("lmo", "cle"), ("ab", "beam")} <= surely
    assert all(len(system.outputs) == 245 for system in result.systems)
