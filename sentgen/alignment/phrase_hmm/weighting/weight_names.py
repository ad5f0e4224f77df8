"""The features of a tuned model by name: what each of its weights is of.

A link, a null word, a run of copied words and a jump have one value of each template of their kind; each
value has a weight. So a score is a sum of as many weights as there are templates.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, product
from math import prod

from sentgen.alignment.words.explanations import RELATED_BY
from sentgen.alignment.words.word_classes import CLASSES


@dataclass(frozen=True, slots=True)
class Template:
    """A feature, and the names of its values: each of the first dimension with each of the second."""

    name: str
    dimensions: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return prod(map(len, self.dimensions))

    @property
    def values(self) -> list[str]:
        """The names of the values, in the order of their numbers."""
        return [", ".join(part for part in parts if part) for parts in product(*self.dimensions)]


#: What two words have in common, the closest first, and the same more coarsely.
RELATIONS = (
    "copied content word",
    "copied function word",
    "copied mark",
    "same stem",
    "similar spelling",
    "same group of function words",
    "synonyms",
    "related words",
    "other content words",
    "other function words",
    "function and content word",
    "mark and another word",
)
GROUPS = (
    "copied content word",
    "copied function word or mark",
    "same stem or similar spelling",
    "akin words",
    "other content words",
    "other words",
)
#: The group of each relation.
GROUP_OF = (0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 5)
#: Groups whose words match.
MATCHES = 3
_CONTEXT = ("different", "akin", "match", "one text ends")
_ORDER = ("straight on", "a little off", "off", "far off", "elsewhere")
_PLACES = ("neither matches another word", "document word does", "abstract word does", "both do")
_SHAPES = (
    "no capitals",
    "capital in document",
    "capital in abstract",
    "capitals",
    "no capitals, same ending",
    "capital in document, same ending",
    "capital in abstract, same ending",
    "capitals, same ending",
    "numbers",
    "number and word",
    "not both content words",
)
#: Share of the places where two stems were linked among those where they were together, in gold links.
_SEEN = ("never linked", *(f"linked {n}" for n in ("hardly", "some times", "often", "mostly")))
_TIMES = ("once or twice", "three times or more")

LINK_TEMPLATES = (
    Template("words", (RELATIONS,)),
    Template("words to the left", (GROUPS, (*_CONTEXT, "both texts end"))),
    Template("words to the right", (GROUPS, (*_CONTEXT, "both texts end"))),
    Template("next content words", (GROUPS, _CONTEXT)),
    Template("content words before", (GROUPS, _CONTEXT)),
    Template("matches within three words", (GROUPS, ("0", "1", "2", "3 or more"))),
    Template("places of matching words", (GROUPS[:MATCHES], ("1", "2", "3", "4 or more"))),
    Template("other matches", (GROUPS[MATCHES:], _PLACES)),
    Template(
        "context beside rivals",
        (
            ("", *GROUPS[:MATCHES]),
            ("worse", "best for the document word", "best for the abstract word", "best"),
        ),
    ),
    Template("relative position", (GROUPS, _ORDER)),
    Template("class of copied or grouped word", (("neither", "copied", "grouped"), CLASSES)),
    Template("shape", (_SHAPES, ("", "akin or matching"))),
    Template("related in WordNet", (GROUPS, RELATED_BY)),
    Template("seen in gold links", (("different", "same word"), _SEEN, _TIMES)),
)
#: Content words, function words, marks.
KINDS = ("content word", "function word", "mark")
_MATCHED = ("without a match", "matched")
NULL_TEMPLATES = (
    Template("null: matching words", (CLASSES, ("0", "1", "2", "3 or more"))),
    Template(
        "null: length over that of the other text",
        (KINDS, ("up to .2", "up to .35", "up to .5", "up to .75", "up to 1", "up to 1.5", "beyond 1.5")),
    ),
    Template(
        "null: words beside",
        (KINDS, tuple(f"left {one}" for one in _MATCHED), tuple(f"right {one}" for one in _MATCHED)),
    ),
    Template("null: place", (KINDS, ("first", "within", "last"))),
    Template(
        "null: content words beside",
        (
            KINDS,
            *(tuple(f"{side} {one}" for one in (*_MATCHED, "none")) for side in ("next", "before")),
        ),
    ),
    Template("null: akin words", (KINDS, ("none", "some"), ("no capital", "capital"))),
)
RUNS = Template("words of a copied run", (("2", "3", "4", "5", "6 or more"),))
_NEAR = 6
JUMPS = Template(
    "jump",
    (
        (
            "below -32",
            "-32 to -17",
            "-16 to -7",
            *(str(d) for d in range(-_NEAR, _NEAR + 1)),
            "7 to 10",
            "11 to 16",
            "17 to 32",
            "beyond 32",
        ),
    ),
)
#: The last distance of each value of `JUMPS` but the last one.
JUMP_ENDS = (-33, -17, -7, *range(-_NEAR, _NEAR + 1), 10, 16, 32)

TEMPLATES = (*LINK_TEMPLATES, *NULL_TEMPLATES, RUNS, JUMPS)
#: Where the weights of each template begin, and the number of all weights.
OFFSETS = tuple(accumulate((one.size for one in TEMPLATES), initial=0))
SIZE = OFFSETS[-1]
#: Feature and value of each weight.
NAMES = tuple((one.name, value) for one in TEMPLATES for value in one.values)
