"""The worked examples of Wan et al. 2005, and small clusters; used by the tests of generation from clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store

#: A sentence as words with the places of their heads, from 1; 0 is the root.
Parsed = Sequence[tuple[str, int]]

#: The companion's strings (section 4.1), over one tree: a governs b and c, b governs d and e.
LETTERS: list[Parsed] = [
    [("d", 2), ("b", 4), ("e", 2), ("a", 0), ("c", 4)],
    [("b", 5), ("e", 1), ("d", 1), ("c", 5), ("a", 0)],
]
#: The companion's figure 1, as Connexor parses: a preposition modifies the verb, its noun the preposition.
FOX: list[Parsed] = [
    [
        ("the", 4),
        ("quick", 4),
        ("brown", 4),
        ("fox", 5),
        ("jumps", 0),
        ("over", 5),
        ("the", 9),
        ("lazy", 9),
        ("dog", 6),
    ]
]
#: The paper's two sentences (section 3.1), in the same way.
RELIEF: list[Parsed] = [
    [
        ("The", 3),
        ("relief", 3),
        ("workers", 4),
        ("distributed", 0),
        ("food", 4),
        ("to", 4),
        ("the", 8),
        ("hungry", 6),
    ],
    [
        ("The", 3),
        ("UN", 3),
        ("workers", 4),
        ("requested", 0),
        ("medicine", 4),
        ("and", 5),
        ("blankets", 5),
    ],
]


def conllu(clusters: dict[str, list[Parsed]]) -> str:
    """Return clusters as CoNLL-U, a document each."""
    lines = []
    for name, sentences in clusters.items():
        lines.append(f"# newdoc id = {name}")
        for sentence in sentences:
            for place, (form, head) in enumerate(sentence, 1):
                upos = "PUNCT" if not form.isalnum() else "X"
                deprel = "dep" if head else "root"
                lines.append(f"{place}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_")
            lines.append("")
    return "\n".join(lines) + "\n"


def fill(store: Store, folder: Path, clusters: dict[str, list[Parsed]], corpus: str = "clusters") -> None:
    """Ingest clusters into a store."""
    path = folder / f"{corpus}.conllu"
    path.write_text(conllu(clusters))
    ingest(store, [str(path)], Settings(corpus, kind="cluster"))
