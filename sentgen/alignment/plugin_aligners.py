"""Aligners of plug-ins: their answers are looked at before they go on, and their mistakes have their name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sentgen.alignment.pairs.alignment import Aligner, Alignment, Pair, PhraseLink, Span, System
from sentgen.entry_points import Plugin, of_kind
from sentgen.errors import PluginError


def system_of(plugin: Plugin, given: object) -> System:
    """Return the system of a plug-in, under guard.

    Raises:
        PluginError: what the entry point names is no system.
    """
    system = of_kind(plugin, given, System)
    settings = system.settings
    if not isinstance(settings, Mapping) or not all(
        isinstance(name, str) and name.isidentifier() and callable(read) for name, read in settings.items()
    ):
        raise PluginError(
            "has settings that are no mapping of names to functions; its authors must change that",
            plugin=plugin,
        )
    guarded = {name: _guarded_setting(plugin, read) for name, read in settings.items()}
    return replace(system, make=_guarded_make(plugin, system.make), settings=guarded)


def _guarded_setting(plugin: Plugin, read: Callable[[str], object]) -> Callable[[str], object]:
    def guarded(text: str) -> object:
        try:
            return read(text)
        except (KeyError, ValueError):  # a value that it cannot take
            raise
        except Exception:
            with plugin.at_work():
                raise

    return guarded


def _guarded_make(plugin: Plugin, make: Callable[..., Aligner]) -> Callable[..., Aligner]:
    def guarded(*, name: str, **settings: object) -> Aligner:
        with plugin.at_work():
            made: object = make(name=name, **settings)
        if not callable(getattr(made, "align", None)):
            fault = f"makes a {type(made).__name__} without a method `align`; tell its authors"
            raise PluginError(fault, plugin=plugin)
        return _Guarded(plugin, name, made)  # type: ignore[arg-type]

    return guarded


@dataclass(frozen=True, slots=True)
class _Guarded:
    """An aligner of a plug-in, whose answers are looked at one by one."""

    plugin: Plugin
    name: str
    aligner: Aligner

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each."""
        done = 0
        with self.plugin.at_work():
            for done, answer in enumerate(self.aligner.align(pairs), 1):
                if done > len(pairs):
                    break
                if wrong := _fault(answer, pairs[done - 1]):
                    fault = f"gives {wrong} for pair {done}; tell its authors"
                    raise PluginError(fault, plugin=self.plugin)
                yield answer
            if done != len(pairs):
                number = "more" if done > len(pairs) else "fewer"
                raise PluginError(
                    f"gives {number} answers than there are pairs; tell its authors", plugin=self.plugin
                )


def _fault(answer: object, pair: Pair) -> str:
    """Return what is wrong with an answer, empty if nothing is."""
    if not isinstance(answer, Alignment):
        return f"a {type(answer).__name__} where an Alignment belongs"
    end = 0
    for link in answer.phrases:
        if not isinstance(link, PhraseLink):
            return f"a {type(link).__name__} where a PhraseLink belongs"
        if not _is_span(link.abstract, len(pair.abstract)) or not _is_span(link.document, len(pair.document)):
            return f"a link outside of the texts, {link.abstract!r:.50} to {link.document!r:.50},"
        if link.abstract[0] < end:
            return "links that overlap or are not in the order of the abstract"
        end = link.abstract[1]
    if answer.null is not None and len(answer.null) != len(pair.abstract):
        return f"{len(answer.null)} values of null where {len(pair.abstract)} belong"
    return ""


def _is_span(span: Span, size: int) -> bool:
    start, end = span
    return type(start) is type(end) is int and 0 <= start < end <= size
