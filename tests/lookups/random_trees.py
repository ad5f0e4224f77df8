"""A store of small random trees, with all annotation that a request can use."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
from grew_oracle import ANCHOR, Tree

from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store
from sentgen.schema.store import append

SENTENCES, LONGEST = 60, 6
LABELS = ("r", "s", "s:t", "s:t@d", "r@d")
LEMMAS = ("a", "B", "ab")
UPOS = ("A", "B")


def make(folder: Path) -> tuple[Path, list[Tree]]:
    """Write the store; return its path, and the same trees as lists."""
    draw = random.Random(1)
    sentences = [_sentence(draw) for _ in range(SENTENCES)]
    path, text = folder / "random.duckdb", folder / "random.conllu"
    text.write_text("".join(f"# sent_id = s{n}\n{one['conllu']}\n" for n, one in enumerate(sentences, 1)))
    with Store(path, create=True) as store:
        ingest(store, [str(text)], Settings("random", order=1))
        with store.begin() as connection:
            tags = dict(connection.exec_driver_sql("select name, id from tag").fetchall())
            for table in ("token_misc", "enhanced_edge", "sentence_meta"):
                rows = [
                    {"corpus_id": 1, "sentence_id": number, **row}
                    for number, one in enumerate(sentences, 1)
                    for row in one[table]
                ]
                for row in rows:
                    if "deprel" in row:
                        row["deprel_id"] = tags[row.pop("deprel")]
                append(connection, table, pa.Table.from_pylist(rows))
    return path, [_tree(one, f"s{number}") for number, one in enumerate(sentences, 1)]


def _sentence(draw: random.Random) -> dict[str, Any]:
    """Draw a sentence: its lines of CoNLL-U, and the rows that are inserted without a reader."""
    size = draw.randint(1, LONGEST)
    order = draw.sample(range(1, size + 1), size)
    heads = {place: draw.choice([0, *order[:n]]) if n else 0 for n, place in enumerate(order)}
    # Only one token is the root, as CoNLL-U demands.
    heads |= {place: order[0] for place in order[1:] if not heads[place]}
    tokens = {
        place: {
            "form": draw.choice("aAbx") + draw.choice(("", "b")),
            "lemma": draw.choice(LEMMAS),
            "upos": draw.choice(UPOS),
            "Num": draw.choice(("S", "P", "")),
            "Gloss": draw.choice(("x", "y", "")),
            "label": draw.choice(LABELS) if heads[place] else "root",
        }
        for place in heads
    }
    lines, misc, enhanced = [], [], []
    for place, one in sorted(tokens.items()):
        feats = f"Num={one['Num']}" if one["Num"] else "_"
        lines.append(
            f"{place}\t{one['form']}\t{one['lemma']}\t{one['upos']}\t_\t{feats}\t{heads[place]}\t{one['label']}\t_\t_\n"
        )
        if one["Gloss"]:
            misc.append({"position": place, "misc": f"Gloss={one['Gloss']}|Rest=z"})
        for number, head in enumerate(draw.sample(range(size + 1), draw.randint(0, 2)), 1):
            label = draw.choice(("r", "s:t", *([one["label"]] if one["label"] != "root" else [])))
            enhanced.append(
                {
                    "position": place,
                    "minor": 0,
                    "place": number,
                    "head": head,
                    "head_minor": 0,
                    "deprel": label,
                }
            )
    genre = [{"key": "genre", "value": draw.choice(("news", "web"))}] if draw.random() < 0.7 else []
    return {
        "conllu": "".join(lines),
        "heads": heads,
        "tokens": tokens,
        "token_misc": misc,
        "enhanced_edge": enhanced,
        "sentence_meta": genre,
    }


def _tree(one: dict[str, Any], name: str) -> Tree:
    features: list[dict[str, str]] = [dict(ANCHOR)]
    for _, token in sorted(one["tokens"].items()):
        known = {key: token[key] for key in ("form", "lemma", "upos", "Num", "Gloss") if token[key]}
        features.append({**known, "wordform": token["form"], "textform": token["form"]})
    text = " ".join(each["form"] for each in features[1:])
    return Tree(
        features,
        one["heads"],
        {place: token["label"] for place, token in one["tokens"].items()},
        frozenset((edge["head"], edge["deprel"], edge["position"]) for edge in one["enhanced_edge"]),
        {"sent_id": name, "text": text, **{row["key"]: row["value"] for row in one["sentence_meta"]}},
    )
