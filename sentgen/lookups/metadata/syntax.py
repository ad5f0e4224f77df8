"""What a condition on metadata says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sentgen.lookups.base.languages import Either, Every, Negation
from sentgen.lookups.base.numbers import is_number

#: As many digits as a double tells apart; longer ones are names made of digits.
_DIGITS = 15


@dataclass(frozen=True, slots=True)
class ConditionKey:
    """What is asked for: a key of the metadata, or, without quotes, what every sentence has.

    Args:
        name: the key.
        start: the character of the expression where it stands, from 0.
        quoted: whether it stands in quotes.
    """

    name: str
    start: int = 0
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A value in an expression; see `ConditionKey`."""

    text: str
    start: int = 0
    quoted: bool = False

    @property
    def number(self) -> int | float | None:
        """The number that it is; none for a string.

        >>> Literal("2010").number, Literal("2.50").number, Literal("2010", quoted=True).number
        (2010, 2.5, None)
        """
        if self.quoted or not is_number(self.text) or sum(map(str.isdigit, self.text)) > _DIGITS:
            return None
        number = float(self.text)
        return int(number) if number.is_integer() else number


@dataclass(frozen=True, slots=True)
class MetadataComparison:
    """A sentence has a value under a key that stands in a relation to one of some literals.

    The operators are ``=``, ``<``, ``<=``, ``>``, ``>=``, ``like`` and ``~``.
    """

    key: ConditionKey
    operator: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """A sentence has a key."""

    key: ConditionKey


Expression: TypeAlias = (
    "MetadataComparison | Exists | Negation[Expression] | Every[Expression] | Either[Expression]"
)


def atoms(expression: Expression, *, negated: bool = False) -> list[tuple[MetadataComparison | Exists, bool]]:
    """Return the comparisons of an expression, each with whether it must not hold."""
    if isinstance(expression, MetadataComparison | Exists):
        return [(expression, negated)]
    if isinstance(expression, Negation):
        return atoms(expression.part, negated=not negated)
    return [atom for part in expression.parts for atom in atoms(part, negated=negated)]
