"""A report of a run, as a page, as Markdown, and as a folder of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sentgen
from sentgen.evaluation.report.folder import PAGE, TABLES, write_files
from sentgen.evaluation.report.plots import Draw, plot_files, plot_urls
from sentgen.evaluation.report.tables import ReportTable, markdown
from sentgen.output.templates import template


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
        return self._page(plot_files(self.plots, ("svg",)))

    def _page(self, files: Mapping[str, bytes]) -> str:
        plots = plot_urls(self.plots, files)
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
        plots = plot_files(self.plots)
        texts = {PAGE: self._page(plots), TABLES: self.markdown(), **self.csv}
        # Everything is made before anything is written: an error leaves the earlier report whole.
        contents = {name: text.encode() for name, text in texts.items()} | plots
        write_files(folder, contents)
        return [folder / name for name in contents]
