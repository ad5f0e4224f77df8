"""Colors of the states on a page: they can be read, and told apart by people who see no red or no green."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from sentgen.alignment.view.html import style
from sentgen.arrays import Floats

#: What is seen of linear red, green and blue: Machado et al. 2009, table 1, severity 1.0.
SEEN = {
    "all colors": np.eye(3),
    "no red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
#: Linear sRGB to CIE XYZ, and its white.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color: str) -> Floats:
    """Return a color of the style sheet as linear red, green and blue."""
    digits = color if len(color) == 6 else "".join(2 * digit for digit in color)
    parts = np.array([int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    darker, lighter = sorted(float(XYZ[1] @ linear(color)) for color in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def lab(color: str, seen: Floats) -> Floats:
    """Return a color in CIE L*a*b* as it is seen."""
    x, y, z = np.cbrt(XYZ @ np.clip(seen @ linear(color), 0, 1) / XYZ.sum(1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_states_can_be_read_and_told_apart(scheme: int) -> None:
    """Text of changed and new words 4.5 on all grounds, lines 3; any two states, and plain text, 19 apart.

    What is nearest: light 21.5 (new and related without green), dark 19.7 (text and variant without red).
    """
    sheet = re.findall(r"\.alignment \{([^}]*--ground[^}]*)\}", style())[scheme]
    of = dict(re.findall(r"--([\w]+): #([0-9a-f]+);", sheet))
    of["c_"] = of["ground"] if len(of["ground"]) == 6 else of["ground"] * 2
    grounds = [of[f"c{k}"] for k in range(6)] + [of["ground"]]

    shade = "".join(
        f"{round(0.17 * int(of['new'][k : k + 2], 16) + 0.83 * int(of['c_'][k : k + 2], 16)):02x}"
        for k in (0, 2, 4)
    )

    # Their element has no color of a block below it; new words that are likely so have the darkest shade.
    assert contrast(of["new"], shade) >= 4.5
    assert min(contrast(of[state], of["ground"]) for state in ("changed", "new", "ink")) >= 4.5
    assert min(contrast(of["ink"], ground) for ground in grounds) >= 4.5
    assert min(contrast(of[line], ground) for line in ("related", "variant") for ground in grounds) >= 3
    for seen in SEEN.values():
        places = [lab(of[name], seen) for name in ("ink", "variant", "related", "changed", "new")]
        assert min(float(np.linalg.norm(one - other)) for one, other in combinations(places, 2)) > 19


def test_no_state_is_told_by_color_alone() -> None:
    """Each state has a line or a frame of its own, which shows without colors, too."""
    rules = dict(
        re.findall(r"^\.alignment \.(changed|new|related|variant) \{([^}]*)\}", style(), re.MULTILINE)
    )
    lines = {
        state: re.search(r"(wavy|dashed|dotted|border: [\d.]+px solid)", rule)
        for state, rule in rules.items()
    }

    assert set(lines) == {"changed", "new", "related", "variant"}
    assert len({found[0] for found in lines.values() if found}) == 4
    assert 'content: "≠"' in style()
