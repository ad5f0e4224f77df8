"""An alignment as HTML: two panes whose linked words light up together, a matrix, and a table.

`fragment` is the part for a page of somebody else, who gives it `style()` and `script()`; `page` stands
alone: it loads nothing, and its policy lets only its own script run. Every text is escaped, and no attribute
holds style, so that both keep to a strict policy.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib import resources

from markupsafe import Markup

import sentgen
from sentgen.alignment.alignment import Weighed
from sentgen.alignment.states.word_states import State
from sentgen.alignment.view.matrix import matrix
from sentgen.alignment.view.panes import Panes
from sentgen.alignment.view.phrases import NAMED, phrases, said
from sentgen.alignment.view.reasons import made_of, reasons, weighed_by
from sentgen.alignment.view.view import PairView
from sentgen.output.templates import template
from sentgen.output.wording import quantity

#: What each state says of a word, for the legend; the worst first, as a reader looks for it.
_MEANINGS: Mapping[State, str] = {
    "changed": "the document says otherwise in its place",
    "new": "comes from nothing in the document",
    "related": "linked, but another word",
    "variant": "inflected, spelled otherwise, derived, or a synonym",
    "same": "the same word",
}


def style() -> str:
    """Return the style sheet of a fragment."""
    return _file("alignment.css")


def notebook_style() -> str:
    """Return it for a notebook, which is light or dark whatever the system of the reader is."""
    light, dark = re.findall(r"\.alignment \{([^}]*--ground[^}]*)\}", style())
    return "".join(
        [
            style(),
            f'[data-jp-theme-light="true"] .alignment, .vscode-light .alignment {{{light}}}\n',
            f'[data-jp-theme-light="false"] .alignment, .vscode-dark .alignment {{{dark}}}\n',
        ]
    )


def script() -> str:
    """Return the script of a fragment; a page needs it once, after the last fragment."""
    return _file("alignment.js")


def fragment(view: PairView, *, prefix: str = "", explain: bool = False) -> str:
    """Return an element of the class ``alignment``.

    Args:
        view: what is shown; its reasons are, too, if the alignment has them.
        prefix: tells the ids of several on a page apart.
        explain: whether to say so if it has none.
    """
    weighed = view.alignment.weighed
    return template("sentgen.alignment.view", "alignment.html.j2").render(
        view=view,
        prefix=prefix,
        panes=Panes(view, prefix),
        explain=explain,
        **({"reasons": None} if weighed is None else _reasons(view, weighed)),
        figures=figures(view),
        legend=[(state, view.count(state), meaning) for state, meaning in _MEANINGS.items()],
        rows=list(phrases(view)),
        said=said,
        named=NAMED,
        abstract=list(view.sentences("abstract")),
        document=list(view.sentences("document")),
        matrix=Markup(matrix(view)),
        posteriors=any(block.posterior is not None for block in view.blocks),
    )


def page(view: PairView, *, title: str, model: str, explain: bool = False) -> str:
    """Return a page that stands alone.

    Args:
        view: what is shown.
        title: name of the pair.
        model: what aligned it.
        explain: whether to say so if there are no reasons.
    """
    # The policy of the page lets only this script run.
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return template("sentgen.alignment.view", "page.html.j2").render(
        title=title,
        model=model,
        version=sentgen.__version__,
        style=Markup(style()),
        script=Markup(script()),
        script_hash=Markup(f"sha256-{digest}"),
        fragment=Markup(fragment(view, explain=explain)),
    )


def _reasons(view: PairView, weighed: Weighed) -> dict[str, object]:
    """Return what the page says of reasons."""
    found = reasons(view)
    linked = {one.abstract for one in found if one.chosen}
    changed, new = view.count("changed"), view.count("new")
    # A best path has no threshold: the slider begins where links are likelier than not.
    start = 0.5 if weighed.threshold is None else weighed.threshold
    chosen = f"{quantity(sum(one.chosen for one in found), 'link')}, from the threshold {start:.2f} on"
    if weighed.threshold is None:
        chosen = f"{quantity(len(view.alignment.phrases), 'phrase')}, the best path"
    words = len(view.pair.abstract)
    return {
        "reasons": found,
        "weighed": weighed,
        "linked": linked,
        "start": start,
        "counts": f"{chosen}; {changed:,} of {quantity(words, 'word')} changed, {new:,} new",
        "tuned": any(link.weights for link in weighed.links),
        "made_of": made_of,
        "weighed_by": weighed_by,
        "down": _down,
    }


def _down(posterior: float) -> float:
    """Return a posterior with fewer digits: cut, so that it reaches the same thresholds as before."""
    return int(posterior * 1e6) / 1e6


def figures(view: PairView) -> list[tuple[str, str]]:
    """Return the figures of a summary with what they are."""
    found = view.figures
    # Counts, no shares: one changed word of a thousand is not 0%.
    return [
        (f"{view.count('changed'):,}", f"changed of {quantity(found.words, 'word')}"),
        (f"{view.count('new'):,}", "new"),
        (f"{found.coverage:.0%}", "coverage: words in copied fragments"),
        (f"{found.density:.1f}", "density: words in the fragment of a word"),
        (f"{found.longest}", "words in the longest copied run"),
    ]


def _file(name: str) -> str:
    return resources.files("sentgen.alignment.view").joinpath(name).read_text("utf-8")
