"""The contents of a corpus: its kinds of regions and its metadata, with their sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

import sentgen
from sentgen.errors import InputError

#: A heading in a paragraph, nested asides, an aside over two sentences; and a second document.
FIRST = """\
<doc id="one" genre="news" year="2020">
<p type="lead">
<s speaker="Ann">
Rain	NN	rain
<aside by="A">
<aside>
again	RB	again
</aside>
today	NN	today
</aside>
</s>
<aside by="B">
<s>
It	PRP	it
pours	VBZ	pour
</s>
<s>
Hard	RB	hard
</aside>
</s>
</p>
</doc>
<doc id="two" genre="web">
<s>
Sun	NN	sun
</s>
</doc>
"""


def test_sizes_of_regions_and_metadata(tmp_path: Path) -> None:
    """Counts by hand: a token in two asides counts once, and other corpora do not count."""
    (tmp_path / "first.vert").write_text(FIRST)
    (tmp_path / "other.vert").write_text(FIRST.replace("aside", "note").replace("genre", "kind"))
    with sentgen.open(tmp_path / "s.duckdb", create=True) as store:
        for name in ("first", "other"):
            store.ingest(str(tmp_path / f"{name}.vert"), corpus=name)
        found = {row.kind: row._asdict() for row in store.corpus("first", regions=True)}
        told = {(row.said_of, row.key): row._asdict() for row in store.corpus("first", metadata=True)}
        with pytest.raises(InputError, match="exclude each other"):
            store.corpus("first", regions=True, rejected=True)

    assert found["aside"] == {"kind": "aside", "attributes": "by", "regions": 3, "tokens": 5}
    assert found["p"] == {"kind": "p", "attributes": "type", "regions": 1, "tokens": 6}
    assert "note" not in found
    genre = told["document", "genre"]
    assert (genre["times"], genre["different"], genre["tokens"]) == (2, 2, 7)
    year = told["document", "year"]
    assert (year["times"], year["different"], year["tokens"]) == (1, 1, 6)
    assert ("document", "kind") not in told
