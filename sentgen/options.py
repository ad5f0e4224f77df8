"""Declarations of the options of commands and operations, for the command line, Python and the server.

A declaration is a frozen dataclass whose fields are ``Annotated`` with an `Option`; name, type and default
are those of the field. `sentgen.cli.console.options` turns it into options of Typer, and
`sentgen.server.parameters` into parameters of the API::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Ngrams:
        pattern: Annotated[str, Option("1 to 5 words.", argument=True)]
        min_count: Annotated[int, Option("Omit lower counts.", least=1)] = 1

Sizes and systems have a notation of their own, which is parsed here, too.
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
#: Ways to name a parser, for help texts.
PARSERS = "NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE"
#: The command that makes a parser, for messages.
TRAIN = "sentgen parser train PARSER --corpus TREEBANK makes one"
#: Prefix of values of a list that are given by the opposite option.
NOT = "not "


class ApiBounds(TypedDict, total=False):
    """Bounds of a value in the API, by their names in `pydantic.Field`; some limit the use by strangers."""

    ge: float | None
    gt: float | None
    le: float | None
    lt: float | None
    min_length: int
    max_length: int
    examples: list[object]


@dataclass(frozen=True, slots=True)
class Option:
    """Help and bounds of an option.

    Attributes:
        help: one sentence.
        argument: whether it is a positional argument.
        closed: whether the command line refuses other words (exit code 2); else the library does.
        short: a second name on the command line, such as ``-m``.
        off: name of its opposite on the command line, if not ``--no-`` with its name; for a list, the option
            that adds a value with the prefix `NOT`.
        least: the least allowed number.
        most: the largest allowed number.
        shell: the help on the command line, if other names are used there.
        metavar: the word for the value in the help of the command line.
        panel: panel of the help on the command line.
        read: function from the given text to the value.
        file: name of a file, if the command line reads the value from one and the API takes the text itself.
        given: whether a list is required on the command line, which has no other source for it.
        line: its place in the command line that an answer of the API names, if that has no option of its
            name: nowhere, as it changes no rows; a command for each item; or each value as the option with
            its name.
        rows: whether it is the number of rows.
        api: bounds of the API, in addition to the others or in place of them.
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
    """Marks a field that holds the given values of other options, by name."""

    of: Iterable[Parameter]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option of a declaration; ``default`` is `dataclasses.MISSING` if the option is required."""

    name: str
    kind: Any
    option: Option
    default: Any

    @property
    def dashed(self) -> str:
        """The option on the command line."""
        return dashed(self.name)

    @property
    def off(self) -> str:
        """The opposite option on the command line."""
        return dashed(f"no_{self.name}", self.option.off)

    @property
    def kinds(self) -> Sequence[Any]:
        """The types of its values, without ``None``."""
        union = get_origin(self.kind) in (Union, UnionType)
        return [each for each in (get_args(self.kind) if union else (self.kind,)) if each is not NoneType]

    @property
    def optional(self) -> bool:
        """Whether ``None`` is a value."""
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
        """Return the value of a text: a number, a truth value, or the text itself.

        Words of a fixed list are checked later, with a message that lists them.

        Raises:
            InputError: the text is no value of the type; the message names the parameter ``name``.
        """
        # A parameter for numbers or texts takes the text.
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
    """Return an option as written on the command line; ``off`` is its opposite, if that is meant."""
    return off or f"--{option.replace('_', '-')}"


def parameters_of(declaration: type, names: Iterable[str] = ()) -> Sequence[Parameter]:
    """Return all options of a declaration, or those of some names, in the order of ``ORDER`` or the fields.

    Options named by ``LAST`` are last, such as those that several declarations inherit.
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
            # An option with `read` is given as text.
            given = str if isinstance(about, Option) and about.read else kind
            taken.append(Parameter(name, given, about, default))
    return tuple(taken)


def declared(declaration: type[Declaration], given: Mapping[str, Any]) -> Declaration:
    """Return an instance of a declaration, from values by the names of its parameters."""
    values = dict(given)
    for name, changed in _changed(declaration).items():  # type: ignore[arg-type]
        changes = {each: values.pop(each, None) for each in changed}
        values[name] = {each: value for each, value in changes.items() if value is not None}
    return declaration(**values)


def values_of(request: DataclassInstance) -> Iterator[tuple[Parameter, Any]]:
    """Yield each parameter of a request with its value, ``None`` for a change that was not given."""
    changes = {
        name: value for held in _changed(type(request)) for name, value in getattr(request, held).items()
    }
    for each in parameters_of(type(request)):
        yield each, changes[each.name] if each.name in changes else getattr(request, each.name, None)


@cache
def _changed(declaration: type) -> dict[str, list[str]]:
    """Return, for each field marked by `Changes`, the names of the options that it holds."""
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
    # Not more digits than a float can hold.
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if not match:
        raise InputError(f"{text[:40]!r} is no size; write it like 2GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2]])


#: A colon, but not the one after the drive of a path.
_COLON = re.compile(r":(?![\\/])|(?<!=[A-Za-z]):")


class Assignment(NamedTuple):
    """A setting, with underscores for dashes, and its value; ``text`` is the original notation."""

    text: str
    setting: str
    value: str | None


def parse_system(text: str) -> tuple[str, list[Assignment]]:
    r"""Return the name of a system and its settings; a setting without ``=`` has no value.

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
