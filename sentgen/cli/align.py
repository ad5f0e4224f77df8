"""``sentgen align``: train aligners on pairs, apply them, and show what they know."""

from __future__ import annotations

import typer

from sentgen.cli import align_text

app = typer.Typer(
    help="Align abstracts with the documents that they come from: train, apply, show.", no_args_is_help=True
)
app.command("text")(align_text.text)
