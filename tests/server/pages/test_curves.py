"""Curves of surprisal over a document: where their points are, and what they say."""

from __future__ import annotations

import pytest
from serving import Server

from sentgen.server.pages.drawings import curves


def rows(model: str, *bits: float) -> list[dict[str, object]]:
    return [
        {"model": model, "sentence": f"s{number}", "tokens": 2, "bits": one}
        for number, one in enumerate(bits)
    ]


def test_a_point_for_each_sentence() -> None:
    """As high as its bits a token; each model has a curve, each point leads to its sentence."""
    first, second = curves([*rows("a@1", 2, 8, 4), *rows("b@1", 30)], lambda sentence: f"/{sentence}")

    assert (first.model, first.sentences, first.each, first.mean) == ("a@1", 3, 1, pytest.approx(14 / 6))
    heights = [one.y for one in first.points]
    (top, most), (bottom, least) = first.ticks[-1], first.ticks[0]
    assert (least, most) == (0, 4)
    # 1, 4 and 2 bits between 0 and 4.
    assert heights == pytest.approx([bottom - (bottom - top) * bits / 4 for bits in (1, 4, 2)])
    assert [one.link for one in first.points] == ["/s0", "/s1", "/s2"]
    assert first.points[1].title == "s1: 4.00 bits a token"
    assert first.line.count(",") == 3
    assert second.model == "b@1"
    assert [bits for _, bits in second.ticks] == [0, 5, 10, 15]


def test_many_sentences_share_points() -> None:
    """And few bits, none at all, stay within the drawing."""
    (curve,) = curves(rows("a@1", *range(1000)), str)
    (flat,) = curves(rows("a@1", 0.0), str)

    assert curve.each * len(curve.points) >= 1000 > curve.each * (len(curve.points) - 1)
    assert curve.points[0].title.startswith("s0 to s8: 2.00 bits")
    assert all(
        0 <= one.x <= curve.width and 0 <= one.y <= curve.height for one in (*curve.points, *flat.points)
    )
    assert curves([], str) == []


def test_on_the_page_of_a_document(site: Server) -> None:
    """Of a document that a model was applied to."""
    from httpx import get

    at = f"{site.address}/corpus"
    shown = get(at, params={"name": "relief", "document": "relief-003"}, timeout=60).text
    listed = get(at, params={"name": "relief"}, timeout=60).text

    assert shown.count('<figure class="curve">') == 1
    assert "Surprisal by <bdi>relief@1</bdi>, bits a token in each sentence: 4 sentences, mean" in shown
    assert "curve" not in listed
