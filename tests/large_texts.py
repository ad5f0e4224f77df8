"""Sources so large that DuckDB writes their rows in advance: more than a row group of 122,880 for a table."""

from __future__ import annotations

import json
import random
from pathlib import Path

#: Rows that DuckDB keeps together; a transaction that adds so many to a table writes them before its commit.
ROW_GROUP = 122_880
_TAGS = ("NOUN", "VERB", "ADJ", "DET")


def write_treebank(path: Path, sentences: int, *, length: int = 13, seed: int = 1) -> Path:
    """Write sentences of random words with random trees: almost every n-gram and event is another one."""
    rng = random.Random(seed)
    with path.open("w") as file:
        for _ in range(sentences):
            for position in range(1, length + 1):
                word, tag = f"w{rng.randrange(30_000)}", rng.choice(_TAGS)
                head, relation = (rng.randrange(1, position), "dep") if position > 1 else (0, "root")
                file.write(f"{position}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n")
            file.write("\n")
    return path


def write_lines(path: Path, sentences: int, *, length: int = 13, seed: int = 1) -> Path:
    """Write sentences of random words, one a line."""
    rng = random.Random(seed)
    with path.open("w") as file:
        for _ in range(sentences):
            file.write(" ".join(f"w{rng.randrange(30_000)}" for _ in range(length)) + "\n")
    return path


def write_pairs(path: Path, pairs: int, *, words: int, seed: int = 1) -> Path:
    """Write pairs whose abstract is the second tenth of the document."""
    rng = random.Random(seed)
    with path.open("w") as file:
        for number in range(pairs):
            text = [f"w{rng.randrange(2_000)}" for _ in range(words)]
            abstract = text[words // 10 : words // 5]
            row = {"id": f"p{number}", "document": " ".join(text), "abstract": " ".join(abstract)}
            file.write(json.dumps(row) + "\n")
    return path
