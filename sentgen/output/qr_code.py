"""QR codes of addresses: as SVG on pages, and of characters on a terminal."""

from __future__ import annotations

import io

#: Modules of white around a code.
_BORDER = 2


def drawn_as_svg(address: str) -> str:
    """Return the picture of an address; black on white on any paper, as cameras want it."""
    import segno  # where a code is drawn: only servers have it

    return segno.make(address, micro=False).svg_inline(
        omitsize=True, border=_BORDER, dark="#000", light="#fff", svgclass="code", lineclass=None
    )


def drawn_as_text(address: str) -> str:
    """Return the picture of an address in block characters; cameras read it on black, too."""
    import segno

    drawn = io.StringIO()
    segno.make(address, micro=False).terminal(drawn, border=_BORDER, compact=True)
    return drawn.getvalue()
