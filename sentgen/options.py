"""What commands and operations take, declared once: the command line and the server read the same class.

A declaration is a frozen dataclass whose fields are ``Annotated`` with an `Option`; name, type and default
are those of the field. `sentgen.cli.console.options` makes options of it for Typer, and
`sentgen.server.parameters` parameters for the API::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Ngrams:
        pattern: Annotated[str, Option("1 to 5 words.", argument=True)]
        min_count: Annotated[int, Option("Omit lower counts.", least=1)] = 1

Sizes and systems are values that are written in a notation of their own, which is read here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from sentgen.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Declaration = TypeVar("Declaration")
#: What may name a parser.
PARSERS = "NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE"
#: What makes a parser where there is none.
TRAIN = "sentgen parser train PARSER --corpus TREEBANK makes one"
#: What stands before a value of a list that is the opposite of the others.
NOT = "not "


class ApiBounds(TypedDict, total=False):
    """What the API wants of a value, as `pydantic.Field` calls it; some of it is against strangers."""

    ge: float | None
    gt: float | None
    le: float | None
    lt: float | None
    min_length: int
    max_length: int
    examples: list[object]


@dataclass(frozen=True, slots=True)
class Option:
    """What is told of an option, and its bounds.

    Attributes:
        help: one sentence.
        argument: whether it is given by its position, without a name.
        closed: whether the command line refuses other words (exit code 2); else the library does.
        short: a second name on the command line, such as ``-m``.
        off: the name of its opposite on the command line, if that is not ``--no-`` and its own name; of a
            list, the option that gives a value with `NOT` before it.
        least: the least number that makes sense.
        most: the greatest one.
        shell: the help on the command line, where names differ there.
        metavar: the word for the value in the help of the command line.
        panel: panel of the help on the command line.
        read: the function that makes its value from the text that is given.
        file: the name of a file, if the command line reads it from one and the API takes the text itself.
        given: whether the command line must give a list, since it has no other source for it.
        line: where it is in the command line that an answer of the API names, if there is no option of its
            name: nowhere, as it changes no rows; a command for each item; each value with its name, as
            ``short``.
        rows: whether it is how many rows come out.
        api: bounds of the API, besides or instead.
    """

    help: str
    _: KW_ONLY
    argument: bool = False
    closed: bool = False
    short: str = ""
    off: str = ""
    least: float | None = None
    most: float | None = None
    shell: str = ""
    metavar: str | None = None
    panel: str | None = None
    read: Callable[[str], object] | None = None
    file: str = ""
    given: bool = False
    line: Literal["hidden", "each", "named"] | None = None
    rows: bool = False
    api: ApiBounds = field(default_factory=ApiBounds)


@dataclass(frozen=True, slots=True)
class Changes:
    """Says of a field that it holds what was given of other options, by name."""

    of: Iterable[Parameter]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One option of a declaration; ``default`` is `dataclasses.MISSING` if it has to be given."""

    name: str
    kind: Any
    option: Option
    default: Any

    @property
    def dashed(self) -> str:
        """Return the option of the command line."""
        return dashed(self.name)

    @property
    def off(self) -> str:
        """Return the option of the command line that says that it is not so."""
        return dashed(f"no_{self.name}", self.option.off)

    @property
    def kinds(self) -> Sequence[Any]:
        """Return the types that a value may have, beside None."""
        union = get_origin(self.kind) in (Union, UnionType)
        return [each for each in (get_args(self.kind) if union else (self.kind,)) if each is not NoneType]

    @property
    def optional(self) -> bool:
        """Whether None is a value."""
        return self.default is None or NoneType in get_args(self.kind)

    @property
    def is_flag(self) -> bool:
        """Whether the option takes no value: its name alone switches it on."""
        return bool in self.kinds

    @property
    def is_list(self) -> bool:
        """Whether the option may be given several times."""
        return get_origin(self.kind) is list

    def read(self, text: str, name: str) -> object:
        """Return the value of a text: a number, yes or no, or the text itself where that is one.

        Words of a fixed list are checked by what is declared, where the message lists them.

        Raises:
            InputError: the text is no such value; ``name`` is what the parameter is called where the text
                stands.
        """
        # Of a number or a text, a text is one.
        kind = self.kinds[0] if len(self.kinds) == 1 else str
        try:
            return truth(text) if kind is bool else kind(text) if kind in (int, float) else text
        except KeyError as error:
            raise InputError(f"{name} is yes or no; {text!r} is neither") from error
        except ValueError as error:
            raise InputError(f"{name} is a number; {text!r} is none") from error


