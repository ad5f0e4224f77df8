"""A store for clusters that nobody wants to keep."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sentgen.corpus.conllu_writer import conllu
from sentgen.corpus.sentence import Sentence
from sentgen.counts import ingestion
from sentgen.schema import Store

#: Name of the corpus in which the clusters are.
CORPUS = "clusters"


@contextmanager
def stored_clusters(clusters: Iterable[Sequence[Sentence]]) -> Iterator[Store]:
    """Put clusters into a store of their own, which is removed at the end.

    The documents of its corpus `CORPUS` are the clusters; their names are "0", "1" and so on.
    """
    with tempfile.TemporaryDirectory(prefix="sentgen-") as folder:
        file = Path(folder) / "clusters.conllu"
        with file.open("w", encoding="utf-8") as sink:
            for number, cluster in enumerate(clusters):
                for place, sentence in enumerate(cluster):
                    sink.write(conllu(replace(sentence, document=None if place else str(number))))
        settings = ingestion.Settings(CORPUS, format="conllu", order=1, kind="cluster")
        with Store(Path(folder) / "clusters.duckdb", create=True) as store:
            ingestion.ingest(store, [str(file)], settings)
            yield store
