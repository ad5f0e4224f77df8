"""Sums over regions of stored texts, against sums over their tokens."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from meta_treebank import Sentence, sentences, store_of

from sentgen.errors import InputError, NotFoundError
from sentgen.models import build
from sentgen.models.base import registry
from sentgen.models.request import ScoreRequest
from sentgen.models.scored_text import ScoredText
from sentgen.models.stored_text import StoredText
from sentgen.schema import Store
from sentgen.schema.store import raw

ROWS = sentences()
Token = tuple[int, int]


@dataclass(frozen=True)
class Region:
    """A region by its tokens, each as number of the sentence and position."""

    kind: str
    place: int
    attributes: dict[str, str]
    tokens: list[Token]


def drawn() -> list[Region]:
    """Draw nested and overlapping regions in every document, which begin and end within sentences."""
    draw, found, begin = random.Random(3), list[Region](), Counter[int]()
    documents: dict[str, list[Token]] = defaultdict(list)
    for number, one in enumerate(ROWS):
        documents[one.document] += [(number, position) for position in range(1, len(one.tokens) + 1)]
    for tokens in documents.values():
        for _ in range(4):
            first = draw.randrange(len(tokens))
            inside = tokens[first : first + draw.choice((1, 2, 5, 99))]
            begin[inside[0][0]] += 1
            told = {key: draw.choice("ab") for key in "yx" if draw.random() < 0.5}
            found.append(Region(draw.choice(("p", "list-item")), begin[inside[0][0]], told, inside))
    return found


REGIONS = drawn()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a model of the first corpus, and the regions; sentences are numbered in order."""
    with Store(store_of(tmp_path_factory.mktemp("regions") / "s.duckdb", ROWS)) as made:
        build(made, "m", ["first"], order=3)
        with made.begin() as connection:
            duck = raw(connection)
            for table in ("region", "region_meta"):  # of speakers
                duck.execute(f"delete from {table}")
            known = duck.execute("select id, corpus_id from sentence order by id").fetchall()
            for one in REGIONS:
                (first, start), (last, end) = one.tokens[0], one.tokens[-1]
                key = [known[first][1], known[first][0], one.place]
                row = [*key, one.kind, start, known[last][0], end]
                duck.execute("insert into region values (?, ?, ?, ?, ?, ?, ?)", row)
                for told in one.attributes.items():
                    duck.execute("insert into region_meta values (?, ?, ?, ?, ?)", [*key, *told])
        yield made


def ask(store: Store, lines: list[str] | None = None, **options: Any) -> list[dict[str, Any]]:
    found = ScoredText(store, registry.find(store, "m"), ScoreRequest(model="m", **options), lines or [])
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows()]


def expected(store: Store, kind: str, chosen: list[int]) -> list[dict[str, Any]]:
    """Sum up the tokens of each region, and the ends of sentences whose last token it has."""
    texts = [" ".join(form for form, _, _ in one.tokens) for one in ROWS]
    tokens = {(row["sentence"] - 1, row["position"]): row for row in ask(store, texts, by="token")}
    rows = []
    for one in sorted(REGIONS, key=lambda region: (region.tokens[0], region.place)):
        inside = [token for token in one.tokens if token[0] in chosen]
        if one.kind != kind or not inside:
            continue
        ends = [(number, at + 1) for number, at in inside if at == len(ROWS[number].tokens)]
        own = [tokens[token] for token in inside + ends]
        log10 = sum(row["log10"] for row in own)
        first, position = one.tokens[0]
        begin = ROWS[first]
        rows.append(
            {
                "corpus": begin.corpus,
                "document": begin.document,
                "sentence": begin.sent_id,
                "position": position,
                "attributes": ", ".join(f"{k}={v}" for k, v in sorted(one.attributes.items())) or None,
                "sentences": len({token[0] for token in inside}),
                "log10": pytest.approx(log10),
                "logp": pytest.approx(sum(row["logp"] for row in own)),
                "tokens": len(own),
                "oov": sum(row["unknown"] for row in own),
                "perplexity": pytest.approx(10 ** (-log10 / len(own))),
            }
        )
    return rows


def numbers(meets: Any) -> list[int]:
    return [number for number, one in enumerate(ROWS) if meets(one)]


@pytest.mark.parametrize("size", [30, 500_000])
def test_a_region_is_the_sum_of_its_tokens(store: Store, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A region, or its part in chosen sentences, is the sum of its tokens, with any size of blocks."""
    monkeypatch.setattr(StoredText.read.__func__, "__kwdefaults__", {"without": None, "tokens": size})

    def second(one: Sentence) -> bool:
        return one.corpus == "second"

    every = ask(store, corpus=["first", "second"], by="p")
    assert every == expected(store, "p", numbers(bool))
    assert any(row["sentences"] > 1 for row in every)
    assert ask(store, corpus=["second"], by="list_item") == expected(store, "list-item", numbers(second))
    short = numbers(lambda one: second(one) and len(one.tokens) < 4)
    assert ask(store, corpus=["second"], by="p", where="length < 4") == expected(store, "p", short)


def test_sums_of_all_are_of_all_tokens(store: Store) -> None:
    """The totals are of all tokens, in a region or not."""
    asked = ScoreRequest(model="m", corpus=["first"], by="p")
    found = ScoredText(store, registry.find(store, "m"), asked)
    assert len([*found.rows()]) < len(REGIONS)
    assert found.totals.tokens == sum(len(one.tokens) + 1 for one in ROWS if one.corpus == "first")


def test_what_is_no_region_is_refused(store: Store) -> None:
    """Regions of a text, unknown regions, and regions of sentences without any are refused."""
    with pytest.raises(
        InputError, match="a text has rows by sentence and token, not by 'p'; of what is stor"
    ):
        ScoreRequest(model="m", by="p")
    with pytest.raises(InputError, match="no rows by 'documents'; did you mean document"):
        ask(store, corpus=["first"], by="documents")
    with pytest.raises(NotFoundError, match="there is no region 'p' in these sentences"):
        ask(store, corpus=["first"], by="p", where="length < 2 and not exists p")
