"""A store small enough to count by hand.

Corpus demo, in two segments, one sentence each::

    1  the/DET dog/NOUN saw/VERB the/DET dog/NOUN
    2  the/DET cat/NOUN slept/VERB
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from occurrences import FILL
from sqlalchemy import insert, text

from sentgen.schema import Store, metadata
from sentgen.schema.counting import count_pairs, count_trees
from sentgen.schema.store import raw

NOW = datetime(2026, 1, 1)
WORDS = ["<unk>", "<s>", "</s>", "<root>", "the", "dog", "saw", "cat", "slept"]
TAGS = ["<root>", "_", "DET", "NOUN", "VERB", "det", "nsubj", "obj", "root"]
SENTENCES = {
    1: [("the", "DET", 2, "det"), ("dog", "NOUN", 3, "nsubj"), ("saw", "VERB", 0, "root"), ("the", "DET", 5, "det"),
        ("dog", "NOUN", 3, "obj")],
    2: [("the", "DET", 2, "det"), ("cat", "NOUN", 3, "nsubj"), ("slept", "VERB", 0, "root")],
}  # fmt: skip
Rows = Callable[[str], list[tuple[Any, ...]]]


def fill(store: Store) -> None:
    """Write the corpus and its counts."""
    with store.begin() as connection:

        def add(table: str, *rows: dict[str, Any]) -> None:
            connection.execute(insert(metadata.tables[table]), list(rows))

        add("word", *({"id": i, "form": form} for i, form in enumerate(WORDS) if i > 3))
        add("tag", *({"id": i, "name": name} for i, name in enumerate(TAGS) if i > 1))
        add("corpus", {"id": 1, "name": "demo", "kind": "corpus", "licence": "CC0", "lowercase": True,
                       "max_order": 5, "tags": "xpos", "function_heads": False, "created_at": NOW})  # fmt: skip
        add("source", {"id": 1, "corpus_id": 1, "path": "demo.conllu", "sha256": "0", "format": "conllu",
                       "reader_version": "1", "sentences": 2, "tokens": 8, "rejected": 1, "cyclic": 0,
                       "empty_nodes": 0, "ingested_at": NOW})  # fmt: skip
        add("rejection", {"corpus_id": 1, "path": "demo.conllu", "line": 9, "sent_id": "s3",
                          "check_name": "head-cycle", "message": "a cycle", "rejected_at": NOW})  # fmt: skip
        add(
            "document",
            {"id": 1, "corpus_id": 1, "source_id": 1, "name": "d", "first_sentence": 1, "sentences": 2},
        )
        for number, tokens in SENTENCES.items():
            add("sentence", {"id": number, "corpus_id": 1, "document_id": 1, "sent_id": f"s{number}",
                             "length": len(tokens), "first_token": 10 * number, "line": number, "text": None,
                             "metadata": None})  # fmt: skip
            add("token", *(
                {"corpus_id": 1, "sentence_id": number, "position": position, "word_id": WORDS.index(form),
                 "lemma_id": None, "upos_id": None, "xpos_id": TAGS.index(tag), "feats_id": None, "head": head,
                 "deprel_id": TAGS.index(deprel), "np": None, "unit_head": None, "space_after": None}
                for position, (form, tag, head, deprel) in enumerate(tokens, 1)
            ))  # fmt: skip
            add(
                "segment",
                {"id": number, "corpus_id": 1, "sentences": 1, "tokens": len(tokens), "created_at": NOW},
            )
            framed = [1, *(WORDS.index(token[0]) for token in tokens), 2]
            for order in range(1, 6):
                grams = Counter(tuple(framed[i : i + order]) for i in range(len(framed) - order + 1))
                add(f"ngram_{order}", *(
                    {"segment_id": number, "count": count} | {f"w{i}": w for i, w in enumerate(gram, 1)}
                    for gram, count in sorted(grams.items())
                ))  # fmt: skip
            count_trees(connection, number, 1, number, number)
            count_pairs(connection, number)
        # Each sentence is a segment of its own, with ten numbers for its tokens.
        raw(connection).execute(FILL.replace("corpus_id as", "token // 10 as"))


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled store that tests copy and never change."""
    path = tmp_path_factory.mktemp("template") / "template.duckdb"
    with Store(path, create=True) as store:
        fill(store)
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A filled store for one test."""
    copy = tmp_path / "store.duckdb"
    copy.write_bytes(template.read_bytes())
    return copy


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """The filled store, open for writing."""
    with Store(path, threads=1, memory_limit=2**29) as opened:
        yield opened


@pytest.fixture
def rows(store: Store) -> Rows:
    """A function that runs a query and returns its rows."""

    def run(query: str) -> list[tuple[Any, ...]]:
        with store.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]

    return run
