"""Small treebanks with metadata of documents and of sentences, and the same as rows in Python."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store

WORDS = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "old": "ADJ", "sees": "VERB", "runs": "VERB"}
GENRES = ("news", "fiction", "fine print", None)
#: Numbers in several spellings, and what is none.
YEARS = ("1999", "2010", "2010.0", "n.d.", "nan", None)
SPEAKERS = ("Ann", "Bob", "12", None)


@dataclass(frozen=True)
class Sentence:
    """A sentence, with what is said of it and of its document."""

    corpus: str
    document: str
    sent_id: str
    of_document: dict[str, str]
    of_sentence: dict[str, str]
    tokens: list[tuple[str, str, int]] = field(default_factory=list)

    def value(self, key: str) -> str | None:
        """Return the value under a key: of the sentence, else of its document."""
        return self.of_sentence.get(key, self.of_document.get(key))


def sentences(seed: int = 1) -> list[Sentence]:
    """Draw the sentences of two corpora."""
    draw, found = random.Random(seed), list[Sentence]()
    for corpus, documents in (("first", 14), ("second", 8)):
        for number in range(documents):
            of_document = _given(genre=draw.choice(GENRES), year=draw.choice(YEARS))
            for place in range(draw.randint(1, 6)):
                # Said of the sentence, too: what is said of its document does not count then.
                own = draw.choice(("speech", None, None))
                of_sentence = _given(speaker=draw.choice(SPEAKERS), genre=own)
                document = f"{corpus}-{number}"
                found.append(
                    Sentence(corpus, document, f"{document}.{place}", of_document, of_sentence, _tokens(draw))
                )
    return found


def _given(**values: str | None) -> dict[str, str]:
    return {key: value for key, value in values.items() if value is not None}


def _tokens(draw: random.Random) -> list[tuple[str, str, int]]:
    size = draw.randint(1, 7)
    root = draw.randint(1, size)
    forms = draw.choices(list(WORDS), k=size)
    return [(form, WORDS[form], 0 if n == root else root) for n, form in enumerate(forms, 1)]


def store_of(path: Path, rows: Iterable[Sentence]) -> Path:
    """Ingest sentences, each corpus from a file of its name."""
    by_corpus: dict[str, list[Sentence]] = {}
    for row in rows:
        by_corpus.setdefault(row.corpus, []).append(row)
    with Store(path, create=True) as store:
        for corpus, among in by_corpus.items():
            text = path.parent / f"{path.stem}-{corpus}.conllu"
            text.write_text(conllu(among))
            ingest(store, [str(text)], Settings(corpus))
    return path


def conllu(rows: Iterable[Sentence]) -> str:
    """Write sentences as CoNLL-U."""
    lines, document = list[str](), ""
    for row in rows:
        if row.document != document:
            document = row.document
            lines.append(f"# newdoc id = {document}")
            lines += [f"# meta::{key} = {value}" for key, value in row.of_document.items()]
        lines.append(f"# sent_id = {row.sent_id}")
        lines += [f"# {key} = {value}" for key, value in row.of_sentence.items()]
        for n, (form, tag, head) in enumerate(row.tokens, 1):
            relation = "root" if not head else {"DET": "det", "ADJ": "amod"}.get(tag, "dep")
            lines.append(f"{n}\t{form}\t{form}\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"
