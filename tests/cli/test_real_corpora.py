"""Sessions with real corpora."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import pytest
from conftest import Sentgen

pytestmark = pytest.mark.data


@pytest.mark.slow
def test_model_agrees_with_kenlm(sentgen: Sentgen, data_dir: Path) -> None:
    """The exported ARPA file gives the scores that sentgen gives."""
    kenlm = pytest.importorskip("kenlm")
    assert sentgen("ingest", data_dir / "ud/en_atis-ud-dev.conllu", "--corpus", "atis").code == 0
    sentgen("models", "build", "atis", "--corpus", "atis", "--order", "4")
    sentgen("models", "export", "atis", "--arpa", "atis.arpa")
    reference = kenlm.Model("atis.arpa")
    sentences = ["show me the flights from boston", "what is a zeppelin", ""]
    rows = json.loads(sentgen("score", "-m", "atis", *sentences, "--json").out)

    assert [row["log10"] for row in rows] == pytest.approx([reference.score(s) for s in sentences], abs=1e-4)


@pytest.mark.slow
def test_folder_of_the_treebanks(sentgen: Sentgen, data_dir: Path, tmp_path: Path, nightly: bool) -> None:
    """Licences and notes beside the corpora are no corpora; by day, eight files of each kind are there."""
    ignored = None if nightly else shutil.ignore_patterns("*[1-9].*", "*[2-9]0.*", "*LICENSE*")
    folder = Path(shutil.copytree(data_dir / "wsj01", tmp_path / "wsj01", ignore=ignored))
    told = sentgen("ingest", folder, "--corpus", "wsj")

    # 100 files each of trees, tags and dependencies, and a README.
    assert (told.code, told.err.count("passed over: ")) == (0, 1)
    assert f"sources         {300 if nightly else 6}\n" in told.out
    assert sentgen("db", "check").code == 0


@pytest.mark.slow
def test_tokenized_text(sentgen: Sentgen, data_dir: Path) -> None:
    """Every line ends in a blank, words were replaced by <unk>, and the same text may come packed."""
    source = data_dir / "text" / "ptb-lm-valid.txt"
    Path("valid.xz").write_bytes(lzma.compress(source.read_bytes()))

    told = sentgen("ingest", source, "--corpus", "ptb", "--order", "3")

    # wc -l and wc -w of the file
    assert "sentences       3,370\n" in told.out
    assert "tokens          70,390\n" in told.out
    assert "(1 unchanged)" in sentgen("ingest", "valid.xz", "--corpus", "ptb", "--order", "3").out
    assert sentgen("db", "check").code == 0
