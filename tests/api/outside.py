"""Code of a user of the package, for the type checker of `python -m tests` alone.

Wrong lines name the error that they cause; the checker complains if it does not occur.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import sentgen
from sentgen import Database, Hits, Table
from sentgen.errors import InputError


def first(db: Database) -> str:
    """Call methods rightly and wrongly."""
    found: Table = db.ngrams("in the *", min_count=2, corpus="ewt", limit=3)
    db.kwic('[lemma="go"]', sort="left", corpus=["a", "b"])
    assert_type(db.match("pattern { V [] }").by("V.lemma"), Hits)
    db.ngrams("in the *", limt=3)  # type: ignore[call-arg]
    db.collocations("camp", by="up")  # type: ignore[arg-type]
    db.ngrams(3)  # type: ignore[arg-type]
    for row in found:
        return str(row.w3)
    raise InputError("nothing")


with sentgen.open(Path("ewt.duckdb"), create=True, memory_limit="2GB") as db:
    print(db.ingest([Path("a.conllu")], corpus="ewt").sentences + 1)
    lm = db.build_model("ewt", corpora=["ewt"], order=4)
    made = lm.regenerate("[the dog] chased [the black cat] .", algorithm="ab")
    assert_type(made.tree.heads, list[int])
    assert_type(lm.score("a b").perplexity, float)
    assert_type(db.align("a", "b").links[0].document, int)
    db.generate(Path("cluster.conllu"), lengths=(5, 20), algorithm="bigram")
    print(db.fuse(1, Path("cluster.conllu"), words=5).words[0].sentence)
    db.check("a", "b", lemmas="yes")  # type: ignore[arg-type]
    print(first(db), db.sql("select 1", [1]).sql.upper())
