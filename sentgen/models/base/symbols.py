"""The symbols that replace words in models over tags, classes and items.

A tag is the symbol ``<tag:NN>``; a base noun phrase of two words and more is ``<np:NN>``, with the tag of
its last word. The tag is the language-specific one where there is one, else the universal one. Symbols are
words of the store, so that their n-grams are counted, smoothed, stored and looked up as those of words.
"""

from __future__ import annotations

from dataclasses import dataclass

from sentgen.case_folding import fold
from sentgen.errors import InputError, ModelError, spell
from sentgen.output.wording import quantity

WORDS, TAGS, CLASSES, ITEMS = OVER = ("words", "tags", "classes", "items")
_ONE = dict(zip(OVER, ("word", "tag", "class", "item"), strict=True))
#: Prefixes of the symbols of tags and of base noun phrases, which end with the tag and >.
TAG, PHRASE = "<tag:", "<np:"
#: Frequent words that models over classes and items keep.
KEPT = 150


@dataclass(frozen=True, slots=True)
class Symbols:
    """The units of n-grams; the ``kept`` most frequent words are not replaced."""

    over: str = WORDS
    kept: int = 0

    @property
    def are_words(self) -> bool:
        """Return whether no word is replaced."""
        return self.over == WORDS

    def __str__(self) -> str:
        return f"{self.over} ({self.kept})" if self.over in (CLASSES, ITEMS) else self.over

    def counted(self, number: int) -> str:
        """Return a number of symbols in words.

        >>> Symbols().counted(2), Symbols("classes", 150).counted(1), Symbols("tags").counted(51)
        ('2 words', '1 class', '51 tags')
        """
        return quantity(number, _ONE[self.over], self.over)

    def lowered(self, form: str) -> str:
        """Return a word in lower case, and a symbol unchanged.

        >>> Symbols("tags").lowered("<tag:NN>"), Symbols("classes", 9).lowered("The")
        ('<tag:NN>', 'the')
        """
        return form if not self.are_words and form.startswith((TAG, PHRASE)) else fold(form)

    def require_words(self, label: str) -> None:
        """Refuse a model that is not over words, where sentences are built from words.

        Raises:
            ModelError: the model is over tags, classes or items.
        """
        if not self.are_words:
            raise ModelError(
                f"{label} is a model over {self.over}, which knows no words; choose one over words"
            )

    @classmethod
    def checked(cls, over: str, size: int | None) -> Symbols:
        """Return the symbols over a kind of unit; classes and items keep `KEPT` words by default.

        Raises:
            InputError: there is no such kind, or ``size`` is given where no word or every word is kept.
        """
        if over not in OVER:
            raise InputError(f"no model is over {over!r}; there are: {', '.join(OVER)}")
        if over not in (CLASSES, ITEMS):
            if size is not None:
                raise InputError(
                    f"a model over {over} keeps no number of words; leave {spell('classes')} out"
                )
            return cls(over)
        if size is not None and size < 0:
            raise InputError(f"classes {size}: give 0 or more")
        return cls(over, KEPT if size is None else size)


#: The symbols of models by default.
OF_WORDS = Symbols()
