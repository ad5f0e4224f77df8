"""A report of a run, as a page, as Markdown, and as a folder of files."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sentgen
from sentgen.errors import InputError
from sentgen.evaluation.figures.results import ExperimentResult, SystemT
from sentgen.evaluation.report.tables import ReportTable, markdown
from sentgen.output.drawing import DARK, LIGHT, Form, Theme, literal, picture, plain_axes
from sentgen.output.files import whole_file
from sentgen.output.plots import need_plots
from sentgen.output.templates import template

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Draws a plot on a ground.
Draw = Callable[[Theme], "Figure"]
_FORMS: tuple[Form, ...] = ("svg", "png")


def systems_plot(result: ExperimentResult[SystemT], theme: Theme) -> Figure:
    """Draw the main figure of each system with its interval, the best one on top."""
    # An axis counts upwards, and the best one is to be on top.
    main, ranked = result.main, result.ranked[::-1]
    values = [main.factor * system.value(main.metric) for system in ranked]
    lows = [main.factor * system.intervals[main.metric].low for system in ranked]
    highs = [main.factor * system.intervals[main.metric].high for system in ranked]
    figure, axes = plain_axes(7.2, 1.3 + 0.36 * len(ranked), theme, grid="x")
    places = range(len(ranked))
    axes.hlines(places, lows, highs, color=theme.lines[0], linewidth=2.2, alpha=0.55)
    axes.plot(values, places, "o", color=theme.lines[0], markersize=7)
    for place, value, high in zip(places, values, highs, strict=True):
        axes.annotate(
            f"{value:.1f}", (high, place), (6, 0), textcoords="offset points", va="center", color=theme.ink
        )
    axes.set_yticks(places, [literal(system.system) for system in ranked])
    axes.set_ylim(-0.7, len(ranked) - 0.3)
    axes.margins(x=0.12)
    axes.set_xlabel(f"{main.label}{', %' if main.factor == 100 else ''}, with 95% interval")
    return figure


def _plot_files(plots: Mapping[str, Draw], forms: Sequence[Form] = _FORMS) -> dict[str, bytes]:
    """Return the files of plots by name, each on a light ground."""
    return {f"{name}.{form}": picture(draw(LIGHT), form) for name, draw in plots.items() for form in forms}


def _plot_urls(plots: Mapping[str, Draw], files: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """Return plots by name and ground, ``light`` or ``dark``, as URLs that hold the whole picture.

    Args:
        plots: the plots.
        files: of them all, as SVG.
    """
    return {
        name: {"light": _url(files[f"{name}.svg"]), "dark": _url(picture(draw(DARK), "svg"))}
        for name, draw in plots.items()
    }


def _url(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


#: What every report has.
PAGE, TABLES = "index.html", "results.md"
#: Hashes and names of the files that were written, as `sha256sum --check` reads them.
_WRITTEN = ".sentgen-report"


def prepare_folder(folder: Path) -> None:
    """Make the folder of a report, not those above it, before anything long is run for it.

    Raises:
        InputError: it cannot be made, is a file, holds another's page, or there is nothing to draw with.
    """
    need_plots("the plots of a report")
    if not folder.parent.exists():  # mistyped, more likely than not
        raise InputError(f"there is no folder {folder.parent}; make it, or choose another", path=str(folder))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"no report can go there ({reason}); name a folder", path=str(folder)) from error
    _refuse_others(folder, (PAGE, TABLES))


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files over those of an earlier report.

    Raises:
        InputError: one cannot be written, or there is another's of its name; then none was.
    """
    _refuse_others(folder, contents)
    new = {f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in contents.items()}
    # Both before and after: killed in between, some are the old ones and some the new ones.
    _write(folder / _WRITTEN, _lines(new | _written(folder)))
    for name, content in contents.items():
        _write(folder / name, content)
    _write(folder / _WRITTEN, _lines(new))


def _refuse_others(folder: Path, names: Iterable[str]) -> None:
    written = _written(folder)
    for name in names:
        path = folder / name
        if os.path.lexists(path) and f"{_digest(path)}  {name}" not in written:
            reason = "in the way, and no report has written it so; move it, or name another folder"
            raise InputError(reason, path=str(path))


def _written(folder: Path) -> set[str]:
    try:
        return set((folder / _WRITTEN).read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()


def _digest(path: Path) -> str:
    with suppress(OSError):
        if path.is_file():  # to read a pipe may take for ever
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _lines(lines: set[str]) -> bytes:
    return "".join(f"{line}\n" for line in sorted(lines)).encode()


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an experiment shows of a run.

    Attributes:
        title: of the page.
        template: of the page, in this package; it extends ``report/base.html.j2``.
        shown: what the template shows beside the title, the version and the plots.
        markdown_parts: tables and lines of the Markdown file, in their order.
        csv: the text of each CSV file.
        plots: what draws each plot.
    """

    title: str
    template: str
    shown: Mapping[str, object]
    markdown_parts: Sequence[ReportTable | str]
    csv: Mapping[str, str]
    plots: Mapping[str, Draw]

    def page(self) -> str:
        """Return a page that stands alone: its plots are inside it, it loads nothing and runs no script."""
        return self._page(_plot_files(self.plots, ("svg",)))

    def _page(self, files: Mapping[str, bytes]) -> str:
        plots = _plot_urls(self.plots, files)
        return template("sentgen.evaluation", self.template).render(
            title=self.title, version=sentgen.__version__, plots=plots, **self.shown
        )

    def markdown(self) -> str:
        """Return the tables, with the plots by the names of their files."""
        parts = (part if isinstance(part, str) else markdown(part) for part in self.markdown_parts)
        return "\n".join([f"# {self.title}\n", *parts])

    def write(self, folder: Path) -> list[Path]:
        """Write all of it into a folder, over an earlier report; return the files, the page first.

        Raises:
            InputError: a file cannot be written, or there is another's of its name.
        """
        plots = _plot_files(self.plots)
        texts = {PAGE: self._page(plots), TABLES: self.markdown(), **self.csv}
        # Everything is made before anything is written: an error leaves the earlier report whole.
        contents = {name: text.encode() for name, text in texts.items()} | plots
        write_files(folder, contents)
        return [folder / name for name in contents]
