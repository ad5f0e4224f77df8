"""A store of ten sentences in two corpora that can be counted on paper.

=====  ========  =======  ==================================================================================
ids    corpus    doc      sentence as form/TAG/head/relation
=====  ========  =======  ==================================================================================
1-2    toy       d1       the dow jones fell . / the dow jones rose .
3-4    toy       d1       the dow fell sharply . / prices fell .
5-6    toy       d2       traders sold the stock . / the traders bought stock .
7-8    toy       d2       he said the dow fell . / she said prices rose .
9-10   other     web      The dog barks ! / Go to the stock market ?
=====  ========  =======  ==================================================================================
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from occurrences import FILL
from sqlalchemy import Connection

from sentgen.schema import Store
from sentgen.schema.store import append, raw
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_TAGS, RESERVED_WORDS
from sentgen.schema.tables.counts import MAX_ORDER

LEMMAS = {"fell": "fall", "rose": "rise", "sold": "sell", "bought": "buy", "said": "say", "prices": "price"}
LEMMAS |= {"traders": "trader", "barks": "bark", "The": "the", "Go": "go"}
#: Corpus, document, sentence.
SENTENCES = [
    ("toy", "d1", "the/DT/3/det dow/NNP/3/compound jones/NNP/4/nsubj fell/VBD/0/root ./././4/punct"),
    ("toy", "d1", "the/DT/3/det dow/NNP/3/compound jones/NNP/4/nsubj rose/VBD/0/root ./././4/punct"),
    ("toy", "d1", "the/DT/2/det dow/NNP/3/nsubj fell/VBD/0/root sharply/RB/3/advmod ./././3/punct"),
    ("toy", "d1", "prices/NNS/2/nsubj fell/VBD/0/root ./././2/punct"),
    ("toy", "d2", "traders/NNS/2/nsubj sold/VBD/0/root the/DT/4/det stock/NN/2/obj ./././2/punct"),
    ("toy", "d2", "the/DT/2/det traders/NNS/3/nsubj bought/VBD/0/root stock/NN/3/obj ./././3/punct"),
    (
        "toy",
        "d2",
        "he/PRP/2/nsubj said/VBD/0/root the/DT/4/det dow/NNP/5/nsubj fell/VBD/2/ccomp ./././2/punct",
    ),
    ("toy", "d2", "she/PRP/2/nsubj said/VBD/0/root prices/NNS/4/nsubj rose/VBD/2/ccomp ./././2/punct"),
    ("other", "web", "The/DT/2/det dog/NN/3/nsubj barks/VBZ/0/root !/./3/punct"),
    (
        "other",
        "web",
        "Go/VB/0/root to/IN/5/case the/DT/5/det stock/NN/5/compound market/NN/1/obl ?/./1/punct",
    ),
]
NOW = datetime(2026, 1, 1)


def _ids(rows: dict[str, int], name: str) -> int:
    return rows.setdefault(name, len(rows))


def parse(text: str) -> list[tuple[str, str, int, str]]:
    """Read ``form/TAG/head/relation``; the full stop is written ``./././``, other marks ``!/./``."""
    tokens = []
    for item in text.split():
        form, tag, head, relation = (
            (".", ".", *item.rsplit("/", 2)[1:]) if item[0] == "." else item.split("/")
        )
        tokens.append((form, tag, int(head), relation))
    return tokens


class Filler:
    """Builds the rows of all tables, without the code under test."""

    def __init__(self) -> None:
        self.words = {form: i for i, form in enumerate(RESERVED_WORDS)}
        self.tags = {name: i for i, name in enumerate(RESERVED_TAGS)}
        self.rows: dict[str, list[dict[str, Any]]] = {
            "token": [],
            "sentence": [],
            "document": [],
            "corpus": [],
        }
        self.ngrams: dict[int, Counter[tuple[int, ...]]] = {n: Counter() for n in range(1, MAX_ORDER + 1)}
        self.events: Counter[tuple[Any, ...]] = Counter()
        self.arguments: Counter[tuple[Any, ...]] = Counter()
        self.corpora: dict[str, int] = {}
        self.documents: dict[str, int] = {}

    def add(self, number: int, corpus: str, document: str, text: str) -> None:
        corpus_id = _ids(self.corpora, corpus)
        document_id = _ids(self.documents, document)
        tokens = parse(text)
        self.rows["sentence"].append(
            {
                "id": number,
                "corpus_id": corpus_id,
                "document_id": document_id,
                "sent_id": None if corpus == "other" else f"s{number}",
                "length": len(tokens),
                "first_token": 1 + sum(one["length"] for one in self.rows["sentence"]),
                "line": number,
            }
        )
        ids = []
        for position, (form, tag, head, relation) in enumerate(tokens, start=1):
            ids.append((_ids(self.words, form), _ids(self.tags, tag)))
            self.rows["token"].append(
                {
                    "corpus_id": corpus_id,
                    "sentence_id": number,
                    "position": position,
                    "word_id": ids[-1][0],
                    "lemma_id": _ids(self.words, LEMMAS.get(form, form)),
                    "upos_id": _ids(self.tags, {"VBD": "VERB", "NN": "NOUN"}.get(tag, "X")),
                    "xpos_id": ids[-1][1],
                    "head": head,
                    "deprel_id": _ids(self.tags, relation),
                    "space_after": False if form == "market" else None,
                }
            )
        self._count(corpus_id, ids, [head for _, _, head, _ in tokens])

    def _count(self, segment: int, ids: list[tuple[int, int]], heads: list[int]) -> None:
        wrapped = [BOS, *(word for word, _ in ids), EOS]
        for n, counter in self.ngrams.items():
            counter.update((segment, *wrapped[i : i + n]) for i in range(len(wrapped) - n + 1))
        for modifier, head in enumerate(heads, start=1):
            if head:
                direction = "left" if modifier < head else "right"
                distance = min(abs(modifier - head), 3)
                (hw, ht), (mw, mt) = ids[head - 1], ids[modifier - 1]
                for level, h, m in (
                    ("word-word", hw, mw),
                    ("tag-word", None, mw),
                    ("word-tag", hw, None),
                    ("tag-tag", None, None),
                ):
                    anchor = max(h or 0, m or 0)
                    self.events[segment, "word", anchor, level, h, ht, m, mt, direction, distance] += 1
        for place, (word, tag) in enumerate(ids, start=1):
            left = sum(1 for m, head in enumerate(heads, start=1) if head == place and m < place)
            right = sum(1 for m, head in enumerate(heads, start=1) if head == place and m > place)
            for direction, number in (("left", left), ("right", right)):
                self.arguments[segment, "word", "word", word, tag, direction, number] += 1
                self.arguments[segment, "word", "tag", None, tag, direction, number] += 1

    def write(self, connection: Connection) -> None:
        """Append everything; the counts of "toy" lie in segments 0 and 2, to see that they are added up."""
        kinds = dict(self.corpora)
        sizes = Counter(row["corpus_id"] for row in self.rows["token"])
        self.rows["corpus"] = [
            {
                "id": number,
                "name": name,
                "kind": "corpus",
                "lowercase": False,
                "max_order": 5 if name == "toy" else 2,
            }
            | {"tags": "xpos", "function_heads": False, "created_at": NOW}
            for name, number in kinds.items()
        ]
        self.rows["segment"] = [
            {"id": number, "corpus_id": number, "sentences": 8, "tokens": sizes[number], "created_at": NOW}
            for number in kinds.values()
        ] + [{"id": 2, "corpus_id": 0, "sentences": 0, "tokens": 0, "created_at": NOW}]
        self.rows["document"] = [
            {"id": number, "corpus_id": int(name == "web"), "source_id": 0, "name": name}
            | {"first_sentence": 1, "sentences": 4}
            for name, number in self.documents.items()
        ]
        self.rows["word"] = [{"id": i, "form": f} for f, i in self.words.items() if i >= len(RESERVED_WORDS)]
        self.rows["tag"] = [{"id": i, "name": f} for f, i in self.tags.items() if i >= len(RESERVED_TAGS)]
        for n, counter in self.ngrams.items():
            names = ["segment_id", *(f"w{i}" for i in range(1, n + 1)), "count"]
            self.rows[f"ngram_{n}"] = _split(counter, names)
        event = [
            "layer",
            "anchor",
            "level",
            "head_word_id",
            "head_tag_id",
            "modifier_word_id",
            "modifier_tag_id",
        ]
        self.rows["dependency_event"] = _split(
            self.events, ["segment_id", *event, "direction", "distance", "count"]
        )
        argument = ["segment_id", "layer", "level", "word_id", "tag_id", "direction", "arguments", "count"]
        self.rows["argument_count"] = _split(self.arguments, argument)
        for table, rows in self.rows.items():
            append(connection, table, pa.Table.from_pylist(rows))
        raw(connection).execute(FILL)


def _split(counter: Counter[tuple[Any, ...]], names: list[str]) -> list[dict[str, Any]]:
    """Return the rows of a counter; counts of segment 0 above 1 leave one occurrence to segment 2."""
    rows = []
    for key, count in counter.items():
        shared = int(key[0] == 0 and count > 1)
        rows.append(dict(zip(names, (*key, count - shared), strict=True)))
        if shared:
            rows.append(dict(zip(names, (2, *key[1:], 1), strict=True)))
    return rows


def fill(path: Path) -> Path:
    """Write the store."""
    filler = Filler()
    for number, (corpus, document, text) in enumerate(SENTENCES, start=1):
        filler.add(number, corpus, document, text)
    with Store(path, create=True) as store, store.begin() as connection:
        filler.write(connection)
    return path
