"""A store of two parts, in which every name, word and label of a part has its mark, so that a leak shows."""

from __future__ import annotations

from pathlib import Path

import toy_pairs
from full_store import run

MARKS = ("xqa", "xqb")

_TREES = """\
# newdoc id = {m}doc
# meta::{m}key = {m}value
# speaker = {m}speaker
# sent_id = {m}s1
# text = {m}dog {m}sees {m}cats.
1\t{m}dog\t{m}dog\tNOUN\t{M}NN\t{M}Number=Sing\t2\tnsubj:{m}\t2:nsubj:{m}\t{M}Gloss={m}gloss
2\t{m}sees\t{m}see\tVERB\t{M}VB\t_\t0\troot\t0:root\t_
3\t{m}cats\t{m}cat\tNOUN\t{M}NN\t_\t2\tobj:{m}\t2:obj\tSpaceAfter=No
4\t.\t.\tPUNCT\t{M}PU\t_\t2\tpunct:{m}\t_\t_

# sent_id = {m}s2
# text = {m}cant {m}dog {m}sleeps
1-2\t{m}cant\t_\t_\t_\t_\t_\t_\t_\t_
1\t{m}can\t{m}can\tAUX\t{M}MD\t_\t4\taux:{m}\t_\t_
2\t{m}nt\t{m}not\tPART\t{M}RB\t_\t4\tadvmod:{m}\t_\t_
3\t{m}dog\t{m}dog\tNOUN\t{M}NN\t_\t4\tnsubj:{m}\t_\t_
4\t{m}sleeps\t{m}sleep\tVERB\t{M}VB\t_\t0\troot\t_\t_

# sent_id = {m}s3
1\t{m}bad\t_\t_\t_\t_\t9\t_\t_\t_

"""


def make(folder: Path) -> Path:
    """Make the store in a folder."""
    path = folder / "marked.duckdb"
    at = ("--db", path)
    for mark in MARKS:
        (trees := folder / f"{mark}trees.conllu").write_text(_TREES.format(m=mark, M=mark.capitalize()))
        (text := folder / f"{mark}text.txt").write_text(f"{mark}dog barks. A {mark}bird sang.\n")
        marked = [
            tuple(" ".join(f"{mark}{word}" for word in each.split()) for each in pair)
            for pair in toy_pairs.PAIRS
        ]
        pairs = toy_pairs.write_jsonl(folder / f"{mark}pairs.jsonl", marked)
        run(
            "ingest",
            trees,
            "--corpus",
            f"{mark}trees",
            "--on-error",
            "skip",
            "--licence",
            f"{mark}licence",
            *at,
        )
        run("ingest", text, "--corpus", f"{mark}text", *at)
        run("pairs", "ingest", pairs, "--corpus", f"{mark}pairs", *at)
        run("models", "build", f"{mark}model", "--corpus", f"{mark}trees", "--order", 2, *at)
        run("models", "apply", f"{mark}model", "--corpus", f"{mark}trees", *at)
        run(
            "vectors",
            "build",
            f"{mark}space",
            "--corpus",
            f"{mark}trees",
            "--dimensions",
            2,
            "--min-count",
            1,
            *at,
        )
        run("subcorpora", "define", f"{mark}sub", "--where", "length < 6", "--corpus", f"{mark}trees", *at)
        run("align", "train", "--pairs", f"{mark}pairs", "--model", f"{mark}aligner", "--iterations", 1, *at)
        run("align", "apply", "--pairs", f"{mark}pairs", "--model", f"{mark}aligner", *at)
        run("saved", "add", f"{mark}saved", *at, "--", "kwic", f"{mark}dog", "--corpus", f"{mark}trees")
    both = [option for mark in MARKS for option in ("--corpus", f"{mark}trees")]
    run("models", "build", "xqaxqbmodel", *both, "--order", 2, *at)
    run("saved", "add", "xqaxqbsaved", *at, "--", "kwic", "xqadog|xqbdog")
    return path
