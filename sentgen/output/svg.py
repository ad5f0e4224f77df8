"""Elements of a drawing in SVG: what a corpus says in them is text, never markup."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

#: Characters that XML cannot hold, and those that change the direction of the text around them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def element(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; a text in it is escaped, another element is not.

    Args:
        name: such as `path`.
        content: texts and elements.
        attributes: by their names, with `_` for `-`, and behind a word of Python; lengths have one decimal,
            and ``None`` is no attribute.

    >>> print(element("a", element("text", "<b> & c", x=1.25), class_="word", text_anchor="end", href=None))
    <a class="word" text-anchor="end"><text x="1.2">&lt;b&gt; &amp; c</text></a>
    """
    named = "".join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(one if isinstance(one, Markup) else printed(one) for one in content)
    return Markup(f"<{name}{named}>{inside}</{name}>" if content else f"<{name}{named}/>")


def length(value: float) -> str:
    """Return a length with at most one decimal.

    >>> length(2.25), length(3.0)
    ('2.2', '3')
    """
    return f"{value:.1f}".removesuffix(".0")


def printed(text: str) -> Markup:
    """Return a text, with a sign in place of what cannot be shown."""
    return escape(_UNPRINTABLE.sub("\ufffd", text))


def _value(value: object) -> Markup:
    return printed(length(value) if isinstance(value, float) else str(value))