def truth(text: str) -> bool:
    """Return the truth value of ``yes`` or ``no``, ``true`` or ``false``, ``1`` or ``0``.

    Raises:
        KeyError: the text is none of these.
    """
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def dashed(option: str, off: str = "") -> str:
    """Return an option as the command line has it; ``off`` is its opposite, if that is what is meant."""
    return off or f"--{option.replace('_', '-')}"


def parameters_of(declaration: type, names: Iterable[str] = ()) -> Sequence[Parameter]:
    """Return what a declaration takes, or some of it, in the order of its ``ORDER``, or of its options.

    Those that ``LAST`` names come last, as what several declarations inherit does.
    """
    return _parameters(declaration, tuple(names))


@cache
def _parameters(declaration: type, names: tuple[str, ...]) -> tuple[Parameter, ...]:
    hints: Mapping[str, Any] = get_type_hints(declaration, include_extras=True)
    by_name = {each.name: each for each in fields(declaration)}
    last = getattr(declaration, "LAST", ())
    options = [name for name in by_name if name not in last and hasattr(hints[name], "__metadata__")]
    options += last
    taken: list[Parameter] = []
    for name in names or getattr(declaration, "ORDER", options):
        kind, (about, *_) = hints[name].__origin__, hints[name].__metadata__
        if isinstance(about, Changes):
            taken += (Parameter(each.name, each.kind | None, each.option, None) for each in about.of)
        else:
            each = by_name[name]
            make = each.default_factory
            default = each.default if make is MISSING else make()
            # What is read is given as text.
            given = str if isinstance(about, Option) and about.read else kind
            taken.append(Parameter(name, given, about, default))
    return tuple(taken)


def declared(declaration: type[Declaration], given: Mapping[str, Any]) -> Declaration:
    """Make a declaration of the values of its parameters, by name."""
    values = dict(given)
    for name, changed in _changed(declaration).items():  # type: ignore[arg-type]
        changes = {each: values.pop(each, None) for each in changed}
        values[name] = {each: value for each, value in changes.items() if value is not None}
    return declaration(**values)


def values_of(request: DataclassInstance) -> Iterator[tuple[Parameter, Any]]:
    """Yield each parameter of a declaration with its value; None for a change that was not given."""
    changes = {
        name: value for held in _changed(type(request)) for name, value in getattr(request, held).items()
    }
    for each in parameters_of(type(request)):
        yield each, changes[each.name] if each.name in changes else getattr(request, each.name, None)


@cache
def _changed(declaration: type) -> dict[str, list[str]]:
    """Return the names of the settings in each field that holds changes of them."""
    hints = get_type_hints(declaration, include_extras=True)
    abouts = {
        each.name: next(iter(getattr(hints[each.name], "__metadata__", ())), None)
        for each in fields(declaration)
    }
    return {
        name: [each.name for each in about.of] for name, about in abouts.items() if isinstance(about, Changes)
    }


_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text: str) -> int:
    """Read a size such as ``2GB``, ``500M`` or ``1073741824``, in bytes.

    Raises:
        InputError: the text is no size.

    >>> parse_size("1.5 GB") == 3 * 2**29
    True
    """
    # As many digits as a float holds.
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if not match:
        raise InputError(f"{text[:40]!r} is no size; write it like 2GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2]])


#: Not after the drive that a path begins with.
_COLON = re.compile(r":(?![\\/])|(?<!=[A-Za-z]):")


class Assignment(NamedTuple):
    """A setting, with underscores for dashes, and its value; both are as they were written in ``text``."""

    text: str
    setting: str
    value: str | None


def parse_system(text: str) -> tuple[str, list[Assignment]]:
    r"""Return the name and the settings; what stands without ``=`` has no value.

    >>> parse_system("lcs:n=2")
    ('lcs', [Assignment(text='n=2', setting='n', value='2')])
    >>> [part.value for part in parse_system(r"lcs:links=C:\a:gold=d:/b:n=2")[1]]
    ['C:\\a', 'd:/b', '2']
    """
    name, *parts = _COLON.split(text)
    return name, [_assignment(part) for part in parts]


def _assignment(text: str) -> Assignment:
    setting, equals, value = text.partition("=")
    return Assignment(text, setting.strip().replace("-", "_"), value if equals else None)
