"""Pages from templates, which are in the folders of the code that fills them in.

As values come from corpora and users, every value is escaped; a missing value is an error.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sentgen.output.wording import are, quantity


@cache
def environment(package: str, folder: str = ".") -> Environment:
    """Return the environment for the templates of a package, or of a folder in it.

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
