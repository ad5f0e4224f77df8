"""QR codes of addresses: as SVG on pages, and of characters on a terminal."""

from __future__ import annotations

import io

#: Modules of white around a code.
_BORDER = 2
_WHITE_ON_BLACK, _AS_BEFORE = "\x1b[97;40m", "\x1b[0m"


def drawn_as_svg(address: str) -> str:
    """Return the picture of an address; black on white on any paper, as cameras want it."""
    import segno  # where a code is drawn: only servers have it

    return segno.make(address, micro=False).svg_inline(
        omitsize=True, border=_BORDER, dark="#000", light="#fff", svgclass="code", lineclass=None
    )


def drawn_as_text(address: str) -> str:
    """Return the picture of an address in block characters, white on black whatever colors a terminal has."""
    import segno

    drawn = io.StringIO()
    segno.make(address, micro=False).terminal(drawn, border=_BORDER, compact=True)
    # Light squares are drawn: black on white they would be the dark ones, which not all cameras read.
    return "".join(f"{_WHITE_ON_BLACK}{line}{_AS_BEFORE}\n" for line in drawn.getvalue().splitlines())
