"""Curves of surprisal over a document: where their points are, and what they say."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from serving import Server

from sentgen.server.pages.drawings import SurprisalCurve, curves


def rows(model: str, *bits: float) -> list[dict[str, object]]:
    return [
        {"model": model, "sentence": f"s{number}", "tokens": 2, "bits": one}
        for number, one in enumerate(bits)
    ]


def test_a_point_for_each_sentence() -> None:
    """As high as its bits a token; each model has a curve, each point leads to its sentence."""
    first, second = curves([*rows("a@1", 2, 8, 4), *rows("b@1", 30)], lambda sentence: f"/{sentence}")

    assert (first.model, first.sentences, first.each, first.mean) == ("a@1", 3, 1, pytest.approx(14 / 6))
    root = ElementTree.fromstring(first.svg)
    heights = [float(mark.attrib["cy"]) for mark in root.iter("circle")]
    ticks = [float(mark.attrib["y1"]) for mark in root.iter("line")]
    assert _bits(first) == [0, 1, 2, 3, 4]
    # 1, 4 and 2 bits between 0 and 4.
    assert heights == pytest.approx([ticks[0] - (ticks[0] - ticks[-1]) * bits / 4 for bits in (1, 4, 2)])
    assert [link.attrib["href"] for link in root.iter("a")] == ["/s0", "/s1", "/s2"]
    assert [mark.text for mark in root.iter("title")][1] == "s1: 4.00 bits a token"
    assert [line.attrib["points"].count(",") for line in root.iter("polyline")] == [3]
    assert second.model == "b@1"
    assert _bits(second) == [0, 5, 10, 15]


def _bits(curve: SurprisalCurve) -> list[int]:
    """Return what stands beside the heights of a curve."""
    texts = [mark.text or "" for mark in ElementTree.fromstring(curve.svg).iter("text")]
    return [int(text) for text in texts if text.isdigit()]


def test_many_sentences_share_points() -> None:
    """And few bits, none at all, stay within the drawing."""
    (curve,) = curves(rows("a@1", *range(1000)), str)
    (flat,) = curves(rows("a@1", 0.0), str)

    roots = [ElementTree.fromstring(one.svg) for one in (curve, flat)]
    titles = [mark.text or "" for mark in roots[0].iter("title")]
    assert curve.each * len(titles) >= 1000 > curve.each * (len(titles) - 1)
    assert titles[0].startswith("s0 to s8: 2.00 bits")
    for root in roots:
        _, _, width, height = map(int, root.attrib["viewBox"].split())
        places = [(float(mark.attrib["cx"]), float(mark.attrib["cy"])) for mark in root.iter("circle")]
        assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
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
