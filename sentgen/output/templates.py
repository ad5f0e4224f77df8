"""Pages from templates, which lie beside the code that fills them in.

What goes into a page comes from a corpus or a user: every value is escaped, and a missing one is an error.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sentgen.output.wording import are, quantity


@cache
def environment(package: str, folder: str = ".") -> Environment:
    """Return what fills in the templates of a package, or of a folder in it.

    >>> environment("sentgen.evaluation").from_string("{{ word }}").render(word="<s>")
    '&lt;s&gt;'
    """
    made = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"quantity": quantity, "are": are}
    return made


def template(package: str, name: str) -> Template:
    """Return a template of a package."""
    return environment(package).get_template(name)
