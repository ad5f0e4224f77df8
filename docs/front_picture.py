"""Draw the picture of the first page: scrambled words, and the sentence that sentgen made of them.

The treebank is the one that ships with sentgen, and the sentence is not in it::

    python docs/front_picture.py
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.generation import parse_bag, regenerate
from sentgen.generation.drawing import SentenceDrawing, tree_svg
from sentgen.models import build
from sentgen.schema import Store

PICTURE = Path(__file__).parent / "img" / "front.svg"
GIVEN = "destroyed [the floods] . [The bridge] by was"

_WIDTH, _HEIGHT, _ROW = 460, 225, 64
# An image is dark where the page around it is, not where the reader's system is.
_STYLE = "<style>:root{color:#1c1d21}@media(prefers-color-scheme:dark){:root{color:#e8e8e4}}</style>"


def picture() -> str:
    """Return the picture as SVG."""
    bag = parse_bag(GIVEN)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "relief.duckdb"), create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief"))
        model = build(store, "relief", ["relief"], order=3, smoothing="kneser-ney")
        (made,) = regenerate(store, model, [bag], algorithm="ab", seed=1)
    assert made.tree is not None
    tree = tree_svg([SentenceDrawing("", made.units, made.tree)])
    body = tree[tree.index("<g ") : tree.rindex("</svg>")]
    width = float(re.findall(r'width="([\d.]+)"', tree)[0])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
            f' viewBox="0 0 {_WIDTH} {_HEIGHT}" fill="currentColor" font-family="system-ui, sans-serif"'
            ' font-size="16" text-anchor="middle">',
            f"<title>{GIVEN} becomes: {made.text}</title>",
            _STYLE,
            *_chips([" ".join(unit.words) for unit in bag]),
            f'<path d="M{_WIDTH / 2} 52v22m-6 -8l6 8l6 -8" fill="none" stroke="currentColor"/>',
            f'<g transform="translate({(_WIDTH - width) / 2:.1f} {_ROW})">',
            body.strip(),
            "</g>",
            "</svg>\n",
        ]
    )


def _chips(units: list[str]) -> list[str]:
    """Return the units as they were given, each in a box."""
    sizes = [9.0 * len(unit) + 16 for unit in units]
    at = (_WIDTH - sum(sizes) - 8 * (len(sizes) - 1)) / 2
    drawn = []
    for unit, size in zip(units, sizes, strict=True):
        drawn.append(f'<rect x="{at:.1f}" y="10" width="{size:.1f}" height="30" rx="6" fill="#3a6fb82e"/>')
        drawn.append(f'<text x="{at + size / 2:.1f}" y="30">{unit}</text>')
        at += size + 8
    return drawn


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
