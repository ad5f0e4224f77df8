"""A corpus that attacks pages: its names, words and labels are markup, templates, other directions, long."""

from __future__ import annotations

HOSTILE = '<script>alert("corpus")</script>'
LICENCE = "<img src=x onerror=alert('licence')>"
SUBCORPUS = "<img src=x onerror=alert(2)>&part"
MODEL = "<b onclick=alert(1)>&model"
VECTORS = "<b onclick=alert(3)>&vectors"
DOCUMENT = '<i>"document'
LONG = "x" * 4096
SENTENCES = (
    ("<script>alert(1)</script>", "said", '"><img', "src=x", "onerror=alert(1)>", "'quoted'", "."),
    ("مرحبا", "said", "\u202eevil", "camp", "{{7*7}}", "{%raw%}", "a/b", "5*", "."),
    ("He", "said", LONG, "word:x", "?", "\\", "</style>", "."),
)
TAG, RELATION = "NN<u>", "dep:<b>"


def name(sentence: int) -> str:
    """The name of a sentence, counted from 0."""
    return f'<b>"{sentence}'


def conllu() -> str:
    """The corpus; the second word of each sentence governs all others."""
    lines = [f"# newdoc id = {DOCUMENT}"]
    for number, words in enumerate(SENTENCES):
        lines.append(f"# sent_id = {name(number)}")
        for place, word in enumerate(words, 1):
            head, relation = (0, "root") if place == 2 else (2, RELATION)
            lines.append(f"{place}\t{word}\t{word}\tNOUN\t{TAG}\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join([*lines, ""])
