"""What may be meant in place of what there is not: the same page with that, as links."""

from __future__ import annotations

import re
from typing import NamedTuple

from sentgen.output.wording import near
from sentgen.server.pages.page import PageAnswer, PageParameters
from sentgen.server.pages.texts import link

#: What messages say of a name that there is not, after it in quotes.
_NAMED = re.compile(
    r"'(?P<value>[^']+)'.*?(?:did you mean|there are:?|the store has:) (?P<meant>.+?)(?:\?|$| and \d)"
)
_BETWEEN = re.compile(r", | or ")
_MOST = 10
#: What is no name, but an option that finds more.
_IGNORE_CASE = "--ignore-case"
#: Which rows of the answer are shown is not kept for another one.
_OF_ANSWER = ("offset", "counts_offset", "open")


class MeantLink(NamedTuple):
    """What may be meant, and the page with it."""

    name: str
    link: str


def meant(path: str, query: PageParameters, answer: PageAnswer) -> list[list[MeantLink]]:
    """Return the links to what may be meant, a list for each value that never occurs.

    >>> from starlette.datastructures import QueryParams
    >>> asked = PageParameters(QueryParams("word=the campp&corpus=a"))
    >>> meant("/word", asked, PageAnswer(more={"near": {"campp": ["camp"]}}))
    [[MeantLink(name='camp', link='/word?word=the+camp&corpus=a')]]
    >>> meant("/word", asked, PageAnswer(problem="no corpus 'a'; there are: x, gum"))[0][1].link
    '/word?word=the+campp&corpus=gum'
    """
    listed = dict(answer.more.get("near", {}))
    if found := _NAMED.search(answer.problem):
        names = _BETWEEN.split(found["meant"])
        listed[found["value"]] = near(found["value"], names) or names[:_MOST]
    links = ([_link(path, query, value, one) for one in names] for value, names in listed.items())
    return [each for some in links if (each := [one for one in some if one])]


def _link(path: str, query: PageParameters, value: str, name: str) -> MeantLink | None:
    given = query.without(*_OF_ANSWER)
    if name == _IGNORE_CASE:
        return MeantLink("ignore case", link(path, **{**given, "ignore_case": "on"}))
    # As a whole word: what is a part of another one stays.
    slip = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    there = {key: [slip.sub(lambda _: name, text) for text in texts] for key, texts in given.items()}
    return MeantLink(name, link(path, **there)) if there != given else None
